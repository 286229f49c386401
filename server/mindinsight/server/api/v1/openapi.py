"""OpenAPI description of v1: FastAPI's, completed by what the routes check themselves."""

from __future__ import annotations

from typing import Any

from mindinsight.server.api.v1.parameters import NEEDED


def complete(description: dict[str, Any]) -> dict[str, Any]:
    """FastAPI's description without status 422, which v1 never answers: its errors have codes of their own.

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
