"""Options of `start`, with defaults from the environment, and options that commands share."""

import argparse
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from mindinsight.server import settings
from mindinsight.server.settings import LOCAL, MAX_RUNS, Settings, environment, scheduler_address, webhooks
from mindinsight.server.settings.base_dirs import bases_of, split
from mindinsight.server.texts import terminal_text

T = TypeVar("T")
Group: TypeAlias = argparse._ActionsContainer  # a parser, or a group of its options
Unused: TypeAlias = tuple[
    Callable[[str], object], object, str
]  # type, default, key of the reason for having no effect


def add_command(
    subparsers: Any, name: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Add the parser of a command that calls `run`, and return it."""
    parser: argparse.ArgumentParser = subparsers.add_parser(name, help="")
    parser.set_defaults(run=run)
    return parser


def resolve_path(text: str) -> Path:
    """Return the absolute path without symbolic links, because readers follow none."""
    return Path(os.path.realpath(Path(text).expanduser()))


_INTEGER: Final = re.compile(r"-?\d+", re.ASCII)
_GROUPS: Final = ("data", "network", "access", "alerts", "server")  # headings in the help of `start`
SHORTEST_TOKEN: Final = 8  # characters; shorter ones can be guessed over a network


def add_options(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add all options of `start`, in groups. Environment variables `MINDINSIGHT_*` are their defaults."""
    defaults = environment(environ)
    data, network, access, alerts, server = map(parser.add_argument_group, _GROUPS)

    def option(
        group: Group, name: str, kind: Callable[[str], object], default: object, *aliases: str
    ) -> None:
        key = name.replace("-", "_")
        used = defaults.get(key, default)
        group.add_argument(f"--{name}", *aliases, type=kind, default=used, metavar=key.upper())

    add_bases(data, split(defaults.get("summary_base_dir", ".")))
    option(data, "max-runs", number(1, 100_000), MAX_RUNS)
    option(data, "reload-interval", number(0, 300), 3, "--reload_interval")
    option(data, "watch", choice("auto", "events", "polling"), "auto")
    option(data, "allow-redirects-to", str, "")
    option(data, "workspace", Path, str(Path.home() / "mindinsight"))
    add_flag(data, "no-cache")
    add_flag(data, "allow-delete")
    option(network, "port", number(1, 65535), 8080)
    option(network, "host", str, "127.0.0.1")
    network.add_argument("--bind_all", action="store_const", dest="host", const="0.0.0.0")
    option(network, "url-path-prefix", argument_type(settings.clean_prefix), "", "--path_prefix")
    option(access, "token", token, None)
    add_flag(access, "no-token")
    option(access, "allow-host", str, "")
    option(access, "allow-frame", str, "")
    option(alerts, "webhook", argument_type(webhooks), "")
    option(server, "workers", number(1, 256), min(4, os.cpu_count() or 1))
    add_executor(server, defaults.get("executor", LOCAL))
    option(server, "max-offline-debugger-session-num", number(1, 2), 2)
    add_flag(server, "foreground")
    for name, (kind, default, _) in unused_options().items():
        used = defaults.get(name.replace("-", "_"), default)
        parser.add_argument(f"--{name}", type=kind, default=used, help=argparse.SUPPRESS)


def add_flag(parser: Group, name: str) -> None:
    """Add an option without a value, which is False by default."""
    parser.add_argument(f"--{name}", action="store_true")


def add_json(parser: Group) -> None:
    """Add the option that prints JSON."""
    add_flag(parser, "json")


def add_runs(parser: Group) -> None:
    """Add the options that select base directories and the runs below them."""
    add_bases(parser)
    parser.add_argument("--runs", default="*")


def add_executor(parser: Group, default: str = LOCAL) -> None:
    """Add the option for the executor that measures and compares tensors."""
    parse = argument_type(lambda text: text if text == LOCAL else scheduler_address(text))
    parser.add_argument("--executor", type=parse, default=default, metavar="EXECUTOR")


def argument_type(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Return an argument type that shows the ValueError of `parse` to the user, which argparse would hide."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parsed


def add_bases(parser: Group, default: Sequence[str] = (".",)) -> None:
    """Add the option for the base directories, which can be repeated, in all of its spellings."""
    names = ("--summary-base-dir", "--summary-dir", "--logdir")
    parser.add_argument(*names, action=_AppendBase, default=default, metavar="DIR")


class _AppendBase(argparse.Action):
    """Action that appends a value. The first value replaces the default."""

    def __call__(
        self, parser: object, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*(() if before is self.default else before), values])


_UNCHANGED: Final = (  # options with the value of the setting of the same name
    *("host", "port", "url_path_prefix", "reload_interval", "watch", "workers", "executor", "max_runs"),
    "max_offline_debugger_session_num",
)


def settings_of(options: argparse.Namespace) -> Settings:
    """Return the settings of a server that the options of `start` describe. Draw a random token if other
    machines can reach the port, unless it is given or declined. Raises BadSettings for conflicting base
    directories."""
    workspace = options.workspace.expanduser().absolute()
    return Settings(
        summary_base_dir=bases_of(options.summary_base_dir, workspace),
        workspace=workspace,
        cache=not options.no_cache,
        allow_delete=options.allow_delete,
        token=_token(options),
        allowed_hosts=_names(options.allow_host),
        frame_ancestors=_names(options.allow_frame),
        allow_redirects_to=_names(options.allow_redirects_to),
        webhooks=options.webhook,
        **{name: getattr(options, name) for name in _UNCHANGED},
    )


def _token(options: argparse.Namespace) -> str | None:
    """Return the token of the options, a random one if other machines can reach the port, or None for
    --no-token.
    """
    if options.no_token:
        return None
    if options.token:
        return str(options.token)
    return None if settings.is_loopback(options.host) else secrets.token_urlsafe(24)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def unused_option_messages(options: argparse.Namespace) -> list[str]:
    """Return a message for each option that was given a value although it has no effect."""
    return [
        terminal_text("cli.no_effect", {"name": name, "why": terminal_text(reason)})
        for name, (kind, default, reason) in unused_options().items()
        if getattr(options, name.replace("-", "_")) != kind(str(default))
    ]


def unused_options() -> Mapping[str, Unused]:
    """Return type, default, and the key of the reason for having no effect, by name, of the options of
    earlier versions. They are accepted so that scripts keep working."""
    return {
        "max-graph-node-size": (number(1, 2_000_000), 100_000, "cli.unused.graph"),
        "enable-debugger": (boolean, False, "cli.unused.debugger"),
        "debugger-port": (number(1, 65535), 50051, "cli.unused.debugger_port"),
        "offline-debugger-mem-limit": (number(6144, 2**31 - 1), 16384, "cli.unused.dumps"),
        "samples_per_plugin": (str, "", "cli.unused.samples"),
        "load_fast": (str, "auto", "cli.unused.loader"),
        "reload_multifile": (str, "", "cli.unused.multifile"),
        "max_reload_threads": (number(1, 256), 1, "cli.unused.threads"),
        "purge_orphaned_data": (str, "", "cli.unused.purge"),
    }


def token(text: str) -> str:
    """Return ``text`` if it is a valid token. Raises ArgumentTypeError if it has fewer than 8 characters, or
    control characters."""
    if len(text) < SHORTEST_TOKEN:
        raise argparse.ArgumentTypeError(terminal_text("cli.error.short_token", {"n": SHORTEST_TOKEN}))
    if not text.isprintable():
        raise argparse.ArgumentTypeError(terminal_text("cli.error.control_token"))
    return text


def number(low: int, high: int) -> Callable[[str], int]:
    """Return an argument type for an integer from `low` to `high`, which raises ArgumentTypeError for other
    text."""

    def parse(text: str) -> int:
        if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(
                terminal_text("cli.error.number", {"value": text, "low": low, "high": high})
            )
        return int(text)

    return parse


def choice(*allowed: str) -> Callable[[str], str]:
    """Return an argument type for one of the allowed texts. It raises ArgumentTypeError for any other."""

    def parse(text: str) -> str:
        if text not in allowed:
            raise argparse.ArgumentTypeError(
                terminal_text("cli.error.one_of", {"value": text, "choices": ", ".join(allowed)})
            )
        return text

    return parse


def boolean(text: str) -> bool:
    """Parse a boolean: True, False, 1 or 0, in any case. Raises ArgumentTypeError for other text."""
    if text.lower() not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(terminal_text("cli.error.boolean", {"value": text}))
    return text.lower() in ("true", "1")
