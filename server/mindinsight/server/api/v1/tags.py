"""Tags of v1, ``<recorded tag>/<plugin>``, and the series that they refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ReferenceSeries, ScalarSeries
from mindinsight.server.types import Kind

NAMES: Final = ("image", "scalar", "graph", "optimized_graph", "histogram", "tensor", "loss_landscape")
OPTIMIZED: Final = " (optimized)"
_KINDS: Final[Mapping[str, Kind]] = {
    "image": "image",
    "histogram": "histogram",
    "tensor": "tensor",
    "loss_landscape": "landscape",
}
_FIRST_GRAPH: Final = "ms_output_optimize.pb"


def tags_of(run: Run) -> dict[str, list[str]]:
    """Tags of all seven plugins, sorted; the optimized graph file comes first."""
    graphs = sorted(run.references.get("graph", {}), key=lambda name: (name != _FIRST_GRAPH, name))
    named = {
        plugin: sorted(f"{tag}/{plugin}" for tag in run.references.get(kind, {}))
        for plugin, kind in _KINDS.items()
    }
    named["scalar"] = sorted(f"{tag}/scalar" for tag in run.scalars)
    named["graph"] = graphs
    named["optimized_graph"] = [name + OPTIMIZED for name in graphs]
    return {name: named[name] for name in NAMES}


def scalar_of(run: Run, tag: str) -> ScalarSeries | None:
    """Scalar series of a tag, None if it is unknown. Raises V1Error for a tag of another plugin."""
    series = run.scalars.get(tag.removesuffix("/scalar")) if tag.endswith("/scalar") else None
    if series is None and _is_known_tag(run, tag):
        raise V1Error(Fault.TYPE, "Parameter tag is not a scalar.")
    return series


def payloads_of(run: Run, tag: str, plugin: str, fault: Fault) -> ReferenceSeries:
    """Payload series of a tag. Raises V1Error with ``fault`` if there is none."""
    name = tag.removesuffix(f"/{plugin}") if tag.endswith(f"/{plugin}") else None
    series = run.references.get(_KINDS[plugin], {}).get(name) if name is not None else None
    if series is None:
        raise V1Error(fault, f"Parameter tag does not match any {plugin} of this train job.")
    return series


def _is_known_tag(run: Run, tag: str) -> bool:
    return any(tag in tags for tags in tags_of(run).values())


def time_and_step(series: ReferenceSeries, row: int) -> dict[str, Any]:
    """Wall time and step of a row as JSON."""
    return {"wall_time": float(series.walls[row]), "step": int(series.steps[row])}
