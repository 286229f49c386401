"""What v1 says of itself, as OpenAPI."""

from __future__ import annotations

from typing import Any

from mindinsight.server.api.v1.parameters import NEEDED


def corrected(description: dict[str, Any]) -> dict[str, Any]:
    """FastAPI's description as v1 answers: mistakes are told by its own codes, never by status 422.

    Parameters whose absence a route answers with an error of its own are optional to FastAPI; here they are
    marked as required. Changes and returns ``description``.
    """
    for path in description["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
            for parameter in operation.get("parameters", ()):
                if parameter["schema"].pop(NEEDED, False):
                    parameter["required"] = True
    return description
