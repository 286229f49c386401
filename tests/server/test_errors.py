"""What a script and a page are told of an error, and that no path of the server is in it."""

import errno

import pytest

from mindinsight.server.errors import ApiError, not_kept, unknown_run, unknown_tag


def test_a_body_has_the_code_for_scripts_and_the_key_for_pages() -> None:
    assert ApiError(422, "bad_axis", "x is step.", x="y").body() == {
        "error": {"code": "bad_axis", "message": "x is step.", "key": "error.bad_axis", "vars": {"x": "y"}}
    }
    assert ApiError(404, "gone", "Gone.", "dump.gone").body()["error"]["key"] == "dump.gone"


@pytest.mark.parametrize(
    ("error", "code"), [(unknown_run("./a"), "unknown_run"), (unknown_tag("./a"), "unknown_tag")]
)
def test_what_is_not_there_is_named(error: ApiError, code: str) -> None:
    assert (error.status, error.code) == (404, code)
    assert "'./a'" in error.message
    assert "./a" in error.vars.values()


def test_a_write_that_failed_says_why_and_not_where() -> None:
    error = not_kept(OSError(errno.ENOSPC, "No space left on device", "/home/me/file"))
    assert (error.status, error.code) == (507, "not_kept")
    assert error.message == "This could not be stored: No space left on device."
    assert not_kept(TimeoutError()).vars == {"why": "TimeoutError"}
