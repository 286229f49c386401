"""Routes for health checks and Prometheus metrics, answered in the event loop, because they need no free
thread.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from mindinsight.server import extensions
from mindinsight.server.debug.conditions import Condition
from mindinsight.server.formats.dumps.dump_layout import Layout
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.http.health import counts, health_report, seconds_since_scan
from mindinsight.server.http.service import POOLS, Service
from mindinsight.server.plugins import Plugin, misfit

router = APIRouter(tags=["system"])
extensions_router = APIRouter(route_class=PayloadRoute, tags=["system"])

_VALUES: Final[Mapping[str, type]] = {  # of the entry points of a group
    extensions.KINDS: Plugin,
    extensions.LAYOUTS: Layout,
    extensions.CHECKS: tuple,
    extensions.COMMANDS: Callable,  # type: ignore[dict-item]
}

_WORK: Final = {  # kind of each metric, label, attribute of the measured object
    "work_running": ("gauge", "class", "running"),
    "work_waiting": ("gauge", "class", "waiting"),
    "work_stuck": ("gauge", "class", "stuck"),
    "work_oldest_seconds": ("gauge", "class", "oldest"),
    "work_cancelled_total": ("counter", "class", "cancelled"),
    "work_refused_total": ("counter", "class", "refused"),
    "work_cut_total": ("counter", "class", "cut"),
    "pool_running": ("gauge", "pool", "running"),
    "pool_killed_total": ("counter", "pool", "killed"),
}


@router.get("/health")
async def health(service: CurrentService) -> dict[str, Any]:
    """Return the state of the server and counts of unreadable data, without names of files or runs."""
    return health_report(service)


@extensions_router.get("/v2/extensions")
def known_extensions() -> dict[str, Any]:
    """Return the extensions of other distributions, each with the seconds that loading it took. `error`
    says why an extension cannot be used. It is empty if it can."""
    known = [extension for group in extensions.GROUPS for extension in extensions.loaded(group)]
    rows = [
        {
            **{name: getattr(extension, name) for name in ("group", "name", "distribution")},
            "error": extension.error or _misfit(extension),
            "seconds": round(extension.seconds, 3),
        }
        for extension in known
    ]
    return {"extensions": rows}


def _misfit(extension: extensions.Extension) -> str:
    """Return why the value of an extension is not used; "" if it is."""
    wanted = _VALUES[extension.group]
    if not isinstance(extension.value, wanted):
        return f"{type(extension.value).__name__} is not a {wanted.__name__}"
    if isinstance(extension.value, Plugin):
        return misfit(extension.name, extension.value)
    if isinstance(extension.value, Layout) and extension.value.name != extension.name:
        return f"the layout is named {extension.value.name!r}"
    checks = extension.value if isinstance(extension.value, tuple) else ()
    if not all(isinstance(check, Condition) for check in checks):
        return "a check is not made by @condition"
    other = [check.id for check in checks if not check.id.startswith(f"{extension.name}.")]
    return f"the id of a check does not begin with {extension.name}.: {', '.join(other)}" if other else ""


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request, service: CurrentService) -> str:
    """Return the figures of `health`, of open streams and of running work as Prometheus text (exposition
    format 0.0.4)."""
    snapshot = service.store.snapshot()
    hub = request.app.state.hub
    gauges = {
        **counts(snapshot),
        "base_missing": int(snapshot.base_missing),
        "workers_missing": int(service.workers_missing),
        "seconds_since_look": seconds_since_scan(service),
        "snapshot_version": snapshot.version,
        "streams_open": hub.streams,
        "streams_dropped": hub.dropped,
        "uptime_seconds": time.time() - service.started,
    }
    lines = [f"# TYPE mindinsight_{name} gauge\nmindinsight_{name} {value}" for name, value in gauges.items()]
    return "\n".join([*lines, *_work_lines(service)]) + "\n"


def _work_lines(service: Service) -> list[str]:
    """Return metrics of the classes of work and of the process pools, with names as labels."""
    pools = dict(zip(POOLS, service.pools, strict=True))
    sources: dict[str, Mapping[str, Any]] = {"class": service.bulkheads, "pool": pools}
    lines = []
    for metric, (kind, label, attribute) in _WORK.items():
        lines.append(f"# TYPE mindinsight_{metric} {kind}")
        for name, source in sources[label].items():
            lines.append(f'mindinsight_{metric}{{{label}="{name}"}} {getattr(source, attribute)}')
    return lines
