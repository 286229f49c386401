"""Help and errors of every command are in the language of the terminal, and say which word was meant."""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mindinsight.server.commands.main import main, parser
from mindinsight.server.commands.parser import EXAMPLES, Parser
from mindinsight.server.texts import language_texts

ROOT = Path(__file__).parents[3]
ENGLISH = re.compile(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}")  # three words: names of tools are shorter


def parsers(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of all its commands."""
    yield top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers(command)


@pytest.mark.parametrize("command", [*parsers(parser())], ids=lambda command: command.prog)
def test_help_has_a_text_for_everything_in_both_languages(
    command: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language, start in (("en_US.UTF-8", "usage: "), ("zh_CN.UTF-8", "用法：")):
        monkeypatch.setenv("LC_ALL", language)
        text = command.format_help()
        assert text.startswith(start)
        assert "cli." not in text
        assert "option." not in text
        for action in command._actions:
            assert action.help or isinstance(action, argparse._SubParsersAction)
    texts = [line for line in text.splitlines() if not line.startswith("  mindinsight ")]
    assert not ENGLISH.search("\n".join(texts).partition("\n\n")[2])
    assert not text.endswith(("none\n", "无\n"))


LISTED = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
TOP = [name for name in LISTED.choices if name not in ("help", "parse_summary")]


@pytest.mark.parametrize("command", ["", *TOP])
def test_a_command_has_two_examples_that_are_understood(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    examples = EXAMPLES[command]
    assert len(examples) == 2
    with pytest.raises(SystemExit):
        main([command, "--help"] if command else ["--help"])
    shown = capsys.readouterr().out
    for example in examples:
        assert f"  mindinsight {example}\n" in shown
        arguments = shlex.split(example)
        assert not command or arguments[0] == command
        assert callable(parser(*arguments[:2]).parse_args(arguments).run)


def reference(monkeypatch: pytest.MonkeyPatch) -> str:
    """The commands and their options as the help gives them, in English and 100 characters wide."""
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("HOME", "/home/user")
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    parts = [
        "# Commands\n\nWhat `--help` says, of every command and action. Options of `start` are also read\n"
        "from `MINDINSIGHT_*` variables.\n\n"
        "A shell completes commands, options and paths after `pip install 'mindinsight[completion]'`, with\n"
        "this line in its start file:\n\n"
        '```text\neval "$(register-python-argcomplete mindinsight)"              bash, zsh\n'
        "register-python-argcomplete --shell fish mindinsight | source    fish\n```\n"
    ]
    for command in parsers(parser()):
        parts.append(f"\n## {command.prog}\n\n```text\n{command.format_help().rstrip()}\n```\n")
    return "".join(parts)


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="another argparse")
def test_the_reference_of_commands_is_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """WRITE_REFERENCE=1 writes it."""
    text, path = reference(monkeypatch), ROOT / "docs" / "reference" / "commands.md"
    if os.environ.get("WRITE_REFERENCE"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["lss"], "没有“lss”，是否想用 ls？"),
        (["ls", "--jso"], "没有选项 --jso，是否想用 --json？"),
        (["ls", "more"], "不接受参数“more”"),
        (["get"], "缺少必需的参数：RUN, TAG"),
        (["ls", "--runs"], "--runs 需要一个值"),
        (["get", "a", "b", "--format", "x"], "--format：“x”不在 'csv', 'json' 之中"),
        (["compare", "a", "b", "--tolerance", "x"], "--tolerance：“x”无效"),
        (["compare", "a", "b", "--tolerance", "-1"], "--tolerance：-1 不是容差：应为不小于 0 的有限数"),
        (["stop", "--port", "x"], "--port：“x”不是 1 到 65535 的整数"),
    ],
)
def test_errors_are_in_the_language_of_the_terminal(
    arguments: list[str], why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    prog = error.partition("：")[0]
    assert error.replace('"', "'") == f"{prog}：{why}（参见 {prog} --help）\n"


def test_no_message_is_the_help_of_an_option() -> None:
    """A key of a message such as ``cli.open.workspace`` would be the help of `open --workspace`."""
    texts = language_texts("en")
    for command in parsers(parser()):
        name = command.prog.removeprefix("mindinsight ").replace(" ", "_")
        for action in command._actions:
            for option in action.option_strings or [action.dest]:
                key = f"cli.{name}.{option.lstrip('-').replace('-', '_')}"
                assert set(re.findall(r"\{(\w+)\}", texts.get(key, ""))) <= {"default"}


def test_every_command_takes_base_directories_by_the_same_options() -> None:
    names = {"--summary-base-dir", "--summary-dir", "--logdir"}
    own = [{*action.option_strings} for command in parsers(parser()) for action in command._actions]
    taking = [options & names for options in own if "--summary-base-dir" in options]
    assert len(taking) >= 9
    assert [options for options in taking if options != names] == []
