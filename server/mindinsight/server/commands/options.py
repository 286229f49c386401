"""Options of `start`, with defaults from the environment, and options that commands share."""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from mindinsight.server.settings import (
    LOCAL,
    MAX_RUNS,
    Settings,
    clean_prefix,
    environment,
    is_loopback,
    scheduler_address,
    webhooks,
)
from mindinsight.server.settings.base_dirs import bases_of, split

T = TypeVar("T")
Unused: TypeAlias = tuple[Callable[[str], object], object, str]  # type, default, reason for having no effect


def add_command(
    subparsers: Any, name: str, run: Callable[[argparse.Namespace], int], text: str, **options: Any
) -> argparse.ArgumentParser:
    """Add the parser of a command. `text` is its help and, by default, its description."""
    arguments = {"help": text, "description": text, "allow_abbrev": False, **options}
    parser: argparse.ArgumentParser = subparsers.add_parser(name, **arguments)
    parser.set_defaults(run=run)
    return parser


def resolve_path(text: str) -> Path:
    """Return the absolute path without symbolic links, because readers follow none."""
    return Path(os.path.realpath(Path(text).expanduser()))


SHORTEST_TOKEN: Final = 8  # characters; shorter ones can be guessed over a network


def add_options(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add all options of `start`. Variables `MINDINSIGHT_*` of the environment are their defaults."""
    defaults = environment(environ)

    def option(name: str, kind: Callable[[str], object], default: object, text: str, *aliases: str) -> None:
        key = name.replace("-", "_")
        used = defaults.get(key, default)
        shown = _with_default(text, used) if default not in (None, "") else text
        names = (f"--{name}", *aliases)
        parser.add_argument(*names, type=kind, default=used, help=shown, metavar=key.upper())

    add_bases(parser, "--summary-base-dir", "--logdir", default=split(defaults.get("summary_base_dir", ".")))
    option("workspace", Path, str(Path.home() / "mindinsight"), "directory for cache, notes and logs")
    option("port", number(1, 65535), 8080, "port to listen on")
    option("host", str, "127.0.0.1", "address to listen on; other than loopback addresses require a token")
    text = "prefix of all URL paths, such as /team/mindinsight"
    option("url-path-prefix", argument_type(clean_prefix), "", text, "--path_prefix")
    text = "seconds between scans of the files; 0 scans once"
    option("reload-interval", number(0, 300), 3, text, "--reload_interval")
    text = "how changes are detected: auto, events, polling"
    option("watch", choice("auto", "events", "polling"), "auto", text)
    option("workers", number(1, 256), min(4, os.cpu_count() or 1), "number of processes that read files")
    option("max-runs", number(1, 100_000), MAX_RUNS, "number of run directories that are shown, the newest")
    add_executor(parser, defaults.get("executor", LOCAL))
    text = f"require this access token of at least {SHORTEST_TOKEN} characters"
    option("token", token, None, f"{text} (default: a random one when --host is not a loopback address)")
    option("allow-host", str, "", "additional host names to accept, separated by commas")
    option("allow-frame", str, "", "origins that may embed the pages in a frame, separated by commas")
    option("allow-redirects-to", str, "", "hosts that stores on web servers may redirect to, by commas")
    option(
        "webhook",
        argument_type(webhooks),
        "",
        "post alerts to [json|slack|feishu|dingtalk=]URL; several in quotes",
    )
    option("max-offline-debugger-session-num", number(1, 2), 2, "maximum number of concurrent dump sessions")
    parser.add_argument(
        "--bind_all", action="store_const", dest="host", const="0.0.0.0", help="the same as --host 0.0.0.0"
    )
    parser.add_argument(
        "--no-token", action="store_true", help="require no token: serve anyone who can reach the port"
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="do not keep an index of the files in the workspace"
    )
    parser.add_argument("--foreground", action="store_true", help="run in the foreground until Ctrl-C")
    for name, (kind, default, _) in unused_options().items():
        used = defaults.get(name.replace("-", "_"), default)
        parser.add_argument(f"--{name}", type=kind, default=used, help=argparse.SUPPRESS)


def add_executor(parser: argparse.ArgumentParser, default: str = LOCAL) -> None:
    """Add the option for the executor that measures and compares tensors."""
    text = "executor for dumps and checkpoints: local processes, or the workers of dask://SCHEDULER:8786"
    parse = argument_type(lambda text: text if text == LOCAL else scheduler_address(text))
    parser.add_argument(
        "--executor", type=parse, default=default, help=_with_default(text, default), metavar="EXECUTOR"
    )


def argument_type(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Return an argument type that shows the ValueError of `parse` to the user, which argparse would hide."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parsed


def add_bases(parser: argparse.ArgumentParser, *names: str, default: Sequence[str] = (".",)) -> None:
    """Add the option for the base directories, which can be repeated."""
    text = "directory of one or more runs; may be repeated, also as NAME=DIR or as a quoted pattern"
    shown = _with_default(text, os.pathsep.join(default))
    parser.add_argument(*names, action=_AppendBase, default=default, help=shown, metavar="DIR")


def _with_default(text: str, default: object) -> str:
    """Return a help text with a default. Percent signs are doubled, because argparse interpolates them."""
    return f"{text} (default: {default})".replace("%", "%%")


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
    """Return the settings that the options describe."""
    workspace = options.workspace.expanduser().absolute()
    return Settings(
        summary_base_dir=bases_of(options.summary_base_dir, workspace),
        workspace=workspace,
        cache=not options.no_cache,
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
    return None if is_loopback(options.host) else secrets.token_urlsafe(24)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def unused_option_messages(options: argparse.Namespace) -> list[str]:
    """Return a message for each option that was given a value although it has no effect."""
    return [
        f"--{name} has no effect: {reason}."
        for name, (kind, default, reason) in unused_options().items()
        if getattr(options, name.replace("-", "_")) != kind(str(default))
    ]


def unused_options() -> Mapping[str, Unused]:
    """Return the options of earlier versions, which are accepted so that scripts keep working."""
    return {
        "max-graph-node-size": (number(1, 2_000_000), 100_000, "graphs of any size are shown"),
        "enable-debugger": (
            boolean,
            False,
            "dumps are always shown, and running trainings are never debugged",
        ),
        "debugger-port": (number(1, 65535), 50051, "no training connects to the server"),
        "offline-debugger-mem-limit": (
            number(6144, 2**31 - 1),
            16384,
            "each reader of dumps has its own limit (docs/security.md)",
        ),
        "samples_per_plugin": (str, "", "nothing is sampled"),
        "load_fast": (str, "auto", "there is one loader"),
        "reload_multifile": (str, "", "every file of a run is followed"),
        "max_reload_threads": (number(1, 256), 1, "--workers sets the number of reading processes"),
        "purge_orphaned_data": (str, "", "overwritten steps are stored separately and shown on request"),
    }


def token(text: str) -> str:
    """Parse a token: long enough not to be guessed, and valid in an HTTP header."""
    if len(text) < SHORTEST_TOKEN:
        raise argparse.ArgumentTypeError(f"a token has at least {SHORTEST_TOKEN} characters")
    if not text.isprintable():
        raise argparse.ArgumentTypeError("a token has no control characters")
    return text


def number(low: int, high: int) -> Callable[[str], int]:
    """Return an argument type for an integer from `low` to `high`."""

    def parse(text: str) -> int:
        if not text.lstrip("-").isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return int(text)

    return parse


def choice(*allowed: str) -> Callable[[str], str]:
    """Return an argument type for one of the allowed texts."""

    def parse(text: str) -> str:
        if text not in allowed:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(allowed)}")
        return text

    return parse


def boolean(text: str) -> bool:
    """Parse a boolean: True, False, 1 or 0, in any case."""
    if text.lower() not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither True nor False")
    return text.lower() in ("true", "1")
