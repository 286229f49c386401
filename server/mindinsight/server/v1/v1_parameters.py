"""Parsers of v1's query parameters and bodies. Of repeated values the first counts."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends, Query, Request

from mindinsight.server.store import file_names
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.v1.v1_responses import Fault, V1Error

REQUIRED: Final = "x-needed"  # marks required parameters in OpenAPI; routes report missing ones themselves

Text: TypeAlias = Annotated[list[str] | None, Query(description="the first value counts")]
RequiredText: TypeAlias = Annotated[
    list[str] | None, Query(description="the first value counts", json_schema_extra={REQUIRED: True})
]
RequiredNumber: TypeAlias = Annotated[
    list[str] | None,
    Query(description="an integer; the first value counts", json_schema_extra={REQUIRED: True}),
]
RequiredTexts: TypeAlias = Annotated[
    list[str] | None, Query(description="may be repeated", json_schema_extra={REQUIRED: True})
]
Number: TypeAlias = Annotated[list[str] | None, Query(description="an integer; the first value counts")]
Texts: TypeAlias = Annotated[list[str] | None, Query(description="may be repeated")]
FullFlag: TypeAlias = Annotated[bool, Query(description="every recorded step instead of a sample")]


def first_value(values: list[str] | None) -> str | None:
    """Return the first value of a parameter, or None if it is absent. Raises V1Error for a null byte."""
    text = values[0] if values else None
    if text is not None and "\0" in text:
        raise V1Error(Fault.NULL_BYTE, "A parameter contains a null byte.")
    return text


def required(values: list[str] | None, name: str) -> str:
    """Return the first value of a required parameter. Raises V1Error if it is absent or empty."""
    text = first_value(values)
    if not text:
        raise V1Error(Fault.MISSING, f"Parameter {name} is missing.")
    return text


def integer(values: list[str] | None, name: str, default: int, low: int, high: int | None = None) -> int:
    """Parse an integer from `low` to `high`, None for no limit. Raises V1Error."""
    text = first_value(values)
    if text is None:
        return default
    number = to_integer(text, name)
    if number < low or (high is not None and number > high):
        limit = f"at least {low}" if high is None else f"from {low} to {high}"
        raise V1Error(Fault.VALUE, f"Parameter {name} must be {limit}.")
    return number


def to_integer(text: str, name: str) -> int:
    """Parse an integer as `int` does: any sign and size, spaces around it. Raises V1Error."""
    try:
        return int(text)
    except ValueError:
        raise V1Error(Fault.TYPE, f"Parameter {name} must be an integer.") from None


async def raw_body(request: Request) -> bytes:
    """FastAPI dependency. Return the raw body, which routes parse in their own thread."""
    return await request.body()


RawBody: TypeAlias = Annotated[bytes, Depends(raw_body)]


def parse_json(body: bytes) -> Any:
    """Parse a body as JSON, whatever its content type. Return None for an empty one. Raises V1Error."""
    try:
        return json.loads(body) if body.strip() else None
    except (ValueError, RecursionError):
        raise V1Error(Fault.VALUE, "The body is not JSON.") from None


def body_schema(description: str) -> dict[str, Any]:
    """Return the OpenAPI description of a body that the route parses itself."""
    content = {"application/json": {"schema": {"type": "object"}}}
    return {"requestBody": {"description": description, "content": content}}


def is_train_id(text: str) -> bool:
    """Return True if a text has the form of a run's id: `./a`, or `./a/b` for the ranks of a job."""
    parts = text.split("/")
    return parts[0] == "." and len(parts) > 1 and all(part not in ("", ".", "..") for part in parts[1:-1])


def find_run(snapshot: Snapshot, train_id: str) -> Run:
    """Return the run with this id. No path is built, so that no id can lead out of the base directory.

    Raises V1Error if it is unknown.
    """
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


def is_loadable(run: Run) -> bool:
    """Return True if any event or graph file can be read. Lineage, profiles and dumps are not enough."""
    return any(file_names.role(file.name) in ("summary", "graph") and not file.error for file in run.files)
