"""Parsers of v1's query parameters and bodies. Of repeated values the first counts."""

# without `from __future__ import annotations`, because FastAPI reads the annotations of nested functions

import json
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends, Query, Request

from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.store import file_names
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.v1.v1_responses import Fault, V1Error

REQUIRED: Final = "x-needed"  # marks required parameters in OpenAPI; routes report missing ones themselves
_NEEDED: Final = {REQUIRED: True}
_FIRST: Final = "the first value counts"


def first_value(values: list[str] | None) -> str | None:
    """Return the first value of a parameter, or None if it is absent. Raises V1Error for a null byte."""
    text = values[0] if values else None
    if text is not None and "\0" in text:
        raise V1Error(Fault.NULL_BYTE, "A parameter contains a null byte.")
    return text


def required(text: str | None, name: str) -> str:
    """Return the value of a required parameter. Raises V1Error if it is None or empty."""
    if not text:
        raise V1Error(Fault.MISSING, f"Parameter {name} is missing.")
    return text


def to_integer(text: str, name: str) -> int:
    """Parse an integer as `int` does: any sign and size, spaces around it. Raises V1Error for other text."""
    try:
        return int(text)
    except ValueError:
        raise V1Error(Fault.TYPE, f"Parameter {name} must be an integer.") from None


def optional_text(name: str, description: str = _FIRST, needed: bool = False) -> Any:
    """Return a FastAPI dependency: the first value of parameter `name`, or None if it is absent. With
    `needed`, OpenAPI calls the parameter required. The route reports its absence."""
    query = Query(alias=name, description=description, json_schema_extra=_NEEDED if needed else None)

    async def value(values: Annotated[list[str] | None, query] = None) -> str | None:
        return first_value(values)

    return Depends(value)


def required_text(name: str, description: str = _FIRST) -> Any:
    """Return a FastAPI dependency: the first value of parameter `name`, which raises V1Error without one.
    An empty value counts as none."""
    query = Query(alias=name, description=description, json_schema_extra=_NEEDED)

    async def value(values: Annotated[list[str] | None, query] = None) -> str:
        return required(first_value(values), name)

    return Depends(value)


def integer(name: str, default: int, low: int, high: int | None = None) -> Any:
    """Return a FastAPI dependency: parameter `name` as an integer from `low` to `high`, `default` if
    absent. The dependency raises V1Error if the value is no integer or outside of the limits. A `high` of
    None is no limit."""
    query = Query(alias=name, description=f"an integer; {_FIRST}")

    async def value(values: Annotated[list[str] | None, query] = None) -> int:
        text = first_value(values)
        number = default if text is None else to_integer(text, name)
        if text is not None and (number < low or (high is not None and number > high)):
            limit = f"at least {low}" if high is None else f"from {low} to {high}"
            raise V1Error(Fault.VALUE, f"Parameter {name} must be {limit}.")
        return number

    return Depends(value)


RequiredTexts: TypeAlias = Annotated[
    list[str] | None, Query(description="may be repeated", json_schema_extra=_NEEDED)
]
Texts: TypeAlias = Annotated[list[str] | None, Query(description="may be repeated")]
FullFlag: TypeAlias = Annotated[bool, Query(description="every recorded step instead of a sample")]
TrainId: TypeAlias = Annotated[str, required_text("train_id")]
Tag: TypeAlias = Annotated[str, required_text("tag")]
Page: TypeAlias = Annotated[int, integer("offset", 0, 0)]


async def raw_body(request: Request) -> bytes:
    """Return the raw body, which routes parse in their own thread. FastAPI dependency."""
    return await request.body()


RawBody: TypeAlias = Annotated[bytes, Depends(raw_body)]


def parse_json(body: bytes) -> Any:
    """Parse a body as JSON, whatever its content type says, or return None for an empty body. Raises V1Error
    if it is not JSON."""
    try:
        return json.loads(body) if body.strip() else None
    except (ValueError, RecursionError):
        raise V1Error(Fault.VALUE, "The body is not JSON.") from None


def is_train_id(text: str) -> bool:
    """Return True if a text has the form of a run's id: `./a`, or `./a/b` for the ranks of a job."""
    parts = text.split("/")
    return parts[0] == "." and len(parts) > 1 and all(part not in ("", ".", "..") for part in parts[1:-1])


def find_run(snapshot: Snapshot, train_id: str) -> Run:
    """Return the run with this id. No path is built, so that no id can lead out of the base directory. Raises
    V1Error if it is unknown."""
    run = snapshot.runs.get(train_id)
    if run is None:
        raise V1Error(Fault.JOB, "Parameter train_id does not match any train job.")
    return run


def loaded_run(snapshot: Snapshot, train_id: str) -> Run:
    """Return a run that has data to answer from. Raises V1Error if it is unknown or cannot be loaded."""
    run = find_run(snapshot, train_id)
    if not is_loadable(run):
        raise V1Error(Fault.JOB, "This train job cannot be loaded: it has no readable event or graph file.")
    return run


async def requested_run(service: CurrentService, train_id: TrainId) -> Run:
    """Return the run of `train_id`. FastAPI dependency. Raises V1Error if it is unknown or cannot
    be loaded."""
    return loaded_run(service.store.snapshot(), train_id)


LoadedRun: TypeAlias = Annotated[Run, Depends(requested_run)]


def is_loadable(run: Run) -> bool:
    """Return True if any event or graph file can be read. Lineage, profiles and dumps are not enough."""
    return any(file_names.role(file.name) in ("summary", "graph") and not file.error for file in run.files)
