"""Parser of arguments with help and errors from the locale files, in the language of the terminal."""

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn

_ERRORS: Final = {  # messages of argparse, and the keys of their texts
    "choice": re.compile(
        r"argument (?P<option>[^:]+): invalid choice: '?(?P<value>.*?)'? \(choose from (?P<choices>.*)\)"
    ),
    "value": re.compile(r"argument (?P<option>[^:]+): expected .*"),
    "required": re.compile(r"the following arguments are required: (?P<names>.*)"),
    "invalid": re.compile(r"argument (?P<option>[^:]+): invalid .* value: '(?P<value>.*)'"),
    "argument": re.compile(r"argument (?P<option>[^:]+): (?P<why>.*)"),
}
_QUOTED: Final = re.compile(r"[\w-]+")
EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {  # by command; each is parsed in the tests
    "": ("start --summary-base-dir ./summary", "ls --summary-dir ./summary"),
    "start": (
        "start --summary-base-dir ./summary",
        "start --summary-base-dir team=/data/runs --host 0.0.0.0 --port 9000",
    ),
    "stop": ("stop", "stop --port 9000"),
    "status": ("status", "status --port 9000"),
    "ls": ("ls --summary-dir ./summary", "ls --runs 'sweep*' --json"),
    "get": ("get run1 train/loss", "get 'sweep*' '*' --format json"),
    "export": ("export --output tables", "export --kind image --runs run1 --output pictures"),
    "compare": ("compare run2 run1", "compare run2 run1 --tolerance 1 --unit percent"),
    "report": ("report run1 --output run1.html", "report run1 --language zh"),
    "explain": ("explain run1", "explain run1 --summary-base-dir ./summary --json"),
    "site": (
        "site ./site --summary-base-dir ./summary",
        "site ./site --logdir lab=/data/lab",
    ),
    "open": ("open model.json", "open encoder.json decoder.json --port 9000"),
    "mcp": ("mcp --summary-base-dir ./summary", "mcp --summary-base-dir team=/data/runs"),
    "ckpt": ("ckpt ls net.ckpt", "ckpt diff before.safetensors after.safetensors"),
    "dump": ("dump check ./dump", "dump compare ./dump ./reference"),
    "tune": ("tune --config tuning.yaml --dry-run", "tune --config tuning.yaml --trials 50 --jobs 2"),
}
_BASE_OPTIONS: Final = ("--summary-base-dir", "--summary-dir")
_NOTHING: Final = ""  # the last of the names of a text that need not be


class Formatter(argparse.HelpFormatter):
    """Formatter with a localized heading of the usage."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Add the usage."""
        super().add_usage(usage, actions, groups, _text("usage") if prefix is None else prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Return text in lines of the width. Lines that are indented stay as they are."""
        lines = text.splitlines()
        return "\n".join(
            line if line.startswith(" ") else super(Formatter, self)._fill_text(line, width, indent)
            for line in lines
        )


class Parser(argparse.ArgumentParser):
    """Parser with one-line errors that suggest the option or command that was probably meant.

    The text of an option has the key `cli.<command>.<option>` or `cli.option.<option>`, that of a command
    `cli.<command>`. Parsers of subcommands have the same class.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Formatter, "allow_abbrev": False, **options})

    def format_help(self) -> str:
        """Return the help text of this command."""
        command = self.prog.removeprefix("mindinsight ").replace(" ", "_")
        words = {"conditions": self.get_default("conditions") or ""}
        self.description = _text(command, words=words)
        codes = _text(f"{command}.epilog", f"{command.partition('_')[0]}.epilog", _NOTHING)
        self.epilog = "\n".join(filter(None, (_examples(command), codes)))
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                path = "" if command == "mindinsight" else f"{command}_"
                for choice in action._choices_actions:
                    summary = _text(f"{path}{choice.dest}", words={"conditions": "…"})
                    choice.help = summary.replace("%", "%%")
            elif action.help != argparse.SUPPRESS:
                action.help = _option_text(command, action)
        for group in self._action_groups:
            group.title = _text(f"group.{group.title}", _NOTHING) or group.title
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Print the error in one line and exit with code 2."""
        for name, pattern in _ERRORS.items():
            if match := pattern.fullmatch(message):
                message = _error(name, match.groupdict())
                if name == "choice" and match["option"].isupper():
                    there = _error("none", match.groupdict())
                    message = _with_suggestion(there, match["value"], _QUOTED.findall(match["choices"]))
                break
        self.exit(2, _text("error", words={"prog": self.prog, "why": message}) + "\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, and return the namespace and an empty list. Exit with an error if the chosen
        subcommand does not define one of them. Only here are the options of the subcommand known."""
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            options = [name for action in self._actions for name in action.option_strings]
            what = _error(f"no_{'option' if rest[0].startswith('-') else 'argument'}", {"name": rest[0]})
            base = next((option for option in options if option in _BASE_OPTIONS), None)
            if base and Path(rest[0]).is_dir():
                self.error(_error("mean", {"why": what, "name": f"{base} {rest[0]}"}))
            self.error(_with_suggestion(what, rest[0].partition("=")[0], options))
        return known, rest


def _examples(command: str) -> str:
    """Return the examples of a command, or an empty text."""
    lines = EXAMPLES.get("" if command == "mindinsight" else command, ())
    shown = "".join(f"  mindinsight {line}\n" for line in lines)
    return f"{_text('examples')}\n{shown}" if shown else ""


def _error(name: str, words: Mapping[str, Any]) -> str:
    """Return the text of an error of the command line."""
    return _text(f"error.{name}", words=words)


def _text(*names: str, words: Any = None) -> str:
    """Return the text of the first existing key `cli.<name>`, or the first name if none exists."""
    from mindinsight.server.texts import language_texts, message, terminal_language

    language = terminal_language(os.environ)
    key = next((f"cli.{name}" for name in names if f"cli.{name}" in language_texts(language)), None)
    if key is None:
        return names[-1] and names[0]
    return message(key, words or {}, language)


def _option_text(command: str, action: argparse.Action) -> str:
    """Return the help of an option with its default, with percent signs doubled for argparse."""
    name = next((text for text in action.option_strings if text.startswith("--")), action.dest)
    name = name.lstrip("-").replace("-", "_")
    default = action.default
    shown = os.pathsep.join(default) if isinstance(default, list | tuple) else default
    return _text(f"{command}.{name}", f"option.{name}", words={"default": shown}).replace("%", "%%")


def _with_suggestion(text: str, word: str, known: Sequence[str]) -> str:
    close = get_close_matches(word, known, n=1)
    return _error("mean", {"why": text, "name": close[0]}) if close else text
