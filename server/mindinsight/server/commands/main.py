"""Entry of the command line. Each module in `commands/` defines the subcommand of its name."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from mindinsight.server import commands
from mindinsight.server.commands.parser import Parser
from mindinsight.server.compute.plugin_modules import modules_of
from mindinsight.server.errors import BadSettings

_NOT_COMMANDS: Final = ("agent_tools", "main", "options", "parser", "terminal", "dump_selection")


def parser(command: str = "", action: str = "") -> argparse.ArgumentParser:
    """Return the parser of `command` if a module has that name, else of all commands; likewise of
    `action`. Only needed modules are imported. Abbreviated long options are rejected, because their
    meaning could change with a new option."""
    top = Parser(prog="mindinsight")
    top.add_argument("--version", action=_Version, nargs=0)
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND")
    subparsers.add_parser("help", help="").set_defaults(run=lambda _: _help(top))
    for module in modules_of(commands.__name__, commands.__path__, command, without=_NOT_COMMANDS):
        if actions := module.register(subparsers):
            name = f"{command}_{action}"
            for part in modules_of(module.__name__, module.__path__, name, without=_NOT_COMMANDS):
                part.register(actions)
    if command in ("", "help") or command not in subparsers.choices:
        _add_further(subparsers)
    return top


def _add_further(subparsers: Any) -> None:
    """Add the commands of other distributions. One that cannot be added is named."""
    from mindinsight.server import extensions
    from mindinsight.server.commands.terminal import localize, say

    for extension in extensions.loaded(extensions.COMMANDS):
        error = extension.error
        try:
            if not error and extension.name not in subparsers.choices:
                extension.value(subparsers)
        except Exception as failure:  # whatever it raises, the others work
            error = f"{type(failure).__name__}: {failure}"
        if error:
            words = {"name": extension.name, "distribution": extension.distribution, "why": error}
            say(localize("cli.extension_failed", words))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code. `arguments` are by default those of the process. Exits
    with 2 for wrong arguments."""
    arguments_given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments_given[:1] == ["help"] and arguments_given[1:]:
        arguments_given = [*arguments_given[1:], "--help"]
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what may follow, see docs/reference/commands.md
        complete(parser())
    top = parser(*arguments_given[:2])
    options = top.parse_args(arguments_given)
    if not hasattr(options, "run"):
        return _help(top)
    return exit_code_of(lambda: int(options.run(options)))


def complete(top: argparse.ArgumentParser) -> None:
    """Print completions for the shell and exit, if a shell asks for them, else return. Exit with 1 without
    the package argcomplete."""
    try:
        import argcomplete
    except ModuleNotFoundError:
        sys.exit(1)
    argcomplete.autocomplete(top)


def exit_code_of(command: Callable[[], int]) -> int:
    """Run a command and return its exit code: 1 after BadSettings, which is printed, 130 after Ctrl-C, 0 if
    the reader of a pipe has exited."""
    try:
        code = command()
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of the pipe has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # buffered output is flushed at exit
        return 0
    except BadSettings as error:
        from mindinsight.server.commands.terminal import say  # not needed by most commands

        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130


class _Version(argparse.Action):
    """Action that reads the installed version only when it is requested."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"mindinsight ({version('mindinsight')})")
        parser.exit()


def _help(top: argparse.ArgumentParser) -> int:
    top.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
