"""Routes for studies of hyper-parameter tuning: progress, trials, importance, suggestions, and the request
to stop.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from fastapi import APIRouter, Query
from pydantic import BaseModel

from mindinsight.server.cancellation import result_of
from mindinsight.server.claims import Claim
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.curves.correlations import association
from mindinsight.server.curves.importance import importance as setting_importance
from mindinsight.server.errors import ApiError, BadSettings, not_kept
from mindinsight.server.files.opener import LinkError, SpecialFileError, opened
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.http.service import Service
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.mounts import mounts_of
from mindinsight.server.texts import message
from mindinsight.server.tuning.failed_trials import failed_trial_claims
from mindinsight.server.tuning.parameter_importance import missing_package, study_importance
from mindinsight.server.tuning.published_study import (
    COMPLETE,
    PublishedStudy,
    published_files,
    read_published,
)
from mindinsight.server.tuning.samplers import next_suggestions
from mindinsight.server.tuning.study import (
    is_tuned,
    journal_path,
    list_journals,
    read_study,
    request_stop,
)
from mindinsight.server.tuning.study_facts import study_facts

router = APIRouter(route_class=PayloadRoute)

StudyId = Annotated[str, Query(description="id from v2/tuning/studies", max_length=300)]
Target = Annotated[int, Query(ge=0, le=100)]
Count = Annotated[int, Query(ge=1, le=20)]
Method = Literal["fanova", "ped_anova", "forest", "correlation"]

MISSING = "tune_missing"
_OPEN = 64  # journals that stay parsed
_FRESH = ("name", "targets", "progress", "stopping")


class StopOrder(BaseModel):
    """Request body that names the study to stop."""

    study: str


class StudyCache:
    """Parsed journals and published studies, and the results computed from them."""

    def __init__(self) -> None:
        self.studies: LruCache[Any] = LruCache(_OPEN)
        self.published: LruCache[PublishedStudy] = LruCache(_OPEN)
        self.results: LruCache[Any] = LruCache(_OPEN)


class ShownStudy(NamedTuple):
    """Study that this server shows: where it is, and its facts now."""

    id: str
    path: Path
    published: bool  # beside its runs, not a journal of this workspace
    facts: dict[str, Any]
    tuned: bool | None  # None: it is not known whether a tuner is at work
    updated: float  # Unix seconds


@router.get("/studies")
def studies(service: CurrentService) -> dict[str, Any]:
    """Return the `studies` of this server's base directories, newest first, with their progress. Studies that
    cannot be read are left out, and counted as `unreadable` unless a package is `missing`.

    A study comes from its journal in the workspace of this server, else from the file beside its runs.
    `tuned` is null if it is not known whether a tuner is running. `missing` names the package that has to be
    installed to read a journal.
    """
    known: dict[str, ShownStudy] = {}
    missing, unreadable = None, 0
    for listed in (_journals, _published):
        for id_, load in listed(service):
            if id_ in known:
                continue
            try:
                study = load()
            except ApiError as error:
                missing = missing or (error.message if error.code == MISSING else None)
                unreadable += error.code != MISSING
                continue
            if study is not None:
                known[id_] = study
    summaries = [
        {
            "id": item.id,
            "tuned": item.tuned,
            "updated": item.updated,
            **{key: item.facts[key] for key in _FRESH},
        }
        for item in sorted(known.values(), key=lambda study: -study.updated)
    ]
    return {"studies": summaries, "missing": missing, "unreadable": unreadable}


@router.get("/study")
def study(service: CurrentService, study: StudyId) -> dict[str, Any]:
    """Return all facts of one study. Returns 404 for an unknown study.

    `tuned` is true while a tuner is running, and null if that is not known because the study is in another
    workspace; then the facts are those of `updated`, in Unix seconds. `may_stop` says if the client may stop
    it. `claims` state whether a parameter value tells the failed trials from the others. The run of a trial
    is the id of the run on this server, null if it is not one.
    """
    chosen = _find(service, study)
    ids = {run.path: run.id for run in service.store.snapshot().runs.values()}
    real = {os.path.realpath(folder): run_id for folder, run_id in ids.items()}
    trials = []
    for trial in chosen.facts["trials"]:
        folder = trial["run"]
        run = ids.get(folder) or real.get(os.path.realpath(folder)) if folder else None
        trials.append({**trial, "run": run})
    may_stop = service.settings.guarded and not chosen.published
    shown = {
        name: value for name, value in chosen.facts.items() if name not in ("command", "summary_base_dir")
    }
    answer = {"id": study, "tuned": chosen.tuned, "updated": chosen.updated, "published": chosen.published}
    claims = [claim.as_json() for claim in failed_trial_claims(chosen.facts["trials"])]
    more = {"may_stop": may_stop, "trials": trials, "claims": claims}
    return dict(non_finite_as_text({**answer, **shown, **more}))


@router.get("/importance")
def importance(
    service: CurrentService, study: StudyId, target: Target = 0, method: Method = "fanova"
) -> dict[str, Any]:
    """Return how much each parameter matters for a target as `importance`, {} if that is unknown. Returns 404
    for an unknown study or target.

    Optuna's fANOVA and PED-ANOVA give shares that add up to 1, correlation an absolute value from 0 to 1 for
    each, and `forest` the fall of the explained share of ranks when a parameter is shuffled. `method` is the
    method used: the forest where `missing` names the package that the wanted one needs. `claims` say which
    parameters matter beyond chance, because shares add up to 1 for noise as well. Only complete
    trials count, as in Optuna: a pruned trial has the value of an earlier step.
    """
    chosen = _find(service, study)
    facts, path = chosen.facts, chosen.path
    if target >= len(facts["targets"]):
        raise ApiError(404, "unknown_target", f"The study has no target {target}.", target=target)
    complete = [trial for trial in facts["trials"] if trial["state"] in COMPLETE]
    name, values = facts["targets"][target]["name"], [trial["values"][target] for trial in complete]
    claims_key = ("claims", path, len(complete), target)
    known = _computed(service, claims_key, setting_importance, name, _parameters(complete), values)
    claims = [claim.as_json() for claim in _of_trials(known.claims, name, facts["trials"])]
    missing = missing_package(method)
    used = "forest" if missing else method
    shared = {"method": used, "missing": missing, "trials": len(complete), "claims": claims}
    if not known.columns:  # it is unknown what matters, and a share would say otherwise
        return {**shared, "importance": {}}
    if used == "correlation":
        return {**shared, "importance": dict(_correlations(complete, target))}
    if used == "forest":
        return {**shared, "importance": {column.key: column.importance for column in known.columns}}
    key = ("importance", path, len(complete), target, method)
    return {**shared, **_computed(service, key, study_importance, str(path), target, method)}


@router.get("/suggestions")
def suggestions(service: CurrentService, study: StudyId, count: Count = 3) -> dict[str, Any]:
    """Return the values that the sampler would try next as `suggestions`, queued trials first, null for a
    study of another workspace. Returns 404 for an unknown study. Only the journal of a study, in its
    workspace, has the state of its sampler."""
    chosen = _find(service, study)
    if chosen.published:
        return {"suggestions": None}
    path = chosen.path
    key = ("suggestions", path, len(chosen.facts["trials"]), path.stat().st_size, count)
    return {"suggestions": _computed(service, key, next_suggestions, str(path), count)}


@router.post("/stop")
def stop(service: CurrentService, order: StopOrder) -> dict[str, Any]:
    """Ask the tuner of a study to end its trials and to start no more. Returns 403 if others can reach the
    server and it has no token, 404 for an unknown study, 409 if no tuner is running in this workspace, and
    507 if the request cannot be stored.

    A study that is tuned from another workspace can only be stopped there.
    """
    chosen = _find(service, order.study)
    if not service.settings.guarded:
        raise ApiError(403, "may_not_stop", "Stopping a study requires a token. Restart the server with one.")
    if chosen.published:
        raise ApiError(409, "study_elsewhere", "The study is tuned from another workspace. Stop it there.")
    if not chosen.tuned:
        raise ApiError(409, "not_tuned", "No tuner is running on this study.")
    try:
        request_stop(chosen.path)
    except OSError as error:
        raise not_kept(error) from error
    return {"stopping": True}


def _find(service: Service, study: str) -> ShownStudy:
    """Return a study that this server shows. Raises ApiError: 404 if there is none, else the reason why its
    journal cannot be read."""
    failure = ApiError(404, "unknown_study", f"There is no study {study!r}.", study=study)
    for listed in (_journals, _published):
        for id_, load in listed(service):
            if id_ != study:
                continue
            try:
                if (known := load()) is not None:
                    return known
            except ApiError as error:
                failure = error
    raise failure


def _journals(service: Service) -> Iterator[tuple[str, Callable[[], ShownStudy | None]]]:
    """Yield id and reader of the journals in the workspace. A reader returns None for other directories."""

    def read_journal(path: Path) -> ShownStudy | None:
        facts = _facts(service, path)
        if not _is_shown(service, facts["summary_base_dir"]):
            return None
        return ShownStudy(path.stem, path, False, facts, is_tuned(path), path.stat().st_mtime)

    return ((path.stem, partial(read_journal, path)) for path in list_journals(service.settings.workspace))


def _published(service: Service) -> Iterator[tuple[str, Callable[[], ShownStudy | None]]]:
    """Yield id and reader of the studies that may be published beside runs. A reader returns None if none is
    there.
    """

    def read_file(id_: str, path: Path) -> ShownStudy | None:
        cache = service.parts.of(StudyCache)
        try:
            with opened(path) as file:
                state = os.fstat(file)
            stamp = (path, state.st_ino, state.st_size, state.st_mtime_ns)
            content = cache.published.get(stamp, lambda: read_published(path))
        except (FileNotFoundError, LinkError, SpecialFileError):
            return None
        except (OSError, ValueError) as error:
            raise _unreadable(error) from error
        base = path.parent.parent
        facts = content.model_dump(exclude={"version", "updated", "ended"})
        for trial in facts["trials"]:
            trial["run"] = str(base / trial["run"]) if trial["run"] else None
        facts |= {"name": path.parent.name, "stopping": False}
        return ShownStudy(id_, path, True, facts, False if content.ended else None, content.updated)

    runs = (run.path for run in service.store.snapshot().runs.values())
    mounts = [
        Path(path)
        for mount in mounts_of(service.settings.summary_base_dir)
        for path in (mount.path, mount.real)
    ]
    for path in published_files(runs, mounts):
        id_ = journal_path(Path(), path.parent.parent, path.parent.name).stem
        yield id_, partial(read_file, id_, path)


def _is_shown(service: Service, base: str) -> bool:
    """Return True if the runs of a study are below a base directory of this server, or in a directory that
    contains one."""
    real = Path(os.path.realpath(base))
    mounts = [Path(mount.real) for mount in mounts_of(service.settings.summary_base_dir)]
    return bool(base) and any(real.is_relative_to(m) or m.is_relative_to(real) for m in mounts)


def _facts(service: Service, path: Path) -> dict[str, Any]:
    """Return the current facts of a study. Raises ApiError if Optuna is missing or the journal is damaged."""
    cache = service.parts.of(StudyCache)
    stamp = path.stat()
    try:
        opened = cache.studies.get((path, stamp.st_ino), lambda: read_study(path))
        return study_facts(opened)
    except BadSettings as error:  # Optuna is not installed
        raise ApiError(503, MISSING, message("tuning.missing", {}), "tuning.missing") from error
    except Exception as error:  # Optuna raises various errors for a damaged journal
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> ApiError:
    """Return the error for a study that cannot be read."""
    why = f"{type(error).__name__}: {error}"
    return ApiError(500, "unreadable_study", f"The study cannot be read: {why}.", why=why)


def _computed(service: Service, key: tuple[Any, ...], function: Any, *arguments: Any) -> Any:
    """Return the result of a function of a study, computed in a worker process, once for each key."""
    results = service.parts.of(StudyCache).results
    return results.get(key, lambda: result_of(service.openers.submit(function, *arguments)))


def _of_trials(
    claims: Sequence[Claim], objective: str, trials: Sequence[Mapping[str, Any]]
) -> Iterator[Claim]:
    """Yield the claims about runs, reworded for trials, and a note that pruned trials are left out, if there
    are any."""
    for claim in claims:
        is_few = claim.key == "claim.lineage.too_few"
        yield replace(claim, key="claim.lineage.few_trials") if is_few else claim
    if pruned := sum(trial["state"] == "pruned" for trial in trials):
        yield Claim("claim.lineage.pruned", "note", {"n": pruned, "objective": objective})


def _parameters(trials: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each parameter by trial, None for a trial without it."""
    names = dict.fromkeys(name for trial in trials for name in trial["params"])
    return {name: [trial["params"].get(name) for trial in trials] for name in names}


def _correlations(trials: Sequence[dict[str, Any]], target: int) -> Iterator[tuple[str, float]]:
    """Yield name and absolute correlation of each parameter that has one."""
    values = np.array([trial["values"][target] for trial in trials], np.float64)
    for name, column in _parameters(trials).items():
        score = association(column, values)
        if score is not None and math.isfinite(score):
            yield name, score


PLUGIN = Plugin(name="tuning", router=router)
