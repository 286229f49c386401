"""Plugin of alerts: routes for alert rules. The list is a direct route (`api/direct_routes.py`)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, model_validator

from mindinsight.server.errors import ApiError
from mindinsight.server.http import sse
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.http.openapi import ErrorBody, response
from mindinsight.server.http.service import Service
from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.alert.alert_cache import preview_claim
from mindinsight.server.store.formula_series import PREFIX, formula_of
from mindinsight.server.store.store import Changes
from mindinsight.server.types import Level
from mindinsight.server.workspace.alert_rules import BUILT_IN, MAX_RULES, MAX_TAGS, Condition, Rule
from mindinsight.server.workspace.json_store import Full, storing

_CONFLICT: Final = response("There are too many rules, or the rule cannot be deleted.", ErrorBody)
router = APIRouter(responses={409: _CONFLICT})
previews = APIRouter(route_class=PayloadRoute)  # their time depends on what is recorded
RuleId = Annotated[str, Query(alias="id", max_length=30)]
LONGEST_SILENCE = 525_600  # minutes: one year


class RuleBody(BaseModel):
    """Body of a rule: condition, tags and level. `limit` is a value, or minutes of silence.

    A rule fires on points recorded after it was added, by the points' clock, unless `recorded` is true. A
    change without `recorded` keeps the choice.
    """

    condition: Condition
    tags: str = Field(
        "*",
        min_length=1,
        max_length=MAX_TAGS,
        description="a tag, a pattern with * and ?, or = and a formula",
    )
    limit: float = Field(0.0, allow_inf_nan=False)
    level: Level = "warning"
    on: bool = True
    recorded: bool | None = Field(None, description="fire on points recorded before as well")

    @model_validator(mode="after")
    def _is_a_time(self) -> RuleBody:
        if self.condition == "silent" and not 0 < self.limit <= LONGEST_SILENCE:
            raise ValueError(f"limit is minutes, above 0 and at most {LONGEST_SILENCE}")
        return self

    def rule(self, since: float = 0.0) -> Rule:
        """Return the rule, for all points if `recorded` is true, for those from now on if it is false and
        `since` is 0, else for those since Unix time `since`. Raises ApiError for an invalid formula."""
        if self.tags.startswith(PREFIX):
            formula_of(self.tags)
        since = 0.0 if self.recorded else since or (time.time() if self.recorded is False else 0.0)
        return Rule(**self.model_dump(exclude={"recorded"}), since=since)


@router.get("/rules")
def rules(service: CurrentService) -> dict[str, Any]:
    """Return every rule with its `id` as `rules`, in the order of creation."""
    known = service.workspace.rules.all()
    rows = [{"id": name, "built_in": name in BUILT_IN, **asdict(rule)} for name, rule in known.items()]
    return {"rules": rows}


@previews.get("/rules/preview")
def preview(body: Annotated[RuleBody, Query()], service: CurrentService) -> dict[str, Any]:
    """Return the claim about the number of runs in which a rule fires on everything recorded. Returns 422
    for an invalid formula. Nothing is stored."""
    claim = preview_claim(service.store.snapshot(), replace(body.rule(), since=0.0), time.time())
    return {"claim": claim.as_json()}


@router.post("/rules")
def add(body: RuleBody, request: Request, service: CurrentService) -> dict[str, Any]:
    """Add a rule, unless there is one like it, notify open pages, and return all `rules`. Returns 422 for an
    invalid formula, and 409 if there are too many rules."""
    rule = body.rule(since=time.time())
    if rule in (replace(known, since=rule.since) for known in service.workspace.rules.all().values()):
        return rules(service)
    with _changing(request, service):
        service.workspace.rules.add(rule)
    return rules(service)


@router.put("/rules")
def change(rule_id: RuleId, body: RuleBody, request: Request, service: CurrentService) -> dict[str, Any]:
    """Replace a rule, notify open pages, and return all `rules`. Returns 404 for an unknown rule, and 422 for
    an invalid formula."""
    known = service.workspace.rules.all().get(rule_id)
    with _changing(request, service, rule_id):
        service.workspace.rules.change(rule_id, body.rule(since=known.since if known else 0.0))
    return rules(service)


@router.delete("/rules")
def forget(rule_id: RuleId, request: Request, service: CurrentService) -> dict[str, Any]:
    """Delete a rule, notify open pages, and return all remaining `rules`. Returns 404 for an unknown rule,
    and 409 for a built-in rule, which can only be switched off."""
    if rule_id in BUILT_IN:
        raise ApiError(409, "built_in_rule", "A built-in rule cannot be deleted. Switch it off instead.")
    with _changing(request, service, rule_id):
        service.workspace.rules.forget(rule_id)
    return rules(service)


@contextmanager
def _changing(request: Request, service: Service, rule_id: str = "") -> Iterator[None]:
    """Turn errors of the block into error responses, and notify every open page if it succeeds."""
    errors: dict[type[Exception], ApiError] = {
        KeyError: ApiError(404, "unknown_rule", f"There is no rule {rule_id!r}.", rule=rule_id),
        Full: ApiError(409, "many_rules", f"There are {MAX_RULES} rules.", n=MAX_RULES),
    }
    with storing(errors):
        yield
    hub: sse.Hub = request.app.state.hub
    hub.publish(Changes(service.store.snapshot().version, frozenset(), {}, list=True))


router.include_router(previews)
PLUGIN = Plugin(name="alert", router=router)
