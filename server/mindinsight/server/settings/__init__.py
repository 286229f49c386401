"""Settings of a server, read once at start and immutable, with its webhooks and executors."""

from __future__ import annotations

import importlib.util
import ipaddress
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from mindinsight.server.errors import bad_settings
from mindinsight.server.settings.base_dirs import Base, Bases
from mindinsight.server.texts import terminal_text

WebhookFormat: TypeAlias = Literal["json", "slack", "feishu", "dingtalk"]
FORMATS: Final[tuple[WebhookFormat, ...]] = get_args(WebhookFormat)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Address with the format of its messages. The address is a secret, because it is enough to post."""

    format: WebhookFormat
    url: str

    @property
    def shown(self) -> str:
        """Return the format and the host, for logs."""
        return f"{self.format} webhook of {urlsplit(self.url).hostname}"


def webhook(text: str) -> Webhook:
    """Parse `slack=https://…`, or an address alone for generic JSON. Raises ValueError."""
    name, separator, rest = text.partition("=")
    format_name = next((known for known in FORMATS if separator and name == known), None)
    address = rest if format_name else text
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(terminal_text("cli.error.webhook", {"formats": "|".join(FORMATS)}))
    return Webhook(format_name or "json", address)


def webhooks(text: str) -> tuple[Webhook, ...]:
    """Parse several webhooks, separated by blanks. Raises ValueError."""
    return tuple(webhook(part) for part in text.split())


def webhooks_of(fields: Iterable[dict[str, str]]) -> tuple[Webhook, ...]:
    """Rebuild webhooks from the output of `dataclasses.asdict`."""
    return tuple(webhook(f"{field['format']}={field['url']}") for field in fields)


Watch: TypeAlias = Literal["auto", "events", "polling"]

MAX_RUNS: Final = 999  # default of --max-runs, as in MindInsight

_PREFIX = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9_\-.]+)*")


@dataclass(frozen=True)
class Settings:
    """Settings of a server. Paths are absolute, times in seconds."""

    summary_base_dir: Bases
    workspace: Path
    host: str = "127.0.0.1"
    port: int = 8080
    url_path_prefix: str = ""  # "" or "/a/b": no slash at the end
    reload_interval: float = 3.0  # seconds between two scans without notifications; 0 scans once
    watch: Watch = "auto"
    workers: int = field(default_factory=lambda: min(4, os.cpu_count() or 1))
    executor: str = "local"  # for measurements: local processes, or a Dask scheduler's tcp:// address
    cache: bool = True
    allow_delete: bool = False  # pages may move runs to a trash folder beside their base directory
    token: str | None = None  # None: no token is required
    allowed_hosts: tuple[str, ...] = ()  # in addition to addresses and this host's names
    frame_ancestors: tuple[str, ...] = ()  # origins that may embed our pages in a frame
    allow_redirects_to: tuple[str, ...] = ()  # hosts that stores on web servers may redirect to
    webhooks: tuple[Webhook, ...] = ()  # to which alerts are posted
    deadline: float = 60.0  # seconds for a request that reads a dump, a graph or a checkpoint
    max_runs: int = MAX_RUNS
    max_offline_debugger_session_num: int = 2

    @property
    def loopback(self) -> bool:
        """Return True if only this machine can reach the server."""
        return is_loopback(self.host)

    @property
    def guarded(self) -> bool:
        """Return True if every client has a token or is on this machine."""
        return self.token is not None or self.loopback

    @property
    def address(self) -> str:
        """Return the address for a browser on this machine."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}{self.url_path_prefix}/"

    @property
    def log_dir(self) -> Path:
        """Return the folder of the log files."""
        return self.workspace / "log"

    def to_json(self) -> str:
        """Encode the settings for another process."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Decode the output of `to_json`."""
        fields = json.loads(text)
        bases, workspace = _bases(fields["summary_base_dir"]), Path(fields["workspace"])
        lists = {
            name: tuple(fields[name]) for name in ("allowed_hosts", "frame_ancestors", "allow_redirects_to")
        }
        hooks = webhooks_of(fields["webhooks"])
        return cls(
            **{**fields, **lists, "summary_base_dir": bases, "workspace": workspace, "webhooks": hooks}
        )


def _bases(field_value: str | list[dict[str, Any]]) -> Bases:
    if isinstance(field_value, str):
        return Path(field_value)
    return tuple(Base(**fields) for fields in field_value)


def is_loopback(host: str) -> bool:
    """Return True if a host name or address is this machine's loopback interface."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def clean_prefix(text: str) -> str:
    """Return a normalized prefix: `/a/b` for `a/b/`, "" for an empty one. Raises ValueError for other
    characters than letters, digits and `_-.`."""
    path = "/" + text.strip("/") if text.strip("/") else ""
    if not _PREFIX.fullmatch(path):
        raise ValueError(terminal_text("cli.error.prefix", {"value": text}))
    return path


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in the environment: `MINDINSIGHT_PORT=8081` becomes `{"port": "8081"}`."""
    prefix = "MINDINSIGHT_"
    return {name[len(prefix) :].lower(): value for name, value in environ.items() if name.startswith(prefix)}


LOCAL: Final = "local"
SCHEMES: Final = {"dask": "tcp", "dask+tls": "tls"}  # of an address, and as Dask calls them

_ADDRESS: Final = re.compile(r"([a-z+]+)://([A-Za-z0-9_.\-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})")


def scheduler_address(text: str) -> str:
    """Convert `dask://host:8786` to Dask's `tcp://host:8786`. Raises ValueError for other text."""
    match = _ADDRESS.fullmatch(text)
    if match is None or match[1] not in SCHEMES or not 0 < int(match[3]) < 1 << 16:
        raise ValueError(terminal_text("cli.error.executor", {"value": text, "local": LOCAL}))
    return f"{SCHEMES[match[1]]}://{match[2]}:{match[3]}"


def check_cluster_package() -> None:
    """Raise BadSettings if Dask's package is missing."""
    if importlib.util.find_spec("distributed") is None:
        raise bad_settings("cluster_package")
