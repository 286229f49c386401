"""What of a run's event files could not be read, in lines for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mindinsight.server.commands.messages import told
from mindinsight.server.commands.terminal import cell
from mindinsight.server.store.run import Run
from mindinsight.server.store.run_state import torn_files


def damage_count(run: Run, now: float) -> int:
    """Stretches that were skipped, files that could not be opened, files that end in a torn record."""
    skipped = sum(len(file.damage) + bool(file.error) for file in run.files)
    return skipped + len(torn_files(run, now))


def damage_lines(run: Run, now: float, every: bool = False) -> Iterator[str]:
    """One line for each reason in each file; with ``every``, one for each stretch that was skipped."""
    torn = {file.name for file in torn_files(run, now)}
    for file in run.files:
        path = cell(f"{run.id.removesuffix('/')}/{file.name}")
        if file.error:
            yield f"not read: {path}: {told(file.error)}"
        if every:
            for damage in file.damage:
                yield f"skipped {damage.size} bytes at {damage.offset} of {path}: {told(damage.reason)}"
        else:
            for reason, count in Counter(damage.reason for damage in file.damage).items():
                size = sum(damage.size for damage in file.damage if damage.reason == reason)
                yield f"skipped {count} stretches, {size} bytes, of {path}: {told(reason)}"
        if file.name in torn:
            yield f"unfinished: {path} ends in {file.pending} bytes of a record that is not whole"
