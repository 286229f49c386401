"""Routes for bands: many curves as one, the ranks of a job or the runs of a group."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Header, Query, Response
from starlette.concurrency import run_in_threadpool

from mindinsight.server.curves.bands import Cells, band, cells
from mindinsight.server.curves.smoothing import SmoothingKind, smooth
from mindinsight.server.curves.strays import FEWEST_STEPS, strays
from mindinsight.server.http.responses import answer
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins.scalar.lines import View, line_of
from mindinsight.server.store.line import Line
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.types import Doubles, Floats

router = APIRouter()

Accept = Annotated[str, Header()]


@router.get("/band")
async def band_of(
    service: Annotated[Service, Depends(service_of)],
    tag: str,
    run: Annotated[list[str] | None, Query(description="runs of the group", max_length=1000)] = None,
    job: Annotated[str | None, Query(description="or: all ranks of this job")] = None,
    px: Annotated[int, Query(ge=1, le=4000)] = 600,
    smoothing: Annotated[
        float, Query(alias="smooth", ge=0, lt=1, description="weight of the smoothing")
    ] = 0.0,
    kind: Annotated[SmoothingKind, Query(description="of the smoothing")] = "debiased",
    least: Annotated[int, Query(ge=0, description="points below which a line is not smoothed")] = 0,
    accept: Accept = "",
) -> Response:
    """Mean with deviation and range over many runs, per column of steps.

    Smoothed, each curve is smoothed as it is alone, and the band is that of the smoothed ones.
    """
    lines = _lines(service.store.snapshot(), tag, run, job)
    view = View(px, weight=smoothing, kind=kind, least=least)
    grid = await run_in_threadpool(_smoothed_cells, lines, view)
    whole = band(grid)
    columns = {
        "step": whole.steps,
        "mean": whole.mean,
        "deviation": whole.deviation,
        "low": whole.low,
        "high": whole.high,
        "curves": whole.curves,
    }
    return answer({"tag": tag, "runs": [member.id for member, _ in lines], **columns}, accept)


@router.get("/ranks")
async def ranks(
    service: Annotated[Service, Depends(service_of)],
    tag: str,
    job: str,
    px: Annotated[int, Query(ge=1, le=2000, description="columns of the picture")] = 300,
    accept: Accept = "",
) -> Response:
    """The rank x step picture: ``mean`` holds ranks x columns numbers, row by row, NaN where a rank has none.

    ``not_finite`` holds the numbers of the cells with values that are not finite. ``strays`` says which ranks
    differ from the others, and how: ``row`` of the rank, ``kind`` (not_finite, silent, lasting, spikes),
    ``step`` at which it begins, ``last_step`` of a lasting difference that ended, ``relative`` difference as
    a share of the median, ``count`` of spikes or of values that are not finite, ``period`` in steps,
    ``other`` of two curves that differ from each other, where which of them is wrong is unknown. With
    ``points`` of the longest rank below ``fewest`` only what is not finite or silent is told.
    """
    lines = _lines(service.store.snapshot(), tag, None, job)

    def made() -> Response:
        grid, verdicts = _cells(lines, px), strays([(line.steps, line.values) for _, line in lines])
        return answer(
            {
                "tag": tag,
                "job": job,
                "runs": [run.id for run, _ in lines],
                "ranks": [run.rank for run, _ in lines],
                "points": max((len(line.steps) for _, line in lines), default=0),
                "fewest": FEWEST_STEPS,
                "strays": [asdict(stray) for stray in verdicts],
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
    unique = {member.id: member for member in chosen}.values()
    ordered = sorted(unique, key=_rank_order) if job is not None else list(unique)
    return [(member, line) for member in ordered if (line := line_of(member, tag)) is not None]


def _rank_order(run: Run) -> tuple[Any, ...]:
    return (run.rank is None, run.rank or 0, run.id)


def _narrow(values: Doubles) -> Floats:
    """Values as float32 where its range has all of them: a picture needs no more."""
    fits = np.abs(values).max(initial=0.0, where=np.isfinite(values)) <= np.finfo(np.float32).max
    return values.astype(np.float32) if fits else values


def _cells(lines: list[tuple[Run, Line]], columns: int) -> Cells:
    return cells([(line.steps, line.values) for _, line in lines], columns)


def _smoothed_cells(lines: list[tuple[Run, Line]], view: View) -> Cells:
    curves = [(line.steps, _smoothed(line, view)) for _, line in lines]
    return cells(curves, view.pixels)


def _smoothed(line: Line, view: View) -> Floats:
    return smooth(line.steps, line.values, view.weight, view.kind) if view.smooths(line) else line.values
