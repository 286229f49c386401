"""Errors that a user or a client is told about."""

from __future__ import annotations

from typing import Any


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


def not_kept(error: OSError) -> ApiError:
    why = error.strerror or type(error).__name__
    return ApiError(507, "not_kept", f"This could not be kept: {why}.", why=why)
