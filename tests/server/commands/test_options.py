"""The options of start for the base directories: on the command line and in the environment."""

import os
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.commands.options import add_options, settings_of, unused_option_messages
from mindinsight.server.commands.parser import Parser
from mindinsight.server.errors import BadSettings
from mindinsight.server.settings.base_dirs import Base


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bases(*arguments: Any, **environ: Any) -> Any:
    parser = Parser(prog="mindinsight start")
    add_options(parser, {"MINDINSIGHT_WORKSPACE": "/kept", **environ})
    return settings_of(parser.parse_args(arguments)).summary_base_dir


def test_the_current_directory_is_shown_unless_told_otherwise(here: Any) -> None:
    assert bases() == here
    assert bases("--summary-base-dir", "runs") == here / "runs"


def test_the_option_may_be_given_several_times(here: Any) -> None:
    given = bases("--summary-base-dir", "mine", "--summary-base-dir=lab=/data", "--summary-base-dir", "u/*")
    assert given == (
        Base(str(here / "mine")),
        Base("/data", "lab"),
        Base(str(here / "u/*"), pattern=True),
    )


def test_the_environment_gives_several_separated_as_in_path(here: Any) -> None:
    given = {"MINDINSIGHT_SUMMARY_BASE_DIR": os.pathsep.join(["mine", "lab=/data"])}
    assert bases(**given) == (Base(str(here / "mine")), Base("/data", "lab"))


def test_an_existing_directory_in_the_environment_is_one(here: Any) -> None:
    (here / f"a{os.pathsep}b").mkdir()
    assert bases(MINDINSIGHT_SUMMARY_BASE_DIR=f"a{os.pathsep}b") == here / f"a{os.pathsep}b"


def test_the_command_line_takes_the_place_of_the_environment(here: Any) -> None:
    assert bases("--summary-base-dir", "mine", MINDINSIGHT_SUMMARY_BASE_DIR="a:b") == here / "mine"


def test_two_command_lines_do_not_add_up(here: Any) -> None:
    parser = Parser(prog="mindinsight start")
    add_options(parser, {"MINDINSIGHT_WORKSPACE": "/kept"})
    for name in ("a", "b"):
        assert settings_of(parser.parse_args(["--summary-base-dir", name])).summary_base_dir == here / name


def test_what_cannot_be_shown_together_is_refused(here: Any) -> None:
    with pytest.raises(BadSettings, match="is inside"):
        bases("--summary-base-dir", "runs", "--summary-base-dir", "runs/mine")


def test_help_shows_the_defaults_that_the_environment_gives_whatever_they_are_called() -> None:
    parser = Parser(prog="mindinsight start")
    environ = {"WORKSPACE": "/a%s", "SUMMARY_BASE_DIR": "/100% %(x)d", "PORT": "8123", "TOKEN": "secret"}
    add_options(parser, {f"MINDINSIGHT_{name}": value for name, value in environ.items()})
    text = " ".join(parser.format_help().split())
    for shown in ("(default: /a%s)", "(default: /100% %(x)d)", "(default: 8123)"):
        assert shown in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max-graph-node-size", "5"),
        ("enable-debugger", "1"),
        ("debugger-port", "50052"),
        ("offline-debugger-mem-limit", "7000"),
    ],
)
def test_an_option_without_effect_is_accepted_and_says_so(name: str, value: str) -> None:
    parser = Parser(prog="mindinsight start")
    add_options(parser, {})
    assert unused_option_messages(parser.parse_args([])) == []
    (sentence,) = unused_option_messages(parser.parse_args([f"--{name}", value]))
    assert sentence.startswith(f"--{name} has no effect: ")
    add_options(
        other := Parser(prog="mindinsight start"), {f"MINDINSIGHT_{name.upper().replace('-', '_')}": value}
    )
    assert unused_option_messages(other.parse_args([])) == [sentence]
    assert f"--{name} " not in parser.format_help()


@pytest.mark.parametrize("token", ["short", "", "1234567", "12345678\n", "\x00" * 10])
def test_a_token_that_is_short_or_no_text_is_refused(
    here: Any, token: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = Parser(prog="mindinsight start")
    add_options(parser, {})
    with pytest.raises(SystemExit):
        parser.parse_args(["--token", token])
    assert "a token has" in capsys.readouterr().err


def test_the_shortest_token_is_said(here: Any) -> None:
    parser = Parser(prog="mindinsight start")
    add_options(parser, {})
    assert "at least 8 characters" in " ".join(parser.format_help().split())
    assert parser.parse_args(["--token", "12345678"]).token == "12345678"


@pytest.mark.parametrize("text", ["²", "--5", "", "1e3", "70000"])
def test_what_is_no_port_is_an_error_with_the_limits(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bases(f"--port={text}")
    assert "65535" in capsys.readouterr().err
