"""Plugin of scalars: bands, ranks, comparison with a baseline, layers, statistics and download.

Curves are direct routes (`api/direct_routes.py`).
"""

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Final, Literal

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from mindinsight.server.curves.bands import (
    FEWEST_STEPS,
    Cells,
    Ended,
    band,
    cells,
    continued,
    non_finite_members,
    one_per_job,
)
from mindinsight.server.curves.curve_statistics import compared_claims, difference, range_statistics
from mindinsight.server.curves.rank_anomaly import outlier_claim
from mindinsight.server.curves.rank_outliers import judge
from mindinsight.server.curves.sampling import sample_rows
from mindinsight.server.curves.smoothing import SmoothingKind, smooth
from mindinsight.server.errors import ApiError
from mindinsight.server.http.bulkhead_routes import Accept, CurrentService, PayloadRoute, stream
from mindinsight.server.http.responses import answer, attachment
from mindinsight.server.http.scalar_csv import csv_of
from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.scalar import curve_routes
from mindinsight.server.plugins.scalar.chart_columns import View, line_between, line_of
from mindinsight.server.plugins.scalar.group_ends import end_claims, end_values, group_end
from mindinsight.server.store.formula_series import formula_of
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.store.series import Line, Recorded, ScalarSeries
from mindinsight.server.types import Doubles, Floats

router = APIRouter()
downloads = APIRouter(route_class=PayloadRoute)
Runs = Annotated[list[str], Query(description="run ids, in the order of the response", max_length=1000)]


@router.post("/tails")
async def tails(service: CurrentService, question: curve_routes.Tails, accept: Accept = "") -> Response:
    """Return the new points of many series: `answers`, one for each, in the form of `tail`."""
    return await curve_routes.new_points(service, question, accept)


@router.get("/formula")
async def formula_tags(service: CurrentService, formula: str, run: Runs) -> dict[str, list[str]]:
    """Return the scalars that a formula names, and which of them none of the runs has (`missing`). Returns
    422 for an invalid formula."""
    tags = formula_of(formula).tags
    runs = service.store.snapshot().runs
    known = [runs[member].scalars for member in run if member in runs]
    return {"tags": list(tags), "missing": [tag for tag in tags if not any(tag in held for held in known)]}


_BAND: Final = ("mean", "deviation", "median", "lower", "upper", "low", "high")  # columns of a response


@router.get("/band")
async def band_of(
    service: CurrentService,
    tag: str,
    run: Annotated[list[str] | None, Query(description="runs of the group", max_length=1000)] = None,
    job: Annotated[str | None, Query(description="or: all ranks of this job")] = None,
    px: Annotated[int, Query(ge=1, le=4000)] = 600,
    smoothing: Annotated[
        float, Query(alias="smooth", ge=0, lt=1, description="weight of the smoothing")
    ] = 0.0,
    kind: Annotated[SmoothingKind, Query(description="of the smoothing")] = "debiased",
    least: Annotated[int, Query(ge=0, description="points below which a line is not smoothed")] = 0,
    ended: Annotated[
        Ended | None, Query(description="one curve for each job, with or without those that have ended")
    ] = None,
    accept: Accept = "",
) -> Response:
    """Return centre, spread and range over many runs, per column of steps. Unknown runs, and runs without the
    scalar, are left out.

    `mean` has the standard `deviation`, `median` the quartiles `lower` and `upper`, which never leave the
    range from `low` to `high`.
    With smoothing, the band is computed from the smoothed curves. `counted` and `curves` are the numbers of
    runs with a value. With `ended` the ranks of a job are one run, `jobs` is the number of these, and
    `curves` of those that reach a step: a run that has ended may count with its last value.
    `claims` name the runs with non-finite values, which the mean leaves out.
    """
    lines = _lines(service.store.snapshot(), tag, run, job)
    view = View(px, weight=smoothing, kind=kind, least=least)
    grid = await run_in_threadpool(_smoothed_cells, lines, view)
    jobs = [member.job for member, _ in lines]
    reaching = None
    if ended is not None and lines:
        grid, reaching = continued(one_per_job(grid, jobs), ended)
    whole = band(grid)
    columns = {name: getattr(whole, name) for name in _BAND}
    columns |= {"curves": whole.curves if reaching is None else reaching, "counted": whole.curves}
    ids = [member.id for member, _ in lines]
    names = [member.removeprefix("./") for member in ids]
    claims = non_finite_members(names, [(line.steps, line.values) for _, line in lines])
    facts = [claim.as_json() for claim in claims]
    head = {"tag": tag, "runs": ids, "jobs": len(set(jobs)), "claims": facts, "step": whole.steps}
    return answer({**head, **columns}, accept)


@router.get("/ends")
def ends_of_groups(
    service: CurrentService,
    tag: str,
    run: Runs,
    group: Annotated[list[Annotated[int, Field(ge=0, lt=1000)]], Query(description="group of each run")],
    ended: Ended = "hold",
    criteria: Annotated[int, Query(ge=1, description="of which the one that separates best was chosen")] = 1,
) -> dict[str, Any]:
    """Return mean and standard deviation of the values with which groups of runs end, null if there are too
    few.

    `group` has the number of the group of each run. Unknown runs, and runs without the scalar, are left out.
    `claims` has whether the groups differ by more than random groups do, or that it is unknown. A run that
    ended before the others counts with its last value (`hold`), not at all (`drop`), or all count at the last
    step that all reach (`common`).
    """
    snapshot = service.store.snapshot()
    members: list[list[str]] = [[] for _ in range(max(group, default=-1) + 1)]
    for name, number in zip(run, group, strict=False):
        members[number].append(name)
    ends = end_values([_lines(snapshot, tag, names, None) for names in members], ended)
    claims = [claim.as_json() for claim in end_claims(ends, criteria)]
    return {"tag": tag, "groups": [asdict(group_end(values)) for values in ends], "claims": claims}


@router.get("/ranks")
async def ranks(
    service: CurrentService,
    tag: str,
    job: str,
    px: Annotated[int, Query(ge=1, le=2000, description="columns of the heat map")] = 300,
    accept: Accept = "",
) -> Response:
    """Return the means of a heat map: rows are the ranks of `job`, columns are ranges of steps. Empty if no
    rank has the scalar.

    `mean` holds [ranks, columns] numbers, NaN without a value.
    `not_finite` holds the indices of the cells with non-finite values. `strays` lists the ranks that diverge
    from the others: `row` of the rank, `kind` (not_finite, silent, lasting, spikes), onset `step`,
    `last_step` of a lasting divergence that ended, `relative` difference as a share of the median, `count` of
    spikes or non-finite values, `period` in steps, and `other` if two curves diverge from each other and the
    wrong one is unknown. If the longest rank has fewer `points` than `fewest`, only non-finite and silent
    ranks are reported. `claims` has what is known of all ranks, and which of them could not be
    compared or recorded nothing.
    """
    snapshot = service.store.snapshot()
    lines = _lines(snapshot, tag, None, job)
    members = [run.rank for run in snapshot.runs.values() if run.job == job]

    def made() -> Response:
        curves = [(line.steps, line.values) for _, line in lines]
        grid, judgement = cells(curves, px), judge(curves)
        ranks = [run.rank for run, _ in lines]
        claims = judgement.claims(ranks, members, snapshot.left_out)
        return answer(
            {
                "tag": tag,
                "job": job,
                "runs": [run.id for run, _ in lines],
                "ranks": ranks,
                "points": max((len(line.steps) for _, line in lines), default=0),
                "fewest": FEWEST_STEPS,
                "strays": [
                    {**asdict(stray), "claim": outlier_claim(stray, ranks).as_json()}
                    for stray in judgement.strays
                ],
                "claims": [claim.as_json() for claim in claims],
                "step": grid.steps,
                "mean": _narrow(grid.mean).ravel(),
                "not_finite": np.flatnonzero(grid.bad),
            },
            accept,
        )

    return await run_in_threadpool(made)


def _lines(snapshot: Snapshot, tag: str, runs: list[str] | None, job: str | None) -> list[tuple[Run, Line]]:
    chosen = [snapshot.runs[member] for member in runs or () if member in snapshot.runs]
    chosen += [member for member in snapshot.runs.values() if job is not None and member.job == job]
    ordered = list({member.id: member for member in chosen}.values())
    if job is not None:
        ordered.sort(key=lambda run: (run.rank is None, run.rank or 0, run.id))
    return [(member, line) for member in ordered if (line := line_of(member, tag)) is not None]


def _narrow(values: Doubles) -> Floats:
    """Convert values to float32 if they fit, because a picture needs no more precision."""
    fits = np.abs(values).max(initial=0.0, where=np.isfinite(values)) <= np.finfo(np.float32).max
    return values.astype(np.float32) if fits else values


def _smoothed_cells(lines: list[tuple[Run, Line]], view: View) -> Cells:
    curves = []
    for _, line in lines:
        smoothed = view.smooths(line)
        values = smooth(line.steps, line.values, view.weight, view.kind) if smoothed else line.values
        curves.append((line.steps, values))
    return cells(curves, view.pixels)


@router.get("/compare")
def compare(
    service: CurrentService,
    tag: str,
    run: Runs,
    baseline: Annotated[str, Query(description="run id that the others are compared with")],
    tolerance: Annotated[float, Query(ge=0, description="share of the baseline's value")] = 1e-3,
    other: Annotated[str, Query(description="the tag in the other runs, if it differs")] = "",
    px: Annotated[int, Query(ge=0, le=4000)] = 600,
    accept: Accept = "",
) -> Response:
    """Return the difference and relative difference of each run to the baseline, at their common steps, as
    `series`. Runs without the tag have no row, and without the baseline no run has one.

    `other` is a tag of the other runs that is compared with `tag` of the baseline. `parted` is the first step
    with a relative difference above the tolerance, null if there is none. `not_finite` is the first step at
    which a value is non-finite and the baseline's differs. `claims` says where they differ first, or that
    they do not, or what is unknown.
    """
    runs = service.store.snapshot().runs
    base = _line(runs, baseline, tag)
    others = [(run_id, _line(runs, run_id, other or tag)) for run_id in run if run_id != baseline]
    pairs = [(run_id, line) for run_id, line in others if line is not None]
    rows = [_row(run_id, line, base, tolerance, px) for run_id, line in pairs] if base is not None else []
    head = {"tag": tag, "other": other or tag, "baseline": baseline, "tolerance": tolerance}
    return answer({**head, "series": rows}, accept)


def _line(runs: Mapping[str, Run], run: str, tag: str) -> Line | None:
    return line_of(runs[run], tag) if run in runs else None


def _row(run: str, line: Line, base: Line, tolerance: float, pixels: int) -> dict[str, Any]:
    compared = difference(line.steps, line.values, base.steps, base.values, tolerance)
    steps = compared.steps.astype(np.float64)
    picked = sample_rows(steps, compared.relative, pixels) if pixels else slice(None)
    broken = np.flatnonzero(~np.isfinite(compared.difference))
    finite = np.abs(compared.relative[np.isfinite(compared.relative)])
    return {
        "run": run,
        "shared": len(compared.steps),
        "parted": None if compared.diverged is None else int(compared.steps[compared.diverged]),
        "not_finite": int(compared.steps[broken[0]]) if len(broken) else None,
        "largest": float(finite.max()) if len(finite) else None,
        "claims": [claim.as_json() for claim in compared_claims(compared, tolerance)],
        "step": compared.steps[picked],
        "difference": compared.difference[picked],
        "relative": compared.relative[picked],
    }


@downloads.get("/download", response_class=Response)
async def download(
    service: CurrentService,
    run: Annotated[list[str], Query(max_length=1000)],
    tag: Annotated[list[str], Query(max_length=10_000)],
    format: Annotated[Literal["csv", "arrow"], Query(description="arrow is an IPC stream")] = "csv",
    overwritten: Annotated[bool, Query(description="every recorded row, including overwritten ones")] = False,
) -> Response:
    """Download run, tag, step, wall time and value of the scalars' points, without overwritten rows. Returns
    404 for an unknown run, and 501 if the server lacks the package for Arrow.

    A run without a tag has no rows of it. With `overwritten` every recorded row is returned in file order,
    with a column that says if a later row replaced it.
    """
    snapshot = service.store.snapshot()
    pairs = ((member, name) for member in map(snapshot.run, run) for name in tag)
    holders = [(member, name, series) for member, name in pairs if (series := member.curve(name)) is not None]
    if format == "arrow":
        return _attachment(_arrow(holders, overwritten), "application/vnd.apache.arrow.stream", tag, "arrows")
    text = csv_of(((member.id, name, series) for member, name, series in holders), overwritten)
    return _attachment(map(str.encode, text), "text/csv; charset=utf-8", tag, "csv")


def _attachment(body: Iterator[bytes], kind: str, tags: list[str], ending: str) -> Response:
    name = re.sub(r"[^\w.-]+", "_", tags[0] if len(tags) == 1 else "scalars")[:100]
    return stream(body, attachment(f"{name}.{ending}"), kind)


def _arrow(holders: list[tuple[Run, str, ScalarSeries]], overwritten: bool) -> Iterator[bytes]:
    try:
        import pyarrow as pa
    except ImportError:
        raise ApiError(501, "no_arrow", "Arrow needs pyarrow: pip install 'mindinsight[arrow]'.") from None
    text = pa.dictionary(pa.int32(), pa.string())
    fields: list[tuple[str, Any]] = [
        ("run", text), ("tag", text),
        ("step", pa.int64()), ("wall_time", pa.float64()), ("value", pa.float64()),
        *([("overwritten", pa.bool_())] if overwritten else []),
    ]  # fmt: skip
    return _arrow_batches(holders, pa, pa.schema(fields))


def _arrow_batches(holders: list[tuple[Run, str, ScalarSeries]], pa: Any, schema: Any) -> Iterator[bytes]:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for run, tag, series in holders:
            points = series.recorded() if "overwritten" in schema.names else series.line()
            label = pa.array(np.zeros(len(points.steps), np.int32))
            arrays = [
                pa.DictionaryArray.from_arrays(label, pa.array([run.id])),
                pa.DictionaryArray.from_arrays(label, pa.array([tag])),
                pa.array(points.steps),
                pa.array(points.walls),
                pa.array(points.values.astype(np.float64)),
            ]
            if isinstance(points, Recorded):
                arrays.append(pa.array(points.overwritten))
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()


_DIGITS = 9  # of a layer's number


@router.get("/layers")
async def layers(
    service: CurrentService,
    run: str,
    stem: Annotated[str, Query(description="tag with * in place of the layer's number", max_length=10_000)],
    px: Annotated[int, Query(ge=1, le=2000, description="columns of the heat map")] = 300,
    accept: Accept = "",
) -> Response:
    """Return the means of a heat map: rows are the layers of `stem`, columns are ranges of steps. All are
    empty if no scalar has the stem. Returns 404 for an unknown run.

    `mean` holds [layers, columns] numbers, NaN without a value. `not_finite` holds the indices of the cells
    with non-finite values. `tags` and `layers` describe the rows.
    """
    scalars = service.store.snapshot().run(run).scalars
    rows = layer_tags(scalars, stem)

    def made() -> Response:
        lines = [scalars[tag].line() for _, tag in rows]
        grid = cells([(line.steps, line.values) for line in lines], px)
        return answer(
            {
                "run": run,
                "stem": stem,
                "layers": [number for number, _ in rows],
                "tags": [tag for _, tag in rows],
                "step": grid.steps,
                "mean": grid.mean.ravel(),
                "not_finite": np.flatnonzero(grid.bad),
            },
            accept,
        )

    return await run_in_threadpool(made)


def layer_tags(tags: Iterable[str], stem: str) -> list[tuple[int, str]]:
    """Return (number, tag) of each layer, sorted: the tags that equal `stem` with a number for its first `*`.
    Return [] for a stem without `*`."""
    before, star, behind = stem.partition("*")
    if not star:
        return []
    pattern = re.compile(rf"{re.escape(before)}(\d{{1,{_DIGITS}}}){re.escape(behind)}", re.ASCII)
    return sorted((int(match[1]), tag) for tag in tags if (match := pattern.fullmatch(tag)))


@router.get("/statistics")
def statistics(
    service: CurrentService,
    tag: Annotated[str, Query(description="the tag as recorded")],
    run: Runs,
    low: Annotated[float | None, Query(description="lower end of x")] = None,
    high: Annotated[float | None, Query(description="upper end of x")] = None,
    x: Annotated[str, Query(description="step, relative, wall or tag:<another scalar>")] = "step",
) -> dict[str, Any]:
    """Return count, ends, extremes, mean, deviation and slope of each run's line between two positions on
    x, as `rows`. Unknown runs, and runs without the tag, are omitted. Figures that need a finite value are
    null without one."""
    snapshot = service.store.snapshot()
    view = View(0, x, low, high)
    known = [snapshot.runs[run_id] for run_id in run if run_id in snapshot.runs]
    rows = []
    for member in known:
        if (line := line_between(member, tag, view)) is not None:
            rows.append({"run": member.id, **range_statistics(line.steps, line.values)})
    return {"tag": tag, "rows": rows}


router.include_router(downloads)
PLUGIN = Plugin(name="scalar", router=router)
