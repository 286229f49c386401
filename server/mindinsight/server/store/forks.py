"""Forks: runs that continue another run from a step on, as they recorded (`parent="run1@500"`)."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from mindinsight.server.claims import Claim
from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import Run

PARENT: Final = "parent_run"  # name in the custom data of the lineage
_TEXT: Final = re.compile(r"(.+)@([0-9]{1,18})", re.DOTALL)


class Fork(NamedTuple):
    """Parent of a run as it was recorded, and the run that has this name, or None."""

    name: str
    step: int  # last step of the parent that belongs to the run
    parent: Run | None


def fork_of(run: Run, runs: Mapping[str, Run]) -> Fork | None:
    """Return the fork of a run, or None if it recorded no parent.

    The parent is searched by its name beside the run's job (the run itself if it is no rank), and then below
    the base directory. If the name is that of a job, the parent is the job's run of the same rank. The fork's
    ``parent`` is None if there is no such run.
    """
    recorded = run.lineage.user_defined.get(PARENT) if run.lineage is not None else None
    match = _TEXT.fullmatch(recorded) if isinstance(recorded, str) else None
    if match is None:
        return None
    name = match[1].removeprefix(BASE)
    beside = PurePosixPath(run.job).parent
    ids = [f"{BASE}{folder / name}" for folder in (beside, PurePosixPath())]
    candidates = (_rank(id_, run, runs) or runs.get(id_) for id_ in ids)
    return Fork(name, int(match[2]), next((parent for parent in candidates if parent is not None), None))


def _rank(job: str, run: Run, runs: Mapping[str, Run]) -> Run | None:
    """Return the run of a job with the rank of `run`, or None if the job has none or `run` is no rank."""
    if run.rank is None:
        return None
    return next((other for other in runs.values() if other.rank == run.rank and other.job == job), None)


def ancestors(run: Run, runs: Mapping[str, Run]) -> list[tuple[Run, int]]:
    """Return the runs that a run continues, nearest first, each with its last step before the
    continuation, [] if a run is its own ancestor. The list ends at a parent that is missing."""
    chain: list[tuple[Run, int]] = []
    known, fork = {run.id}, fork_of(run, runs)
    while fork is not None and fork.parent is not None:
        if fork.parent.id in known:
            return []
        known.add(fork.parent.id)
        last = min(fork.step, chain[-1][1]) if chain else fork.step
        chain.append((fork.parent, last))
        fork = fork_of(fork.parent, runs)
    return chain


def fork_claims(run: Run, runs: Mapping[str, Run]) -> list[Claim]:
    """Return the claim about the parent of a run, or an empty list if it recorded none."""
    fork = fork_of(run, runs)
    if fork is None:
        return []
    values = {"run": fork.name, "step": fork.step}
    if fork.parent is None:
        return [Claim("claim.fork.missing", "unknown", values)]
    if not ancestors(run, runs):
        return [Claim("claim.fork.circle", "unknown", values)]
    return [Claim("claim.fork.continues", "note", values, ({"run": fork.parent.id},))]
