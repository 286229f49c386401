"""Dependencies of dump routes (dump, step and tensor of a request), and JSON encoders."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Query

from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.compute.lru_cache import SessionCache
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.fault import missing_place, source_frame
from mindinsight.server.debug.inspection import Inspection, Listing
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps import dump_types, open_dump
from mindinsight.server.formats.dumps.dump_types import Dump, FileDamage, Operator, TensorEntry
from mindinsight.server.formats.graphs.call_stacks import Frame, own_frame
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.http.service import Service
from mindinsight.server.store.mounts import disk_path

DumpId = Annotated[str, Query(description="dump directory below the base: ./job/dump")]
Rank = Annotated[int, Query(ge=0)]
Step = Annotated[int, Query(ge=0)]


async def sessions_of(service: CurrentService) -> SessionCache:
    """Return the LRU cache of open listings, checks and comparisons of this server. FastAPI dependency."""
    return service.parts.of(SessionCache)


Sessions = Annotated[SessionCache, Depends(sessions_of)]


def cache_of(service: Service) -> StatisticsCache | None:
    """Return the cache of tensor statistics, or None if the server runs without a cache."""
    settings = service.settings
    return StatisticsCache(settings.workspace / "cache" / "statistics.sqlite") if settings.cache else None


def path_of(service: Service, dump: str) -> str:
    """Return the absolute path of a discovered dump by its id. Raises ApiError for any other."""
    if not any(dump in run.dumps for run in service.store.snapshot().runs.values()):
        raise unknown_dump(dump)
    try:
        return str(disk_path(service.settings.summary_base_dir, dump))
    except KeyError:  # the base directory was removed in the meantime
        raise unknown_dump(dump) from None


def unknown_dump(dump: str) -> ApiError:
    """Return the error for an unknown dump."""
    return ApiError(404, "unknown_dump", f"There is no dump {dump!r}.", dump=dump)


def open_known_dump(service: Service, dump: str) -> Dump:
    """Return a discovered dump by its id. Raises ApiError if the id is unknown or the dump unreadable."""
    try:
        return open_dump(path_of(service, dump))
    except UnreadableError as error:
        raise unreadable_error(error) from None


def listing_of(service: Service, sessions: SessionCache, dump: str, rank: int, step: int) -> Listing:
    """Return the listing of a step with the statistics computed so far. Raises ApiError if the dump or the
    step is unknown, or the dump is unreadable."""
    path = path_of(service, dump)

    def make() -> Inspection:
        return Inspection(path, rank, step, service.executor, cache_of(service), service.jobs)

    try:
        listing = sessions.get((path, rank, step), Inspection, make).listing()
    except UnreadableError as error:
        raise unreadable_error(error) from None
    if not any((folder.rank, folder.step) == (rank, step) for folder in listing.dump.folders):
        raise unknown_step(rank, step)
    return listing


def require_place(dump: Dump, ranks: Sequence[int] | None, steps: Sequence[int] | None) -> None:
    """Raise ApiError if the dump lacks one of the ranks, or none of them has one of the steps. None stands
    for all."""
    if absent := missing_place(dump, ranks, steps):
        raise unknown_step(*absent)


def unknown_step(rank: int, step: int) -> ApiError:
    """Return the error response for a step that a dump does not have."""
    text = f"The dump has no step {step} of rank {rank}."
    return ApiError(404, "unknown_dump_step", text, rank=rank, step=step)


def step_listing(
    service: CurrentService, sessions: Sessions, dump: DumpId, rank: Rank = 0, step: Step = 0
) -> Listing:
    """Return the listing of the step given by `dump`, `rank` and `step`. FastAPI dependency. Raises ApiError
    as `listing_of`."""
    return listing_of(service, sessions, dump, rank, step)


StepListing = Annotated[Listing, Depends(step_listing)]


def tensor_of(
    listing: StepListing,
    operator: Annotated[str, Query(description="name of the operator as recorded")],
    direction: Annotated[str, Query(description="input, output, parameter or constant")],
    slot: str,
    graph: str = "",
) -> TensorEntry:
    """Return the tensor given by `graph`, `operator`, `direction` and `slot`. FastAPI dependency. Raises
    ApiError if the step has no such tensor."""
    position = listing.positions.get((graph, operator, direction, slot))
    if position is None:
        text = f"There is no {direction} {slot} of {operator!r}."
        raise ApiError(404, "unknown_tensor", text, operator=operator)
    return listing.entries[position]


Tensor = Annotated[TensorEntry, Depends(tensor_of)]


def unreadable_error(error: UnreadableError) -> ApiError:
    """Return the error response for an unreadable file, without absolute paths."""
    detail = without_folders(error.detail)
    return ApiError(422, "unreadable", f"{error.reason} {detail}".strip(), key=error.reason, detail=detail)


def without_folders(detail: str) -> str:
    """Return a text, or only the file name if the text is an absolute path. Clients must not see folders."""
    return Path(detail).name if Path(detail).is_absolute() else detail


def entry_json(entry: TensorEntry, result: TensorResult | None) -> dict[str, Any]:
    """Return a row of the tensor table: the identity of a tensor and, once computed, its statistics."""
    measurement = result.measurement if result else None
    names = ("graph", "operator", "recorded", "type", "direction", "slot", "sequence", "order", "format")
    return {
        **{name: getattr(entry, name) for name in names},
        "dtype": entry.dtype or (measurement.dtype if measurement else ""),
        "shape": list(measurement.shape) if measurement else entry.shape and list(entry.shape),
        "values": entry.ref is not None,
        "known": result is not None,
        "computed": bool(result and result.computed and measurement),
        "statistics": non_finite_as_text(asdict(measurement.statistics)) if measurement else None,
        "finite": measurement.statistics.finite if measurement else None,  # None: unknown
        "damage": damage_json((result.damage if result else None) or entry.damage),
    }


def damage_json(damage: FileDamage | None) -> dict[str, str] | None:
    """Return the damage of a file as JSON, with file names instead of paths, or None without damage."""
    if damage is None:
        return None
    file, detail = without_folders(damage.path), without_folders(damage.detail)
    return {"file": file, "reason": damage.reason, "detail": detail}


def recorded_json(recorded: dump_types.RecordedStatistics | None) -> dict[str, Any] | None:
    """Return recorded statistics, without the values that were not recorded, or None if there are none."""
    if recorded is None:
        return None
    values = {name: value for name, value in asdict(recorded).items() if value not in (None, "")}
    return dict(non_finite_as_text(values))


def operator_json(operator: Operator) -> dict[str, Any]:
    """Return an operator with its call stacks. `source` is the frame of the user's code, else the
    innermost."""
    names = ("graph", "recorded", "type", "scope", "sequence", "order", "arguments")
    return {
        **{name: getattr(operator, name) for name in names},
        "operator": operator.name,
        "source": frame_json(source_frame(operator)),
        "stack": [frame_json(frame) for frame in operator.stack],
        "other_stacks": [[frame_json(frame) for frame in stack] for stack in operator.other_stacks],
    }


def frame_json(frame: Frame | None) -> dict[str, Any] | None:
    """Return a stack frame as JSON, or None. `own` says if it is the user's code."""
    if frame is None:
        return None
    return {**asdict(frame), "own": own_frame((frame,)) is not None}


def has_words(query: str, names: Sequence[str]) -> bool:
    """Return True if each word of a query is in one of the names, in any case. True also without words."""
    return all(any(word in name.lower() for name in names) for word in query.lower().split())
