"""Routes of checkpoints: statistics, comparison, timeline of a series, and values of one tensor."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Depends, Query

from mindinsight.server.cancellation import result_of
from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.debug import checkpoint_weights
from mindinsight.server.debug.compare.weight_history import distinct_names
from mindinsight.server.errors import ApiError
from mindinsight.server.files.opener import files_of, folders_of
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.plain_differences import compare_plain
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile
from mindinsight.server.http.bulkhead_routes import CheckpointRoute, CurrentService
from mindinsight.server.ingest.folder_tree import child
from mindinsight.server.plugins.dump.dump_requests import Sessions, unreadable_error, without_folders
from mindinsight.server.plugins.dump.tensor_values import NamedValues, add_value_routes, check_numbers
from mindinsight.server.store.mounts import disk_path, mounts_of

Item = TypeVar("Item")

router = APIRouter(route_class=CheckpointRoute)

FileId = Annotated[str, Query(description="file below the base: ./job/net.ckpt")]

_SUFFIXES: Final = (".ckpt", ".safetensors", ".npz", ".pt", ".pth")
_ABSENT: Final = ("dump.missing", "dump.link", "dump.not_a_file")  # reasons that are answered with 404
_DEPTH: Final = 6  # folders below the base, which bounds the time: each request searches them again
_MAX_FILES: Final = 2000  # of a listing, which bounds the answer
_WAIT: Final = 0.5  # seconds that a response waits for the job, so that small files need one request


def _job_key(kind: str, paths: Iterable[Path]) -> tuple[str, tuple[tuple[Path, int], ...]]:
    """Return the key of the job `kind` over files, which changes with the files."""
    return kind, tuple((path, path.lstat().st_mtime_ns) for path in paths)


def searched_checkpoints(sessions: Sessions, paths: Sequence[Path]) -> list[bool]:
    """Return a bool for each checkpoint of a finished timeline of the files `paths`: True if it has NaN or
    infinity. Checkpoints without any that could not be read completely are left out. Return [] if there is no
    finished timeline of exactly these files."""
    job: BackgroundJob[checkpoint_weights.TimelineRow] | None
    job = sessions.find(_job_key("timeline", paths), BackgroundJob)
    if job is None or not job.done or job.error:
        return []
    columns = [
        [cell.non_finite for cell in column if cell.state != "absent"]
        for column in zip(*(row.cells for row in job.items), strict=True)
    ]
    return [any(counts) for counts in columns if any(counts) or None not in counts]


class StartJob:
    """Callable that returns the job `kind` over files, starting it if there is none. FastAPI dependency."""

    def __init__(self, service: CurrentService, sessions: Sessions) -> None:
        self._service = service
        self._sessions = sessions

    def __call__(
        self,
        kind: str,
        files: Sequence[WeightFile],
        work: Callable[[], Iterator[Item]],
        total: int | None = None,
    ) -> BackgroundJob[Item]:
        key = _job_key(kind, (weights.path for weights in files))
        return self._sessions.get(key, BackgroundJob, lambda: BackgroundJob(self._service.jobs, work, total))


Start = Annotated[StartJob, Depends()]


@router.get("/checkpoints")
def checkpoints(service: CurrentService) -> dict[str, Any]:
    """Return up to 2000 `checkpoints`, up to six folders below the base directories, except those inside
    dumps, and the `series` they form."""
    dumps = {dump for run in service.store.snapshot().runs.values() for dump in run.dumps}
    mounts = [mount for mount in mounts_of(service.settings.summary_base_dir) if not mount.inside]
    found_files = (_checkpoint_files(mount.id, Path(mount.real), dumps, _DEPTH) for mount in mounts)
    listed: list[dict[str, Any]] = []
    for name, path in islice(chain.from_iterable(found_files), _MAX_FILES):
        status = path.lstat()
        listed.append({"id": name, "size": status.st_size, "modified": status.st_mtime})
    listed.sort(key=_listed_order)
    series = checkpoint_weights.find_series([file["id"] for file in listed])
    return {"checkpoints": listed, "series": [asdict(group) for group in series]}


@router.get("/checkpoint")
def checkpoint(service: CurrentService, start: Start, file: FileId) -> dict[str, Any]:
    """Return the tensors of a checkpoint with the statistics computed so far. Repeat until `done`. Returns
    404 for an unknown file, and 422 for an unreadable one. `damage` and `claims` tell what cannot be read."""
    weights = open_checkpoint(service, file)
    work = partial(checkpoint_weights.measure_weights, weights, service.executor)
    job = start("weights", [weights], work, len(weights.weights))
    damage_job = start("damage", [weights], partial(checkpoint_weights.damage_of, weights))
    job.wait(_WAIT)
    done = job.done and damage_job.done  # read before the items, so that none is added after it
    measurements = list(job.items)
    unread = [measured.weight.name for measured in measurements if measured.error]
    claims = checkpoint_weights.unread_claims(unread) if done and not job.error else []
    unmeasured = weights.weights[len(measurements) :]
    return {
        "id": file,
        "format": weights.format,
        "done": done,
        "error": job.error or damage_job.error,
        "tensors": [*map(_statistics_json, measurements), *map(_weight_json, unmeasured)],
        "damage": [_error_json(error) for error in list(damage_job.items)],
        "claims": [claim.as_json() for claim in claims],
    }


@router.get("/checkpoint/difference")
def difference(service: CurrentService, start: Start, first: FileId, second: FileId) -> dict[str, Any]:
    """Return the differences of the second checkpoint from the first computed so far. Repeat until `done`.
    Returns 404 for an unknown file, and 422 for an unreadable one. `claims` are returned once all are
    computed."""
    pair = [open_checkpoint(service, file) for file in (first, second)]
    work = partial(checkpoint_weights.compare_weights, pair[0], pair[1], service.executor)
    job = start("difference", pair, work)
    damage_jobs = [start("damage", [file], partial(checkpoint_weights.damage_of, file)) for file in pair]
    job.wait(_WAIT)
    done = job.done and all(damage.done for damage in damage_jobs)  # before the items are read
    differences = list(job.items)
    plain = compare_plain(*pair)
    error = job.error or next((damage.error for damage in damage_jobs if damage.error), "")
    claims = []
    if done and not error:
        claims = checkpoint_weights.non_finite_claims(differences)
        claims += checkpoint_weights.difference_claims(differences, plain)
    return {
        "done": done,
        "error": error,
        "claims": [claim.as_json() for claim in claims],
        "counts": checkpoint_weights.count_states(differences),
        "differences": [_difference_json(difference) for difference in differences],
        "damage": [_error_json(error) for damage in damage_jobs for error in list(damage.items)],
    }


def _error_json(error: UnreadableError) -> dict[str, str]:
    return {"reason": error.reason, "detail": without_folders(error.detail)}


def open_checkpoint(service: CurrentService, file: str) -> WeightFile:
    """Return the checkpoint with an id below a base directory. Raises ApiError if it is unknown or
    unreadable."""
    path = checkpoint_path(service, file)
    try:
        return result_of(service.openers.submit(checkpoint_weights.list_weights, path))
    except UnreadableError as error:
        raise checkpoint_error(error, file) from None


def checkpoint_path(service: CurrentService, file: str) -> Path:
    """Return the path of a checkpoint by its id, whether the file exists or not. Raises ApiError if the base
    directory in the id or the suffix is unknown."""
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


_NUMBERS: Final = re.compile(r"(\d+)")


def _listed_order(file: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a sort key: by folder and name with numbers by size, names without a number last, by time."""
    folder, _, name = file["id"].rpartition("/")
    unnumbered = _NUMBERS.search(name) is None
    return _natural(folder), unnumbered, () if unnumbered else _natural(name), file["modified"]


def _natural(text: str) -> tuple[list[str], list[int]]:
    """Return a sort key by which ``net-20`` is before ``net-100``."""
    parts = _NUMBERS.split(text)
    return parts[::2], [int(number) for number in parts[1::2]]


def _statistics_json(measured: checkpoint_weights.WeightStatistics) -> dict[str, Any]:
    statistics = non_finite_as_text(asdict(measured.statistics)) if measured.statistics else None
    known = {"known": True, "statistics": statistics, "error": _cause_json(measured.error)}
    return {**_weight_json(measured.weight), **known}


def _weight_json(weight: Weight) -> dict[str, Any]:
    about = {"name": weight.name, "dtype": weight.dtype, "shape": weight.shape, "size": weight.size}
    return {**about, "known": False, "statistics": None, "error": None}


def _difference_json(difference: checkpoint_weights.WeightDifference) -> dict[str, Any]:
    return {
        "name": difference.name,
        "state": difference.state,
        "first": difference.first and {"dtype": difference.first.dtype, "shape": difference.first.shape},
        "second": difference.second and {"dtype": difference.second.dtype, "shape": difference.second.shape},
        "equal": difference.equal,
        "non_finite_elements": difference.non_finite,
        "non_finite": list(difference.broken),
        "measures": difference.measures and non_finite_as_text(asdict(difference.measures)),
        "error": _cause_json(difference.error),
    }


def _cause_json(error: UnreadableError | None) -> dict[str, str] | None:
    return {"reason": error.reason, "detail": error.detail} if error else None


_MOST: Final = 200  # checkpoints of a timeline, which a URL names and each of which is a column


@router.get("/checkpoint/timeline")
def timeline(
    service: CurrentService,
    start: Start,
    file: Annotated[
        list[str], Query(description="files in the order they were saved", min_length=2, max_length=_MOST)
    ],
    offset: Annotated[int, Query(ge=0, description="rows that the client has")] = 0,
) -> dict[str, Any]:
    """Return the `rows` of tensors from `offset` on computed so far. Repeat until `done`. Returns 404 for an
    unknown file, and 422 for an unreadable one.

    Each row has a state, a relative change (L2) and a number of non-finite elements for each checkpoint, and
    `weight`: true for a floating-point tensor that is no optimizer state by its name. What is unknown is
    null. `claims` are returned once all rows are computed.
    """
    files = [open_checkpoint(service, name) for name in file]
    tensors = {weight.name for weights in files for weight in weights.weights}
    rows = partial(checkpoint_weights.weight_timeline, files, service.executor)
    job = start("timeline", files, rows, len(tensors))
    damages = partial(checkpoint_weights.damaged_files, files, service.executor)
    damage = start("timeline damage", files, damages, len(files))
    job.wait(_WAIT)
    done = job.done and damage.done  # read before the rows, so that none is added after it
    claims = []
    if done and not job.error and not damage.error:
        names = [*map(distinct_names(file).__getitem__, file)]
        claims = checkpoint_weights.timeline_claims(list(job.items), names, list(damage.items))
    return {
        "done": done,
        "error": job.error or damage.error,
        "total": len(tensors),
        "offset": offset,
        "claims": [claim.as_json() for claim in claims],
        "rows": [_row_json(row, tensors) for row in list(job.items)[offset:]],
    }


def _row_json(row: checkpoint_weights.TimelineRow, tensors: Collection[str]) -> dict[str, Any]:
    return {
        "name": row.name,
        "weight": row.is_weight(tensors),
        "shape": row.shape,
        "states": [cell.state for cell in row.cells],
        "changes": non_finite_as_text([cell.change for cell in row.cells]),
        "non_finite": [cell.non_finite for cell in row.cells],
    }


def values_of(
    service: CurrentService, file: FileId, name: Annotated[str, Query(description="name of the tensor")]
) -> NamedValues:
    """Return the values of the tensor `name` in `file`. FastAPI dependency. Raises ApiError if the file or
    the tensor is unknown or unreadable, or the values are not numbers. The file is opened in a worker
    process, which returns only the location of the values."""
    path = checkpoint_path(service, file)
    try:
        values = result_of(service.openers.submit(checkpoint_weights.locate_values, path, name))
    except UnreadableError as error:
        raise checkpoint_error(error, file) from None
    except KeyError:
        raise ApiError(404, "unknown_weight", f"There is no tensor {name!r}.", name=name) from None
    return NamedValues(check_numbers(values), "", f"{name}.npy")


add_value_routes(router, "/checkpoint", values_of)
