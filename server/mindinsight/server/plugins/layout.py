"""Routes for dashboards: charts of scalars by category that a training recorded, and the scalars in them."""

from collections.abc import Iterable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.formats.payloads.chart_payloads import Chart, layout
from mindinsight.server.graph.search import BadPattern, matcher
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute, payload_series
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ReferenceSeries

router = APIRouter(route_class=PayloadRoute)


_MOST_LINES: Final = 100  # tags of one chart


@router.get("/list")
def listing(service: CurrentService) -> dict[str, Any]:
    """Return the runs that recorded a dashboard, with its tag."""
    rows = [
        {"run": entry.id, "name": entry.name, "tag": tag}
        for entry in service.store.snapshot().runs.values()
        for tag in sorted(entry.references.get("layout", {}))
    ]
    return {"layouts": sorted(rows, key=lambda row: (row["name"], row["tag"]))}


@router.get("/charts")
def charts(
    service: CurrentService,
    run: str,
    series: Annotated[ReferenceSeries, payload_series("layout")],
    of: Annotated[
        list[str] | None, Query(max_length=1000, description="runs to draw; the run itself")
    ] = None,
) -> dict[str, Any]:
    """Return the newest dashboard of a tag: categories of charts, each with the scalars of some runs.

    `lines` are the scalars with tags that match a regular expression of `tags` from their beginning, or that
    are named in `margins`. `more` is the number of omitted lines. `rejected` are invalid expressions. Unknown
    runs are left out.
    """
    known = service.store.snapshot().runs
    runs = [known[member] for member in of or [run] if member in known]
    categories = [
        {"title": category.title, "charts": [_chart(chart, runs) for chart in category.charts]}
        for category in layout(series.read(series.count - 1))
    ]
    return {"run": run, "tag": series.tag, "categories": categories}


def _chart(chart: Chart, runs: Iterable[Run]) -> dict[str, Any]:
    holders: dict[str, list[str]] = {}
    for run in runs:
        for tag in run.scalars:
            holders.setdefault(tag, []).append(run.id)
    tags, rejected = _matching(chart.tags, holders)
    tags += [tag for margin in chart.margins for tag in margin if tag in holders and tag not in tags]
    return {
        **{name: getattr(chart, name) for name in ("title", "tags", "margins")},
        "lines": [{"tag": tag, "runs": holders[tag]} for tag in tags[:_MOST_LINES]],
        "more": max(0, len(tags) - _MOST_LINES),
        "rejected": rejected,
    }


def _matching(patterns: Iterable[str], tags: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the tags in the order of the first expression that matches, and the invalid expressions."""
    matching: dict[str, None] = {}
    rejected = []
    for pattern in patterns:
        try:
            find = matcher(f"^(?:{pattern})", regex=True, ignore_case=False)
        except BadPattern:
            rejected.append(pattern)
            continue
        matching |= dict.fromkeys(tag for tag in sorted(tags) if find(tag) == 0)
    return list(matching), rejected


PLUGIN = Plugin(name="layout", router=router)
