"""Messages in the language of the terminal."""

from collections.abc import Callable
from typing import Any

import pytest

from mindinsight.server.commands.messages import describe_reason, localize, report_damage, report_errors
from mindinsight.server.formats.dumps.types import FileDamage
from mindinsight.server.formats.unreadable import UnreadableError


@pytest.fixture
def locale(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """locale(LANG="zh_CN") sets these variables of the locale and no others."""

    def setter(**variables: Any) -> None:
        for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    setter()
    return setter


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"LANG": "en_GB.UTF-8"}, "the file is truncated"),
        ({"LANG": "zh_CN.UTF-8"}, "文件不完整"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "the file is truncated"),
        ({"LC_MESSAGES": "zh_TW"}, "文件不完整"),
        ({}, "the file is truncated"),
    ],
)
def test_damage_is_reported_in_the_language_of_the_terminal(
    locale: Callable[..., Any], capsys: pytest.CaptureFixture[str], variables: Any, text: str
) -> None:
    locale(**variables)
    report_damage([FileDamage("a.npy", "dump.truncated", "10 of 20 bytes")])
    assert capsys.readouterr().err == f"a.npy: {text} (10 of 20 bytes)\n"


def test_a_reason_without_a_text_is_printed_as_it_is(locale: Callable[..., Any]) -> None:
    assert describe_reason("no.such.reason", "detail") == "no.such.reason (detail)"


def test_names_in_messages_cannot_control_the_terminal(
    locale: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    report_damage([FileDamage("a\x1b[31m.npy", "dump.truncated", "b\nc")])
    assert capsys.readouterr().err == "a\\x1b[31m.npy: the file is truncated (b\\nc)\n"
    assert "\\x1b" in localize("claim.fault.made", {"operator": "\x1b[31m", "tensor": "t", "slot": "0"})


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UnreadableError("dump.truncated", "a.npy"), "mindinsight: the file is truncated (a.npy)\n"),
        (ValueError("no rank 3"), "mindinsight: no rank 3\n"),
        (
            PermissionError(13, "Permission denied", "out"),
            "mindinsight: [Errno 13] Permission denied: 'out'\n",
        ),
    ],
)
def test_errors_in_the_input_are_one_line_and_exit_code_2(
    locale: Callable[..., Any], capsys: pytest.CaptureFixture[str], error: Any, message: str
) -> None:
    def command(options: Any) -> None:
        raise error

    assert report_errors(command)(None) == 2  # type: ignore[arg-type]
    assert capsys.readouterr().err == message


def test_other_errors_and_closed_pipes_are_raised() -> None:
    for error in (BrokenPipeError(), KeyError("a bug")):

        def command(options: Any, error: Any = error) -> None:
            raise error

        with pytest.raises(type(error)):
            report_errors(command)(None)  # type: ignore[arg-type]
