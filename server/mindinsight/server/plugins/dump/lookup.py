"""From the parameters of a request to the dump, step and tensor they name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import Depends, Query

from mindinsight.server.compute.lru_cache import SessionCache
from mindinsight.server.debug.inspection import Inspection, Listing
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.dumps.types import Dump, TensorEntry
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.store.mounts import disk_path

Uses = Annotated[Service, Depends(service_of)]
DumpId = Annotated[str, Query(description="dump directory below the base: ./job/dump")]
Rank = Annotated[int, Query(ge=0)]
Step = Annotated[int, Query(ge=0)]


async def sessions_of(service: Uses) -> SessionCache:
    """What this server keeps of the dumps people look at."""
    return service.parts.of(SessionCache)


Sessions = Annotated[SessionCache, Depends(sessions_of)]


def cache_of(service: Service) -> StatisticsCache | None:
    settings = service.settings
    return StatisticsCache(settings.workspace / "cache" / "statistics.sqlite") if settings.cache else None


def path_of(service: Service, dump: str) -> str:
    """The directory of a dump that was found below the base; others are not opened."""
    if not any(dump in run.dumps for run in service.store.snapshot().runs.values()):
        raise _unknown(dump)
    try:
        return str(disk_path(service.settings.summary_base_dir, dump))
    except KeyError:  # its base directory has just gone
        raise _unknown(dump) from None


def _unknown(dump: str) -> ApiError:
    return ApiError(404, "unknown_dump", f"There is no dump {dump!r}.", dump=dump)


def opened(service: Service, dump: str) -> Dump:
    try:
        return open_dump(path_of(service, dump))
    except UnreadableError as error:
        raise unreadable(error) from None


def listing_of(service: Service, sessions: SessionCache, dump: str, rank: int, step: int) -> Listing:
    """The tensors of a step, with what is known of their statistics by now."""
    path = path_of(service, dump)

    def make() -> Inspection:
        return Inspection(path, rank, step, service.executor, cache_of(service))

    try:
        listing = sessions.get((path, rank, step), Inspection, make).listing()
    except UnreadableError as error:
        raise unreadable(error) from None
    if not any((each.rank, each.step) == (rank, step) for each in listing.dump.folders):
        raise ApiError(
            404, "unknown_dump_step", f"The dump has no step {step} of rank {rank}.", rank=rank, step=step
        )
    return listing


def looked_at(service: Uses, sessions: Sessions, dump: DumpId, rank: Rank = 0, step: Step = 0) -> Listing:
    """The step that ``dump``, ``rank`` and ``step`` name."""
    return listing_of(service, sessions, dump, rank, step)


StepListing = Annotated[Listing, Depends(looked_at)]


def tensor_of(
    listing: StepListing,
    operator: Annotated[str, Query(description="name of the operator as recorded")],
    direction: Annotated[str, Query(description="input, output, parameter or constant")],
    slot: str,
    graph: str = "",
) -> TensorEntry:
    """The tensor that ``graph``, ``operator``, ``direction`` and ``slot`` name."""
    place = listing.places.get((graph, operator, direction, slot))
    if place is None:
        raise ApiError(
            404, "unknown_tensor", f"There is no {direction} {slot} of {operator!r}.", operator=operator
        )
    return listing.entries[place]


Tensor = Annotated[TensorEntry, Depends(tensor_of)]


def unreadable(error: UnreadableError) -> ApiError:
    """What a reader could not read, with no absolute path in it."""
    detail = shown(error.detail)
    return ApiError(422, "unreadable", f"{error.reason} {detail}".strip(), key=error.reason, detail=detail)


def shown(detail: str) -> str:
    """A detail without the folders of this machine."""
    return Path(detail).name if Path(detail).is_absolute() else detail
