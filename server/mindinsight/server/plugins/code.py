"""Routes for the program of a run: command, packages, environment, Git, and the differences of two runs."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import PurePath
from typing import Any, Final

from fastapi import APIRouter

from mindinsight.server.claims import Claim
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.payloads.code_payloads import Code, Git, code
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.http.service import Service
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.run import Run

router = APIRouter(route_class=PayloadRoute)

_HIDDEN: Final = "***"  # what the writer puts in place of a secret
_MOST_LINES: Final = 2000  # of a difference, and of each of the two that it is made of


@router.get("/program")
def program(service: CurrentService, run: str) -> dict[str, Any]:
    """Return the newest program that a run recorded, its `git` null outside a repository. Returns 404 if
    the run recorded none. `diff` in it is the difference from the commit, and `untracked` the number of
    files that Git does not track."""
    return {"run": run, **asdict(_code_of(service, run))}


@router.get("/difference")
def difference(service: CurrentService, run: str, other_run: str) -> dict[str, Any]:
    """Return the differences between the programs of two runs. Returns 404 if a run recorded no program.

    `packages`, `environment` and `facts` are rows of name, value of `run` and value of `other_run`, null if
    one has no value. `command` and `changes` are lines of a unified diff from `other_run` to `run`, of the
    arguments and of the uncommitted changes. Each is a pair of marker and text. `cut` says whether only the
    first lines of the changes were compared. Facts that only one of the runs recorded are not compared.
    """
    first, second = (_code_of(service, side) for side in (run, other_run))
    names = [service.store.snapshot().run(side).name for side in (run, other_run)]
    changes = [
        None if side.git is None or side.git.diff is None else side.git.diff.splitlines()
        for side in (first, second)
    ]
    known = [] if None in changes else [lines[:_MOST_LINES] for lines in changes if lines is not None]
    names_of_facts = ("python", "system", "host", "directory")
    facts = _differing(*({name: getattr(side, name) for name in names_of_facts} for side in (first, second)))
    return {
        "run": run,
        "other_run": other_run,
        "claims": [claim.as_json() for claim in code_claims(first, second, *names)],
        "packages": _differing(first.packages, second.packages) if first.packages and second.packages else [],
        "environment": _differing(first.environment, second.environment),
        "facts": [row for row in facts if row[1] and row[2]],
        "command": list(_unified([*second.command], [*first.command]))
        if first.command and second.command
        else [],
        "changes": list(_unified(*reversed(known))) if known else [],
        "cut": any(len(lines or ()) > _MOST_LINES for lines in changes),
    }


def _code_of(service: Service, run: str) -> Code:
    """Return the newest program of a run. Raises ApiError 404 if it recorded none."""
    recorded = recorded_code(service.store.snapshot().run(run))
    if recorded is None:
        raise ApiError(404, "no_code", f"The run {run} recorded no program.", run=run)
    return recorded


def recorded_code(run: Run) -> Code | None:
    """Return the newest program of a run, or None if it recorded none. Raises Gone and UnreadableError."""
    series = run.references.get("code", {}).values()
    newest = max(series, key=lambda known: float(known.walls[-1]), default=None)
    return None if newest is None else code(newest.read(newest.count - 1))


def code_claims(first: Code, second: Code, run: str, other: str) -> list[Claim]:
    """Return the claims about whether ``run`` and ``other`` ran the same code, with the same packages."""
    return [_git_claim(first, second, run, other), _package_claim(first, second)]


def different_scripts(first: Code, second: Code) -> tuple[str, str] | None:
    """Return the names of two programs' scripts, or None if they are equal or one is not known."""
    if not first.command or not second.command:
        return None
    names = PurePath(first.command[0]).name, PurePath(second.command[0]).name
    return names if names[0] != names[1] else None


def _git_claim(first: Code, second: Code, run: str, other: str) -> Claim:
    """Return the claim about scripts, commits and uncommitted changes of two programs. Files that Git does
    not know may differ unseen."""
    if (names := different_scripts(first, second)) is not None:
        return Claim("claim.code.scripts_differ", "found", {"first": names[0], "second": names[1]})
    without = [name for name, side in ((run, first), (other, second)) if side.git is None]
    if first.git is None or second.git is None:
        return Claim("claim.code.no_git", "unknown", {"runs": without})
    if first.git.commit != second.git.commit:
        commits = {"first": _short(first.git), "second": _short(second.git)}
        return Claim("claim.code.commits_differ", "found", commits)
    commit = {"commit": _short(first.git)}
    if first.git.diff is None or second.git.diff is None:
        return Claim("claim.code.no_changes_known", "unknown", commit)
    if first.git.diff != second.git.diff:
        return Claim("claim.code.changes_differ", "found", commit)
    if first.git.cut or _HIDDEN in first.git.diff:
        return Claim("claim.code.cut", "unknown", commit)
    if first.git.untracked != 0 or second.git.untracked != 0:
        return Claim("claim.code.untracked", "unknown", commit)
    return Claim("claim.code.changed_alike" if first.git.diff else "claim.code.same", "clear", commit)


def _package_claim(first: Code, second: Code) -> Claim:
    if not (first.packages and second.packages and first.python and second.python):
        return Claim("claim.code.no_packages", "unknown")
    if first.python != second.python:
        return Claim("claim.code.pythons_differ", "found", {"first": first.python, "second": second.python})
    if count := len(_differing(first.packages, second.packages)):
        return Claim("claim.code.packages_differ", "found", {"n": count})
    return Claim("claim.code.packages_same", "clear", {"n": len(first.packages), "python": first.python})


def _short(git: Git) -> str:
    return git.commit[:10]


def _differing(
    first: Mapping[str, str], second: Mapping[str, str]
) -> list[tuple[str, str | None, str | None]]:
    names = sorted({*first, *second}, key=str.lower)
    return [
        (name, first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)
    ]


def _unified(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Yield marker (" ", "-", "+" or "@") and text of each line of a unified difference, without
    its header."""
    lines = difflib.unified_diff(before, after, lineterm="", n=2)
    yield from ((line[:1], line[1:]) for line in islice(lines, 2, 2 + _MOST_LINES))


PLUGIN = Plugin(name="code", router=router)
