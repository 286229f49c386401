"""Errors that are shown to a user or a client."""

import os
from typing import Any, Final

from mindinsight.server.texts import message, terminal_text

BUSY: Final = 503  # HTTP status "Service Unavailable": the client may ask again
RETRY_AFTER: Final = 2  # seconds; chosen, not measured: soon for a user, rare for a server


class ApiError(Exception):
    """Error response, for a script (code, message) and for a page (key, vars).

    `key` is a key of the locale files. `message` is English and contains no absolute path.
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
        """Return the headers of the response. A busy server says when to try again."""
        return {"Retry-After": str(RETRY_AFTER)} if self.status == BUSY else {}

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the response."""
        return {"error": {"code": self.code, "message": self.message, "key": self.key, "vars": self.vars}}


class Gone(Exception):  # noqa: N818
    """Error: the bytes of a reference no longer exist, because the file was removed, replaced or
    truncated.
    """


class BadSettings(Exception):  # noqa: N818
    """Error: invalid settings or arguments. The text says what to change."""


def problem(name: str, /, **words: object) -> str:
    """Return the text `cli.problem.<name>` in the language of the terminal."""
    return terminal_text(f"cli.problem.{name}", words)


def bad_settings(name: str, /, **words: object) -> BadSettings:
    """Return the error with the text `cli.problem.<name>`, in the language of the terminal."""
    return BadSettings(problem(name, **words))


def os_reason(error: OSError) -> str:
    """Return the reason that the operating system gives, in the language of the terminal if it has a text."""
    reason = error.strerror or str(error) or type(error).__name__
    plain = os.strerror(error.errno) if error.errno else reason  # sockets append the address
    for text in (reason, plain):
        key = f"cli.os.{text.lower().replace(' ', '_').replace(',', '')}"
        if (localized := terminal_text(key)) != key:
            return localized
    return reason


class ValueProblem(ValueError):  # noqa: N818
    """Error: an invalid value. Its text is English, and `key` and `words` give it in other languages."""

    def __init__(self, key: str, /, **words: object) -> None:
        super().__init__(message(key, words))
        self.key = key
        self.words = words


def unknown_run(run: str) -> ApiError:
    """Return the error for an unknown run."""
    return ApiError(404, "unknown_run", f"There is no run {run!r}.", run=run)


def unknown_tag(tag: str) -> ApiError:
    """Return the error for an unknown tag."""
    return ApiError(404, "unknown_tag", f"There is no tag {tag!r} in this run.", tag=tag)


def memory_short() -> ApiError:
    """Return the error for a request that needs more memory than the server has."""
    text = "The server has not enough memory for this request. Try again later, or request less data."
    return ApiError(503, "memory_short", text)


def not_kept(error: OSError) -> ApiError:
    """Return the error for data that could not be stored."""
    why = error.strerror or type(error).__name__
    return ApiError(507, "not_kept", f"This could not be stored: {why}.", why=why)
