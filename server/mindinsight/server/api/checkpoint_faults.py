"""Faults in the checkpoints of a run: NaN and infinity, and weights that grew by far or are frozen."""

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mindinsight.server.claims import Claim, Verdict, few
from mindinsight.server.curves.levels import GROWN
from mindinsight.server.debug.checkpoint_weights import (
    SavedStep,
    compare_weights,
    find_series,
    list_weights,
    measure_weights,
    weight_timeline,
)
from mindinsight.server.debug.compare.weight_history import (
    STANDING_OUT,
    STOPPING,
    distinct_names,
    history_claims,
)
from mindinsight.server.debug.tensor_targets import is_state
from mindinsight.server.files.opener import files_of, folders_of
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.ingest.folder_tree import child
from mindinsight.server.report.report_content import ReportSource
from mindinsight.server.store.run import Run

SUFFIXES: Final = (".ckpt", ".safetensors", ".npz", ".pt", ".pth")
MOST: Final = 200  # checkpoints of a series that are read if they are small: the first one and the newest
_MOST_LARGE: Final = 8  # the same of a series that has more than `_SMALL` bytes
_SMALL: Final = 128 << 20  # half a second of reading
_BYTES: Final = 2 << 30  # of all that are read, about ten seconds of reading
_DEPTH: Final = 2  # folders below that of the run
_NAMED: Final = 4
_MATRIX: Final = 2  # axes of a weight whose growth is judged: a bias begins at zero and grows by any factor
_TRAINED: Final = (".weight", ".bias", ".gamma", ".beta")  # unlike the buffers, such as tables of positions
_FROZEN: Final = "claim.explain.checkpoint_frozen"
_SCALES: Final = (".weight", ".gamma")  # of normalizations, which begin at one


@dataclass(frozen=True)
class CheckpointSearch:
    """Claims about the checkpoints of a run, the number of files that were read, and the first at fault."""

    claims: tuple[Claim, ...]
    count: int
    file: str = ""  # id


def checkpoints_of(source: ReportSource, run: Run) -> CheckpointSearch | None:
    """Return the search of the checkpoints in the folder of a run, or None if the folder was removed."""
    others = {*source.runs, *(dump for run in source.runs.values() for dump in run.dumps)}
    try:
        return search_checkpoints(run.id, source.path_of(run.id), others, source.executor)
    except OSError:
        return None


def has_broken_checkpoint(source: ReportSource, run: Run) -> bool:
    """Return True if a fault was found in the checkpoints in the folder of a run."""
    search = checkpoints_of(source, run)
    return search is not None and any(claim.verdict == "found" for claim in search.claims)


def search_checkpoints(
    run: str, folder: Path, others: Collection[str], executor: Executor | None = None
) -> CheckpointSearch:
    """Return claims about the checkpoints in the folder of a run, and up to two folders below it.

    Folders whose id is in `others` are skipped, as they are runs or dumps of their own. Files that cannot be
    read, and those left out because they are too many or too large, have a claim. Without a checkpoint there
    is no claim.
    """
    known = checkpoint_files(run, folder, others)
    claims: list[Claim] = []
    left = count = size = 0
    first = ""
    for series in find_series(known):
        steps, read = series.checkpoints, []
        sizes = {saved.id: known[saved.id].lstat().st_size for saved in steps}
        most = MOST if sum(sizes.values()) <= _SMALL else _MOST_LARGE
        for saved in steps if len(steps) <= most else (*steps[:1], *steps[1 - most :]):
            size += sizes[saved.id]
            read += [saved] if size <= _BYTES else []
        left += len(steps) - len(read)
        count += len(read)
        own = list(_of_series(read, known, executor))
        readable = {claim.key for claim in own} <= {_FROZEN}  # and without a greater fault
        if len(read) == len(steps) and sum(sizes.values()) <= _SMALL and readable:
            own += _standing_out(read, known, executor)
        first = first or next((str(claim.evidence[0]["file"]) for claim in own if claim.evidence), "")
        claims += own
    if left:
        claims.append(Claim("claim.explain.checkpoints_left", "note", {"n": left}))
    return CheckpointSearch(tuple(claims), count, first)


def known_claim(searched: Sequence[bool], count: int) -> Claim:
    """Return the claim about NaN and infinity in the `count` checkpoints of a run. `searched` has an entry
    for each searched checkpoint: True if it has any. The claim is unknown if none was searched."""
    values = {"n": sum(searched), "all": len(searched), "count": count}
    if not searched:
        return Claim("claim.checkpoint.unsearched", "unknown", values)
    key = "claim.checkpoint.some_non_finite" if any(searched) else "claim.checkpoint.none_non_finite"
    return Claim(key, "found" if any(searched) else "clear", values)


def checkpoint_files(run: str, folder: Path, others: Collection[str]) -> dict[str, Path]:
    """Return the paths of the checkpoints in the folder of a run and up to two folders below it, by id.
    Folders whose id is in `others` are skipped."""
    return dict(_files(run, folder, others, _DEPTH))


def _files(folder_id: str, folder: Path, others: Collection[str], depth: int) -> Iterator[tuple[str, Path]]:
    for name in sorted(files_of(folder)):
        if name.endswith(SUFFIXES):
            yield child(folder_id, name), folder / name
    for inner in folders_of(folder) if depth else ():
        if (inner_id := child(folder_id, inner.name)) not in others:
            yield from _files(inner_id, folder / inner.name, others, depth - 1)


def _of_series(
    series: Sequence[SavedStep], known: dict[str, Path], executor: Executor | None
) -> Iterator[Claim]:
    """Yield claims about the first checkpoint with NaN or infinity, the weight that grew most, the weights
    that did not change, and unreadable files."""
    named = distinct_names([saved.id for saved in series])
    unread: list[str] = []
    norms: dict[str, tuple[float, str]] = {}  # the lowest of each weight, and its file
    grown: dict[str, tuple[float, Claim]] = {}  # the largest factor of each weight, and its claim
    broken = None
    for saved in series:
        name = named[saved.id]
        try:
            weights = list(measure_weights(list_weights(known[saved.id]), executor))
        except (UnreadableError, OSError):
            unread.append(name)
            continue
        unread += [name] if any(measured.error for measured in weights) else []
        where = ({"file": saved.id, **({} if saved.step is None else {"step": saved.step})},)
        lost = [
            measured.weight.name
            for measured in weights
            if measured.statistics and not measured.statistics.finite
        ]
        if lost and broken is None:
            values = {"file": name, "n": len(lost), "names": few(lost, _NAMED), "count": len(series)}
            broken = Claim("claim.explain.checkpoint_non_finite", "found", values, where)
        names = {measured.weight.name for measured in weights}
        for measured in weights:
            weight, statistics = measured.weight, measured.statistics
            scales = len(weight.shape) >= _MATRIX or weight.name.endswith(_SCALES)
            judged = scales and not is_state(weight.name, names)
            if not judged or statistics is None or not statistics.finite or not statistics.norm:
                continue
            then, before = norms.get(weight.name, (statistics.norm, name))
            factor = statistics.norm / then
            if factor >= GROWN and factor > grown.get(weight.name, (0.0,))[0]:
                values = {"name": weight.name, "now": statistics.norm, "then": then, "file": name}
                values |= {"before": before, "factor": float(f"{factor:.2g}"), "limit": GROWN}
                claim = Claim("claim.explain.checkpoint_grown", "found", values, where)
                grown[weight.name] = factor, claim
            norms[weight.name] = min((then, before), (statistics.norm, name))
    yield from [broken] if broken else []
    if grown:
        _, claim = max(grown.values(), key=lambda own: own[0])
        yield replace(claim, values={**claim.values, "n": len(grown)})
    if not unread:
        with suppress(UnreadableError, OSError):  # removed or replaced since they were searched
            yield from _frozen(series, known, executor)
    else:
        facts = {"n": len(unread), "names": few(unread, _NAMED)}
        yield Claim("claim.explain.checkpoint_unreadable", "unknown", facts)


def _standing_out(
    series: Sequence[SavedStep], known: dict[str, Path], executor: Executor | None
) -> Iterator[Claim]:
    """Yield notes about the weights that changed far more at one checkpoint than at others, or stopped."""
    named = distinct_names([saved.id for saved in series])
    try:
        rows = list(weight_timeline([list_weights(known[saved.id]) for saved in series], executor))
    except (UnreadableError, OSError):  # removed or replaced since they were searched
        return
    for claim in history_claims(rows, [saved.id for saved in series]):
        if claim.key in (*STANDING_OUT, *STOPPING):
            file = str(claim.values["checkpoint"])
            values = {**claim.values, "checkpoint": named[file]}
            yield replace(claim, values=values, evidence=({"file": file},))


def _frozen(
    series: Sequence[SavedStep], known: dict[str, Path], executor: Executor | None
) -> Iterator[Claim]:
    """Yield a claim about the weights whose bytes are the same in the first and the last checkpoint that
    was read, if any. Whether they were frozen on purpose is not in a checkpoint, so this is left open if
    others changed."""
    if len(series) < 2:
        return
    first, last = known[series[0].id], known[series[-1].id]
    compared = list(compare_weights(list_weights(first), list_weights(last), executor))
    names = {difference.name for difference in compared}
    both = [
        difference
        for difference in compared
        if difference.state not in ("first", "second")
        and difference.name.endswith(_TRAINED)
        and not is_state(difference.name, names)
        and not difference.non_finite  # NaN stays NaN
    ]
    still = [difference.name for difference in both if difference.state == "unchanged"]
    if still:
        values = {"n": len(still), "count": len(both), "names": few(still, _NAMED)}
        named = distinct_names([saved.id for saved in series])
        values |= {"before": named[series[0].id], "file": named[series[-1].id]}
        states = {own.state for own in compared if not is_state(own.name, names)}
        verdict: Verdict = "unknown" if "changed" in states else "found"
        yield Claim(_FROZEN, verdict, values, ({"file": series[-1].id},))
