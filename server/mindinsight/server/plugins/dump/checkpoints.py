"""Files of weights below the base directory: statistics, and what changed between two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.lru_cache import SessionCache
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.compare.measures import Measures
from mindinsight.server.debug.weights import (
    WeightDifference,
    WeightStatistics,
    compare_weights,
    damage_of,
    list_weights,
    measure_weights,
)
from mindinsight.server.errors import ApiError
from mindinsight.server.files.folders import files_of, folders_of
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile
from mindinsight.server.http.bulkhead_routes import CheckpointRoute
from mindinsight.server.ingest.discovery.folder_tree import child
from mindinsight.server.plugins.dump.lookup import Sessions, Uses, shown, unreadable
from mindinsight.server.store.mounts import disk_path, mounts_of

router = APIRouter(route_class=CheckpointRoute)

FileId = Annotated[str, Query(description="file below the base: ./job/net.ckpt")]

_SUFFIXES: Final = (".ckpt", ".safetensors", ".npz", ".pt", ".pth")
_ABSENT: Final = ("dump.missing", "dump.link", "dump.not_a_file")
_DEPTH: Final = 6  # folders below the base
_MOST: Final = 2000  # files
_WAIT: Final = 0.5  # seconds for which an answer waits for the rest


@router.get("/checkpoints")
def checkpoints(service: Uses) -> dict[str, Any]:
    """Files of weights below the base directories; those inside dumps are not among them."""
    dumps = {dump for run in service.store.snapshot().runs.values() for dump in run.dumps}
    mounts = [mount for mount in mounts_of(service.settings.summary_base_dir) if not mount.inside]
    files = (found for mount in mounts for found in _files(mount.id, Path(mount.real), dumps, _DEPTH))
    return {"checkpoints": [_listed(name, path) for name, path in islice(files, _MOST)]}


@router.get("/checkpoint")
def checkpoint(service: Uses, sessions: Sessions, file: FileId) -> dict[str, Any]:
    """The tensors of a file with their statistics, as far as they are counted."""
    weights = _opened(service, file)
    stamp = weights.path.lstat().st_mtime_ns
    work = sessions.get(
        ("weights", weights.path, stamp),
        BackgroundJob,
        lambda: BackgroundJob(lambda: measure_weights(weights, service.executor), len(weights.weights)),
    )
    damage = _damage(sessions, weights, stamp)
    work.wait(_WAIT)
    known = list(work.items)
    rest = weights.weights[len(known) :]
    return {
        "id": file,
        "format": weights.format,
        "done": work.done and damage.done,
        "error": work.error or damage.error,
        "tensors": [_statistics(each) for each in known] + [_weight(each) for each in rest],
        "damage": [_error(each) for each in list(damage.items)],
    }


@router.get("/checkpoint/difference")
def difference(service: Uses, sessions: Sessions, first: FileId, second: FileId) -> dict[str, Any]:
    """What changed from the first file to the second, as far as it is compared."""
    files = [_opened(service, each) for each in (first, second)]
    stamps = tuple((each.path, each.path.lstat().st_mtime_ns) for each in files)
    work = sessions.get(
        ("difference", stamps),
        BackgroundJob,
        lambda: BackgroundJob(lambda: compare_weights(files[0], files[1], service.executor)),
    )
    damage = [_damage(sessions, each, stamp) for each, (_, stamp) in zip(files, stamps, strict=True)]
    work.wait(_WAIT)
    return {
        "done": work.done and all(each.done for each in damage),
        "error": work.error,
        "differences": [_difference(each) for each in list(work.items)],
        "damage": [_error(error) for each in damage for error in list(each.items)],
    }


def _damage(sessions: SessionCache, weights: WeightFile, stamp: int) -> BackgroundJob[UnreadableError]:
    """What is wrong with a file as a whole; it is read to its end for that."""
    key = ("damage", weights.path, stamp)
    return sessions.get(key, BackgroundJob, lambda: BackgroundJob(lambda: damage_of(weights)))


def _error(error: UnreadableError) -> dict[str, str]:
    return {"reason": error.reason, "detail": shown(error.detail)}


def _opened(service: Uses, file: str) -> WeightFile:
    """A file of weights below a base directory; raises ApiError."""
    try:
        path = disk_path(service.settings.summary_base_dir, file)
    except KeyError:
        raise _unknown(file) from None
    if path.suffix not in _SUFFIXES:
        raise _unknown(file)
    try:
        return service.openers.submit(list_weights, path).result()
    except UnreadableError as error:
        if error.reason in _ABSENT:
            raise _unknown(file) from None
        raise unreadable(error) from None


def _unknown(file: str) -> ApiError:
    return ApiError(404, "unknown_checkpoint", f"There is no file of weights {file!r}.", file=file)


def _files(below: str, folder: Path, dumps: set[str], depth: int) -> Iterator[tuple[str, Path]]:
    """Files by id, those of the folder with the id ``below`` first."""
    for name in sorted(files_of(folder)):
        if name.endswith(_SUFFIXES):
            yield child(below, name), folder / name
    if depth:
        for inner in folders_of(folder):
            if (place := child(below, inner.name)) not in dumps:
                yield from _files(place, inner, dumps, depth - 1)


def _listed(name: str, path: Path) -> dict[str, Any]:
    state = path.lstat()
    return {"id": name, "size": state.st_size, "modified": state.st_mtime}


def _statistics(each: WeightStatistics) -> dict[str, Any]:
    error = {"reason": each.error.reason, "detail": each.error.detail} if each.error else None
    statistics = non_finite_as_text(asdict(each.statistics)) if each.statistics else None
    return {**_weight(each.weight), "known": True, "statistics": statistics, "error": error}


def _weight(weight: Weight) -> dict[str, Any]:
    about = {"name": weight.name, "dtype": weight.dtype, "shape": weight.shape, "size": weight.size}
    return {**about, "known": False, "statistics": None, "error": None}


def _difference(each: WeightDifference) -> dict[str, Any]:
    return {
        "name": each.name,
        "state": each.state,
        "first": each.first and {"dtype": each.first.dtype, "shape": each.first.shape},
        "second": each.second and {"dtype": each.second.dtype, "shape": each.second.shape},
        "equal": each.equal,
        "measures": _measures(each.measures),
        "error": {"reason": each.error.reason, "detail": each.error.detail} if each.error else None,
    }


def _measures(measures: Measures | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = non_finite_as_text(asdict(measures)) if measures else None
    return found
