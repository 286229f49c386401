"""OpenAPI description of v1: FastAPI's, corrected for parameters that the routes validate themselves."""

from __future__ import annotations

from typing import Any

from mindinsight.server.api.v1.parameters import REQUIRED


def complete(description: dict[str, Any]) -> dict[str, Any]:
    """Remove status 422, which v1 never returns, and mark required parameters; changes ``description``.

    Parameters whose absence is an error of v1's own are optional to FastAPI.
    """
    for path in description["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
            for parameter in operation.get("parameters", ()):
                if parameter["schema"].pop(REQUIRED, False):
                    parameter["required"] = True
    return description
