"""Routes of checkpoints: statistics, comparison, timeline of a series, and values of one tensor."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Depends, Query, Response

from mindinsight.server.cancellation import result_of
from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.compute.lru_cache import SessionCache
from mindinsight.server.debug.checkpoint_weights import (
    TimelineRow,
    WeightDifference,
    WeightStatistics,
    compare_plain,
    compare_weights,
    damage_of,
    damaged_files,
    difference_claims,
    find_series,
    list_weights,
    locate_values,
    measure_weights,
    timeline_claims,
    unread_claims,
    weight_timeline,
)
from mindinsight.server.errors import ApiError
from mindinsight.server.files.opener import files_of, folders_of
from mindinsight.server.formats.arrays.lazy_array import Values
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile
from mindinsight.server.http.bulkhead_routes import Accept, CheckpointRoute, CurrentService
from mindinsight.server.http.service import Service
from mindinsight.server.ingest.folder_tree import child
from mindinsight.server.plugins.dump.dump_requests import Sessions, unreadable_error, without_folders
from mindinsight.server.plugins.dump.tensor_values import (
    Bins,
    Dims,
    Left,
    Top,
    check_numbers,
    heat_map_answer,
    histogram_answer,
    npy_download,
    window_answer,
)
from mindinsight.server.store.mounts import disk_path, mounts_of

Item = TypeVar("Item")

router = APIRouter(route_class=CheckpointRoute)

FileId = Annotated[str, Query(description="file below the base: ./job/net.ckpt")]

_SUFFIXES: Final = (".ckpt", ".safetensors", ".npz", ".pt", ".pth")
_ABSENT: Final = ("dump.missing", "dump.link", "dump.not_a_file")  # reasons that are answered with 404
_DEPTH: Final = 6  # folders below the base
_MAX_FILES: Final = 2000  # of a listing
_WAIT: Final = 0.5  # seconds that a response waits for the job, so that small files need one request


@router.get("/checkpoints")
def checkpoints(service: CurrentService) -> dict[str, Any]:
    """List checkpoints below the base directories, except those inside dumps, and the series they form."""
    dumps = {dump for run in service.store.snapshot().runs.values() for dump in run.dumps}
    mounts = [mount for mount in mounts_of(service.settings.summary_base_dir) if not mount.inside]
    files = (
        file for mount in mounts for file in _checkpoint_files(mount.id, Path(mount.real), dumps, _DEPTH)
    )
    listed = [_file_json(name, path) for name, path in islice(files, _MAX_FILES)]
    series = find_series(file["id"] for file in listed)
    return {"checkpoints": listed, "series": [asdict(group) for group in series]}


@router.get("/checkpoint")
def checkpoint(service: CurrentService, sessions: Sessions, file: FileId) -> dict[str, Any]:
    """Return the tensors of a checkpoint with the statistics computed so far. Repeat until `done`."""
    weights = open_checkpoint(service, file)
    stamp = weights.path.lstat().st_mtime_ns
    key = ("weights", weights.path, stamp)
    work = partial(measure_weights, weights, service.executor)
    job = _job(service, sessions, key, work, len(weights.weights))
    damage_job = _damage_job(service, sessions, weights, stamp)
    job.wait(_WAIT)
    done = job.done and damage_job.done  # read before the items, so that none is added after it
    measurements = list(job.items)
    unread = [measured.weight.name for measured in measurements if measured.error]
    unmeasured = weights.weights[len(measurements) :]
    return {
        "id": file,
        "format": weights.format,
        "done": done,
        "error": job.error or damage_job.error,
        "tensors": [*map(_statistics_json, measurements), *map(_weight_json, unmeasured)],
        "damage": [_error_json(error) for error in list(damage_job.items)],
        "claims": [claim.as_json() for claim in unread_claims(unread)] if done and not job.error else [],
    }


@router.get("/checkpoint/difference")
def difference(service: CurrentService, sessions: Sessions, first: FileId, second: FileId) -> dict[str, Any]:
    """Return the differences of the second checkpoint from the first computed so far. Repeat until `done`."""
    pair = [open_checkpoint(service, file) for file in (first, second)]
    stamps = tuple((weights.path, weights.path.lstat().st_mtime_ns) for weights in pair)
    job = _job(
        service,
        sessions,
        ("difference", stamps),
        partial(compare_weights, pair[0], pair[1], service.executor),
    )
    damage_jobs = [
        _damage_job(service, sessions, weights, stamp)
        for weights, (_, stamp) in zip(pair, stamps, strict=True)
    ]
    job.wait(_WAIT)
    done = job.done and all(damage.done for damage in damage_jobs)  # before the items are read
    differences = list(job.items)
    claims = difference_claims(differences, compare_plain(*pair)) if done and not job.error else []
    return {
        "done": done,
        "error": job.error,
        "claims": [claim.as_json() for claim in claims],
        "differences": [_difference_json(difference) for difference in differences],
        "damage": [_error_json(error) for damage in damage_jobs for error in list(damage.items)],
    }


def _job(
    service: Service,
    sessions: SessionCache,
    key: tuple[object, ...],
    work: Callable[[], Iterator[Item]],
    total: int | None = None,
) -> BackgroundJob[Item]:
    """Return the job with this key, starting it if there is none."""
    return sessions.get(key, BackgroundJob, lambda: BackgroundJob(service.jobs, work, total))


def _damage_job(
    service: Service, sessions: SessionCache, weights: WeightFile, stamp: int
) -> BackgroundJob[UnreadableError]:
    """Return the job that collects damage of a file as a whole, such as a wrong checksum.

    It reads all of the file.
    """
    return _job(service, sessions, ("damage", weights.path, stamp), partial(damage_of, weights))


def _error_json(error: UnreadableError) -> dict[str, str]:
    return {"reason": error.reason, "detail": without_folders(error.detail)}


def open_checkpoint(service: CurrentService, file: str) -> WeightFile:
    """Open a checkpoint below a base directory by its id. Raises ApiError."""
    path = checkpoint_path(service, file)
    try:
        return result_of(service.openers.submit(list_weights, path))
    except UnreadableError as error:
        raise checkpoint_error(error, file) from None


def checkpoint_path(service: CurrentService, file: str) -> Path:
    """Return the path of a checkpoint by its id. Raises ApiError if the id or its suffix is unknown."""
    try:
        path = disk_path(service.settings.summary_base_dir, file)
    except KeyError:
        raise _unknown(file) from None
    if path.suffix not in _SUFFIXES:
        raise _unknown(file)
    return path


def checkpoint_error(error: UnreadableError, file: str) -> ApiError:
    """Return the error response for a checkpoint that cannot be opened."""
    return _unknown(file) if error.reason in _ABSENT else unreadable_error(error)


def _unknown(file: str) -> ApiError:
    return ApiError(404, "unknown_checkpoint", f"There is no file of weights {file!r}.", file=file)


def _checkpoint_files(
    folder_id: str, folder: Path, dumps: set[str], depth: int
) -> Iterator[tuple[str, Path]]:
    """Yield ids and paths of the checkpoints in a folder and, up to `depth` levels, below it."""
    for name in sorted(files_of(folder)):
        if name.endswith(_SUFFIXES):
            yield child(folder_id, name), folder / name
    if depth:
        for inner in folders_of(folder):
            if (inner_id := child(folder_id, inner.name)) not in dumps:
                yield from _checkpoint_files(inner_id, inner, dumps, depth - 1)


def _file_json(name: str, path: Path) -> dict[str, Any]:
    status = path.lstat()
    return {"id": name, "size": status.st_size, "modified": status.st_mtime}


def _statistics_json(measured: WeightStatistics) -> dict[str, Any]:
    statistics = non_finite_as_text(asdict(measured.statistics)) if measured.statistics else None
    return {
        **_weight_json(measured.weight),
        "known": True,
        "statistics": statistics,
        "error": _cause_json(measured.error),
    }


def _weight_json(weight: Weight) -> dict[str, Any]:
    about = {"name": weight.name, "dtype": weight.dtype, "shape": weight.shape, "size": weight.size}
    return {**about, "known": False, "statistics": None, "error": None}


def _difference_json(difference: WeightDifference) -> dict[str, Any]:
    return {
        "name": difference.name,
        "state": difference.state,
        "first": difference.first and {"dtype": difference.first.dtype, "shape": difference.first.shape},
        "second": difference.second and {"dtype": difference.second.dtype, "shape": difference.second.shape},
        "equal": difference.equal,
        "measures": difference.measures and non_finite_as_text(asdict(difference.measures)),
        "error": _cause_json(difference.error),
    }


def _cause_json(error: UnreadableError | None) -> dict[str, str] | None:
    return {"reason": error.reason, "detail": error.detail} if error else None


_MOST: Final = 200  # checkpoints of a timeline


@router.get("/checkpoint/timeline")
def timeline(
    service: CurrentService,
    sessions: Sessions,
    file: Annotated[
        list[str], Query(description="files in the order they were saved", min_length=2, max_length=_MOST)
    ],
    offset: Annotated[int, Query(ge=0, description="rows that the client has")] = 0,
) -> dict[str, Any]:
    """Return the rows of tensors from `offset` on computed so far. Repeat until `done`.

    Each row has a state, a relative change (L2) and a number of non-finite elements for each checkpoint.
    `claims` are returned once all rows are computed.
    """
    files = [open_checkpoint(service, name) for name in file]
    key = tuple((weights.path, weights.path.lstat().st_mtime_ns) for weights in files)
    total = len({weight.name for weights in files for weight in weights.weights})
    work = partial(weight_timeline, files, service.executor)
    job = _job(service, sessions, ("timeline", key), work, total)
    damage = _job(
        service,
        sessions,
        ("timeline damage", key),
        partial(damaged_files, files, service.executor),
        len(files),
    )
    job.wait(_WAIT)
    done = job.done and damage.done  # read before the rows, so that none is added after it
    claims = []
    if done and not job.error and not damage.error:
        claims = timeline_claims(list(job.items), [Path(name).name for name in file], list(damage.items))
    return {
        "done": done,
        "error": job.error or damage.error,
        "total": total,
        "offset": offset,
        "claims": [claim.as_json() for claim in claims],
        "rows": [_row_json(row) for row in list(job.items)[offset:]],
    }


def _row_json(row: TimelineRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "shape": row.shape,
        "states": [cell.state for cell in row.cells],
        "changes": non_finite_as_text([cell.change for cell in row.cells]),
        "non_finite": [cell.non_finite for cell in row.cells],
    }


def values_of(
    service: CurrentService, file: FileId, name: Annotated[str, Query(description="name of the tensor")]
) -> Values:
    """FastAPI dependency. Return the values of the tensor `name` in `file`.

    The file is opened in a worker process, which returns only the location of the values.
    """
    path = checkpoint_path(service, file)
    try:
        return check_numbers(result_of(service.openers.submit(locate_values, path, name)))
    except UnreadableError as error:
        raise checkpoint_error(error, file) from None
    except KeyError:
        raise ApiError(404, "unknown_weight", f"There is no tensor {name!r}.", name=name) from None


WeightValues = Annotated[Values, Depends(values_of)]


@router.get("/checkpoint/values")
def window(
    values: WeightValues, dims: Dims = None, top: Top = 0, left: Left = 0, accept: Accept = ""
) -> Response:
    """Return a window of a slice, row by row, with the shape of the slice and the extremes of the window."""
    return window_answer(values, "", dims, top, left, accept)


@router.get("/checkpoint/histogram")
def histogram(values: WeightValues, bins: Bins = 80, accept: Accept = "") -> Response:
    """Return the histogram of the finite elements between their extremes, of complex numbers by magnitude."""
    return histogram_answer(values, bins, accept)


@router.get("/checkpoint/heatmap")
def heatmap(values: WeightValues, dims: Dims = None, accept: Accept = "") -> Response:
    """Return a heat map of a slice of at most two axes: 256 x 256 cells, each the element farthest from
    zero.
    """
    return heat_map_answer(values, dims, accept)


@router.get("/checkpoint/download", response_class=Response)
def download(values: WeightValues, name: str, dims: Dims = None) -> Response:
    """Download the tensor, or a slice of it, as npy in its own type, streamed while it is read."""
    return npy_download(values, re.sub(r"[^\w.-]+", "_", name) + ".npy", dims)
