"""Report of the damage in a run's event files, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mindinsight.server.commands.messages import describe_reason, localize
from mindinsight.server.commands.terminal import cell
from mindinsight.server.formats.tensorboard.values import ROUNDED
from mindinsight.server.store.run import Run
from mindinsight.server.store.run_state import torn_files

if TYPE_CHECKING:
    from mindinsight.server.client.reader import Summary


def directory_lines(summary: Summary) -> Iterator[str]:
    """Yield one line for each directory that could not be listed: runs in it are missing."""
    for problem in summary.problems:
        yield f"not read: {localize(problem.reason, {'path': problem.path})}"


def damage_count(run: Run, now: float) -> int:
    """Number of skipped stretches, of files that could not be opened, and of unfinished last records."""
    skipped = sum(len(file.damage) + bool(file.error) for file in run.files)
    return skipped + len(torn_files(run, now))


def damage_lines(run: Run, now: float, every: bool = False) -> Iterator[str]:
    """One line for each reason in each file; with ``every``, one for each skipped stretch."""
    torn = {file.name for file in torn_files(run, now)}
    for file in run.files:
        path = cell(f"{run.id.removesuffix('/')}/{file.name}")
        if file.error:
            yield f"not read: {path}: {describe_reason(file.error)}"
        if every:
            for damage in file.damage:
                reason = describe_reason(damage.reason)
                yield f"skipped {damage.size} bytes at {damage.offset} of {path}: {reason}"
        else:
            for reason, count in Counter(damage.reason for damage in file.damage).items():
                size = sum(damage.size for damage in file.damage if damage.reason == reason)
                yield f"skipped {count} stretches ({size} bytes) of {path}: {describe_reason(reason)}"
        if file.name in torn:
            yield f"unfinished: {path} ends in {file.pending} bytes of an incomplete record"
    yield from rounding_lines(run)


def rounding_lines(run: Run) -> Iterator[str]:
    """Yield one line for each file with integers that float64 cannot hold. This is no damage."""
    for file in run.files:
        count = dict(file.skipped).get(ROUNDED)
        if count:
            path = cell(f"{run.id.removesuffix('/')}/{file.name}")
            yield f"{path}: {localize('damage.rounded', {'n': count})}"
