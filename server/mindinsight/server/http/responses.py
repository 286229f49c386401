"""Answers with columns in them: raw bytes for our pages, JSON for scripts; the same content."""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.responses import Response

from mindinsight.server.http.column_encoding import as_json, pack

COLUMNS: Final = "application/vnd.mindinsight.columns"


def answer(content: Any, accept: str) -> Response:
    """``content``, a JSON value with arrays in it, in the form that the ``Accept`` header asks for."""
    if COLUMNS in accept:
        # Columns of sampled curves do not shrink enough to be worth another pass by the compressor.
        return Response(pack(content), media_type=COLUMNS, headers={"Content-Encoding": "identity"})
    text = json.dumps(as_json(content), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return Response(text, media_type="application/json")
