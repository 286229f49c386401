"""Routes for the console output of a training: lines around a place or a time, and a search."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query

from mindinsight.server.errors import ApiError
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.http.service import Service
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.console_levels import (
    LEVELS,
    Level,
    LevelScanner,
    leveled_lines,
    levels_of,
)
from mindinsight.server.store.console_log import (
    Line,
    Part,
    found_lines,
    lines_after,
    lines_before,
    parts_in,
    place_of_time,
)

router = APIRouter(route_class=PayloadRoute)
_MOST: Final = 2000  # lines of an answer
Count = Annotated[int, Query(ge=1, le=_MOST, description="lines at most")]
Place = Annotated[str, Query(max_length=100, description="place of a line, as an answer names it")]


@router.get("/lines")
def lines(
    service: CurrentService,
    run: str,
    before: Place = "",
    after: Place = "",
    time: Annotated[float | None, Query(description="Unix seconds, in place of a place")] = None,
    n: Count = 500,
) -> dict[str, Any]:
    """Return lines of a run's console: the last ones, those before or after a place, or those from a time on.
    Returns 404 if the run recorded no console.

    `lines` are [time, mark, text, place, open, level]. The mark is `o` for standard output, `e` for standard
    error, and `b` for both if they were redirected to the same place. `x` is for lines that could not be
    written to disk and `gap` for bytes that were left out: their text is the number. `torn` is for an
    incomplete line, and `start` for the start of another process, with its number as text.

    `open` is true for a line without an end yet, such as a progress bar. A later line replaces it. The level
    is `error`, `warning` or `nan` by the words of the line, `trace` in a traceback, or empty. `first` and
    `last` are the places to continue from. `first` is null at the beginning. `size` is in bytes. `after`
    takes precedence over `time`, and both over `before`.
    """
    parts = _parts(service, run)
    if after or time is not None:
        position = _place(parts, after) if after else place_of_time(parts, time or 0.0)
        shown = lines_after(parts, *position, n)
    else:
        position = _place(parts, before) if before else (len(parts) - 1, parts[-1].size)
        shown = lines_before(parts, *position, n)
    first = shown[0] if shown else None
    is_first = first is not None and (first.part, first.offset) == (0, 0)
    return {
        "run": run,
        "lines": [
            _row(parts, line, level) for line, level in zip(shown, levels_of(parts, shown), strict=True)
        ],
        "first": None if first is None or is_first else _named(parts, first.part, first.offset),
        "last": _named(parts, *_end(shown, position)),
        "size": sum(part.size for part in parts),
    }


@router.get("/search")
def search(
    service: CurrentService,
    run: str,
    query: Annotated[str, Query(min_length=1, max_length=200)],
    after: Place = "",
    n: Count = 200,
) -> dict[str, Any]:
    """Return the lines that contain a text, ignoring case, from the place `after` on. Returns 404 if the
    run recorded no console. They have the form of `/lines`. `next` is the place to continue from, null if
    everything was searched."""
    parts = _parts(service, run)
    shown, further = found_lines(parts, query, *(_place(parts, after) if after else (0, 0)), n)
    return {
        "run": run,
        "lines": [_row(parts, line, LevelScanner().level_of(line)) for line in shown],
        "next": None if further is None else _named(parts, *further),
    }


@router.get("/levels")
def levels(
    service: CurrentService,
    run: str,
    level: Annotated[Literal["error", "warning", "nan"] | None, Query(description="lines to list")] = None,
    after: Place = "",
    n: Count = 200,
) -> dict[str, Any]:
    """Return the numbers of lines that report errors, warnings and NaN by their words as `counts`, and those
    of `level` as `lines`, [] without a level. Returns 404 if the run recorded no console.

    A traceback is one error, and is listed with all of its lines. `next` is the place to continue from, null
    if everything was counted. With a `level`, counting ends after `n` listed errors, warnings or lines with
    NaN.
    """
    parts = _parts(service, run)
    counts = dict.fromkeys(LEVELS, 0)
    rows: list[list[Any]] = []
    further: str | None = None
    listed: Level | None = None  # the level above the lines of a traceback
    for line, known in leveled_lines(parts, *(_place(parts, after) if after else (0, 0))):
        listed = listed if known == "trace" else known
        if not known or (known == level and counts[known] >= n):
            further = _named(parts, line.part, line.offset)
            break
        if known in counts:
            counts[known] += 1
        if listed == level:
            rows.append(_row(parts, line, known))
    return {"run": run, "lines": rows, "counts": counts, "next": further}


def _parts(service: Service, run: str) -> list[Part]:
    """Return the files of a run's console. Raises ApiError 404 if there are none."""
    record = service.store.snapshot().run(run)
    try:
        parts = parts_in(record.path) if record.console else []
    except OSError:
        parts = []
    if not parts:
        raise ApiError(404, "no_console", f"The run {run} recorded no console.", run=run)
    return parts


def _row(parts: Sequence[Part], line: Line, level: Level) -> list[Any]:
    return [line.time, line.mark, line.text, _named(parts, line.part, line.offset), line.open, level]


def _named(parts: Sequence[Part], index: int, offset: int) -> str:
    """Return a position in the console as text: file name and offset. It stays valid while further parts are
    added and removed."""
    if index >= len(parts):
        index, offset = len(parts) - 1, parts[-1].size
    return f"{parts[index].name}@{offset}"


def _place(parts: Sequence[Part], text: str) -> tuple[int, int]:
    """Parse a position such as `console.1700000000.7.0002.log@512`, and return the index of the file and
    the offset. If that file was removed, return the beginning of the next one."""
    name, _, offset = text.partition("@")
    known = next((index for index, part in enumerate(parts) if part.name == name), None)
    if known is not None and offset.isdecimal():
        return known, min(int(offset), parts[known].size)
    later = (index for index, part in enumerate(parts) if part.name > name)
    return next(later, len(parts) - 1), 0


def _end(shown: Sequence[Line], position: tuple[int, int]) -> tuple[int, int]:
    """Return the place after the last finished line, from which a client asks for later lines."""
    if not shown:
        return position
    unfinished = next((line for line in shown if line.open), None)
    return (unfinished.part, unfinished.offset) if unfinished else (shown[-1].part, shown[-1].end)


PLUGIN = Plugin(name="console", router=router)
