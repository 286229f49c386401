"""Routes for studies of hyper-parameter tuning: progress, trials, importance, suggestions, and the request
to stop.
"""

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import BaseModel

from mindinsight.server.cancellation import result_of
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.curves.importance import association
from mindinsight.server.curves.importance import importance as setting_importance
from mindinsight.server.errors import ApiError, BadSettings, not_kept
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.http.service import Service
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.mounts import mounts_of
from mindinsight.server.texts import message
from mindinsight.server.tuning.samplers import next_suggestions
from mindinsight.server.tuning.study import is_tuned, list_journals, read_study, request_stop
from mindinsight.server.tuning.study_facts import study_facts, study_importance

router = APIRouter(route_class=PayloadRoute)

StudyId = Annotated[str, Query(description="id from v2/tuning/studies", max_length=300)]
Target = Annotated[int, Query(ge=0, le=100)]
Count = Annotated[int, Query(ge=1, le=20)]
Method = Literal["fanova", "ped_anova", "correlation"]

MISSING = "tune_missing"
_OPEN = 64  # journals that stay parsed
_FRESH = ("name", "targets", "progress", "stopping")


class StopOrder(BaseModel):
    """Study to stop."""

    study: str


class StudyCache:
    """Parsed journals by path, and the results computed from them."""

    def __init__(self) -> None:
        self.studies: LruCache[Any] = LruCache(_OPEN)
        self.results: LruCache[Any] = LruCache(_OPEN)


@router.get("/studies")
def studies(service: CurrentService) -> dict[str, Any]:
    """Return the studies of this server's base directories, newest first, with their progress.

    `missing` names the package that has to be installed to read them.
    """
    summaries, missing, unreadable = [], None, 0
    for path in list_journals(service.settings.workspace):
        try:
            facts = _facts(service, path)
        except ApiError as error:
            if error.code == MISSING:
                missing = error.message
                break
            unreadable += 1
            continue
        if _is_shown(service, facts["summary_base_dir"]):
            brief = {key: facts[key] for key in _FRESH}
            updated = path.stat().st_mtime
            summaries.append({"id": path.stem, "tuned": is_tuned(path), "updated": updated, **brief})
    summaries.sort(key=lambda study: -study["updated"])
    return {"studies": summaries, "missing": missing, "unreadable": unreadable}


@router.get("/study")
def study(service: CurrentService, study: StudyId) -> dict[str, Any]:
    """Return all facts of one study.

    `tuned` is true while a tuner is running, `may_stop` if the client may stop it. The run of a trial is the
    id of the run on this server, null if it is not one.
    """
    path = _journal(service, study)
    facts = _facts(service, path)
    ids = {run.path: run.id for run in service.store.snapshot().runs.values()}
    real = {os.path.realpath(folder): run_id for folder, run_id in ids.items()}
    for trial in facts["trials"]:
        folder = trial["run"]
        trial["run"] = ids.get(folder) or real.get(os.path.realpath(folder)) if folder else None
    answer = {"id": study, "tuned": is_tuned(path), "may_stop": service.settings.guarded, **facts}
    del answer["command"], answer["summary_base_dir"]
    return dict(non_finite_as_text(answer))


@router.get("/importance")
def importance(
    service: CurrentService, study: StudyId, target: Target = 0, method: Method = "fanova"
) -> dict[str, Any]:
    """Return how much each parameter matters for a target.

    Optuna's fANOVA and PED-ANOVA give shares that add up to 1, correlation an absolute value from 0 to 1 for
    each. `method` is the method used. `claims` say which parameters matter beyond chance, because shares add
    up to 1 for noise as well.
    """
    path = _journal(service, study)
    facts = _facts(service, path)
    if target >= len(facts["targets"]):
        raise ApiError(404, "unknown_target", f"The study has no target {target}.", target=target)
    complete = [trial for trial in facts["trials"] if trial["state"] in ("complete", "imported")]
    name, values = facts["targets"][target]["name"], [trial["values"][target] for trial in complete]
    claims_key = ("claims", path, len(complete), target)
    known = _computed(service, claims_key, setting_importance, name, _parameters(complete), values)
    claims = [claim.as_json() for claim in known.claims]
    if not known.columns:  # it is unknown what matters, and a share would say otherwise
        return {"method": method, "importance": {}, "trials": len(complete), "claims": claims}
    if method == "correlation":
        correlations = dict(_correlations(complete, target))
        return {"method": method, "importance": correlations, "trials": len(complete), "claims": claims}
    key = ("importance", path, len(complete), target, method)
    return {**_computed(service, key, study_importance, str(path), target, method), "claims": claims}


@router.get("/suggestions")
def suggestions(service: CurrentService, study: StudyId, count: Count = 3) -> dict[str, Any]:
    """Return the values that the sampler would try next, queued trials first."""
    path = _journal(service, study)
    key = ("suggestions", path, len(_facts(service, path)["trials"]), path.stat().st_size, count)
    return {"suggestions": _computed(service, key, next_suggestions, str(path), count)}


@router.post("/stop")
def stop(service: CurrentService, order: StopOrder) -> dict[str, Any]:
    """Ask the tuner of a study to end its trials and to start no more."""
    path = _journal(service, order.study)
    if not service.settings.guarded:
        raise ApiError(403, "may_not_stop", "Stopping a study requires a token. Restart the server with one.")
    if not is_tuned(path):
        raise ApiError(409, "not_tuned", "No tuner is running on this study.")
    try:
        request_stop(path)
    except OSError as error:
        raise not_kept(error) from error
    return {"stopping": True}


def _journal(service: Service, study: str) -> Path:
    """Return the journal of a study that this server shows. Raises ApiError 404."""
    for path in list_journals(service.settings.workspace):
        if path.stem == study and _is_shown(service, _facts(service, path)["summary_base_dir"]):
            return path
    raise ApiError(404, "unknown_study", f"There is no study {study!r}.", study=study)


def _is_shown(service: Service, base: str) -> bool:
    """Return True if the runs of a study are below, or around, a base directory of this server."""
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
        why = f"{type(error).__name__}: {error}"
        raise ApiError(500, "unreadable_study", f"The study cannot be read: {why}.", why=why) from error


def _computed(service: Service, key: tuple[Any, ...], function: Any, *arguments: Any) -> Any:
    """Return the result of a function of a journal, computed in a worker process, once for each key."""
    results = service.parts.of(StudyCache).results
    return results.get(key, lambda: result_of(service.openers.submit(function, *arguments)))


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
