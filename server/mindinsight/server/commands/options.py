"""Options of `start`, with defaults from the environment, and options that commands share."""

import argparse
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from mindinsight.server import settings
from mindinsight.server.settings import LOCAL, MAX_RUNS, Settings, environment, scheduler_address, webhooks
from mindinsight.server.settings.base_dirs import bases_of, split

T = TypeVar("T")
Group: TypeAlias = argparse._ActionsContainer  # a parser, or a group of its options
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


_GROUPS: Final = ("data", "network", "access", "alerts", "server")  # headings in the help of `start`
SHORTEST_TOKEN: Final = 8  # characters; shorter ones can be guessed over a network


def add_options(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add all options of `start`, in groups. Environment variables `MINDINSIGHT_*` are their defaults."""
    defaults = environment(environ)
    data, network, access, alerts, server = map(parser.add_argument_group, _GROUPS)

    def option(
        group: Group, name: str, kind: Callable[[str], object], default: object, text: str, *aliases: str
    ) -> None:
        key = name.replace("-", "_")
        used = defaults.get(key, default)
        shown = _with_default(text, used) if default not in (None, "") else text
        group.add_argument(f"--{name}", *aliases, type=kind, default=used, help=shown, metavar=key.upper())

    add_bases(data, "--summary-base-dir", "--logdir", default=split(defaults.get("summary_base_dir", ".")))
    option(data, "max-runs", number(1, 100_000), MAX_RUNS, "maximum number of runs to show, newest first")
    text = "seconds between two scans of the files; 0 scans them once"
    option(data, "reload-interval", number(0, 300), 3, text, "--reload_interval")
    text = "how changes of files are noticed: auto, events or polling"
    option(data, "watch", choice("auto", "events", "polling"), "auto", text)
    text = "hosts that a store of runs on a web server may redirect to, separated by commas"
    option(data, "allow-redirects-to", str, "", text)
    option(data, "workspace", Path, str(Path.home() / "mindinsight"), "directory for cache, notes and logs")
    add_flag(data, "no-cache", "do not keep an index of the files in the workspace")
    add_flag(data, "allow-delete", "let pages move runs to a trash folder beside their base directory")
    option(network, "port", number(1, 65535), 8080, "port to listen on")
    text = "address to listen on; any other than a loopback address requires a token"
    option(network, "host", str, "127.0.0.1", text)
    text = "the same as --host 0.0.0.0"
    network.add_argument("--bind_all", action="store_const", dest="host", const="0.0.0.0", help=text)
    text = "prefix of all URL paths, such as /team/mindinsight"
    option(network, "url-path-prefix", argument_type(settings.clean_prefix), "", text, "--path_prefix")
    text = f"require this access token of at least {SHORTEST_TOKEN} characters"
    option(
        access, "token", token, None, f"{text} (default: a random one if --host is not a loopback address)"
    )
    add_flag(access, "no-token", "require no token: anyone who can reach the port has access")
    option(access, "allow-host", str, "", "additional host names to accept, separated by commas")
    text = "origins that may embed the pages in a frame, separated by commas"
    option(access, "allow-frame", str, "", text)
    text = "post alerts to [json|slack|feishu|dingtalk=]URL; several in quotes"
    option(alerts, "webhook", argument_type(webhooks), "", text)
    option(
        server, "workers", number(1, 256), min(4, os.cpu_count() or 1), "number of processes that read files"
    )
    add_executor(server, defaults.get("executor", LOCAL))
    text = "maximum number of concurrent dump sessions of MindInsight's debugger pages"
    option(server, "max-offline-debugger-session-num", number(1, 2), 2, text)
    add_flag(server, "foreground", "run in the foreground until Ctrl-C")
    for name, (kind, default, _) in unused_options().items():
        used = defaults.get(name.replace("-", "_"), default)
        parser.add_argument(f"--{name}", type=kind, default=used, help=argparse.SUPPRESS)


def add_flag(parser: Group, name: str, text: str) -> None:
    """Add an option without a value, which is False by default."""
    parser.add_argument(f"--{name}", action="store_true", help=text)


def add_json(parser: Group, text: str = "print JSON instead of a table") -> None:
    """Add the option that prints JSON."""
    add_flag(parser, "json", text)


def add_runs(parser: Group) -> None:
    """Add the options that select base directories and the runs below them."""
    add_bases(parser, "--summary-dir", "--summary-base-dir")
    parser.add_argument("--runs", default="*", help="a run, or a pattern with * and ? (default: all)")


def add_executor(parser: Group, default: str = LOCAL) -> None:
    """Add the option for the executor that measures and compares tensors."""
    text = "where dumps and checkpoints are processed: local, or dask://SCHEDULER:8786 for a Dask cluster"
    parse = argument_type(lambda text: text if text == LOCAL else scheduler_address(text))
    shown = _with_default(text, default)
    parser.add_argument("--executor", type=parse, default=default, help=shown, metavar="EXECUTOR")


def argument_type(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Return an argument type that shows the ValueError of `parse` to the user, which argparse would hide."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parsed


def add_bases(parser: Group, *names: str, default: Sequence[str] = (".",)) -> None:
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
        f"--{name} has no effect: {reason}."
        for name, (kind, default, reason) in unused_options().items()
        if getattr(options, name.replace("-", "_")) != kind(str(default))
    ]


def unused_options() -> Mapping[str, Unused]:
    """Return the options of earlier versions, which are accepted so that scripts keep working."""
    memory = "each reader of dumps has its own limit (docs/security.md)"
    return {
        "max-graph-node-size": (number(1, 2_000_000), 100_000, "graphs of any size are shown"),
        "enable-debugger": (boolean, False, "dumps are always shown, running trainings are never debugged"),
        "debugger-port": (number(1, 65535), 50051, "no training connects to the server"),
        "offline-debugger-mem-limit": (number(6144, 2**31 - 1), 16384, memory),
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
