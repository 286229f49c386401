"""Errors that a user or a client is told about."""

from __future__ import annotations

from typing import Any, Final

BUSY: Final = 503
RETRY_AFTER: Final = 2  # seconds: chosen, not measured; soon for a person, rare for a server


class ApiError(Exception):
    """Error response, for a script (code, message) and for a page (key, vars).

    ``key`` is a key of the locale files; ``message`` is English and names no absolute path.
    """

    def __init__(self, status: int, code: str, message: str, key: str = "", **variables: Any) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.key = key or f"error.{code}"
        self.vars = variables

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the response: when to ask again, where that may help."""
        return {"Retry-After": str(RETRY_AFTER)} if self.status == BUSY else {}

    def body(self) -> dict[str, Any]:
        return {"error": {"code": self.code, "message": self.message, "key": self.key, "vars": self.vars}}


class Gone(Exception):  # noqa: N818
    """Error: the bytes of a reference no longer exist, as the file was removed, replaced or truncated."""


class BadSettings(Exception):  # noqa: N818
    """Error: the server cannot start with these settings; the text says what to change."""


def unknown_run(run: str) -> ApiError:
    return ApiError(404, "unknown_run", f"There is no run {run!r}.", run=run)


def unknown_tag(tag: str) -> ApiError:
    return ApiError(404, "unknown_tag", f"There is no tag {tag!r} in this run.", tag=tag)


def memory_short() -> ApiError:
    text = "The server has no memory left for this. Ask again when it has less to do, or for less."
    return ApiError(503, "memory_short", text)


def not_kept(error: OSError) -> ApiError:
    why = error.strerror or type(error).__name__
    return ApiError(507, "not_kept", f"This could not be kept: {why}.", why=why)
