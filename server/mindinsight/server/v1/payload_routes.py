"""Routes for payloads of event files: images, histograms, tensors and loss landscapes."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final

import numpy as np
from fastapi import Depends, Response

from mindinsight.server.compute.slices import Index, Table, parse_slice
from mindinsight.server.compute.tensor_statistics import Statistics, measure, measure_values
from mindinsight.server.curves.histogram_buckets import finite_edges
from mindinsight.server.curves.overflow_safe import differences, even_edges
from mindinsight.server.errors import Gone
from mindinsight.server.formats.media_types import picture_type
from mindinsight.server.formats.payloads import chart_payloads, histogram_payloads
from mindinsight.server.formats.payloads.media_payloads import image
from mindinsight.server.formats.payloads.tensor_payloads import Recorded
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ReferenceSeries
from mindinsight.server.store.tensor_source import opened_tensor
from mindinsight.server.types import Doubles
from mindinsight.server.v1 import row_sampling, v1_parameters
from mindinsight.server.v1.jobs import payloads_of, time_and_step
from mindinsight.server.v1.v1_parameters import FullFlag, LoadedRun, Tag
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=PayloadRoute, prefix="/datavisual")


def image_series(tag: Tag, run: LoadedRun) -> ReferenceSeries:
    """Return the images of a request. FastAPI dependency. Raises V1Error if the run has none with
    this tag."""
    return payloads_of(run, tag, "image", Fault.IMAGE)


Images = Annotated[ReferenceSeries, Depends(image_series)]


@router.get("/image/metadata", tags=["images"])
def metadata(series: Images, full: FullFlag = False) -> dict[str, Any]:
    """Return step, time, width and height of the images of one tag as `metadatas`, for a sample of the steps
    unless `full`. Returns an error for an unknown tag."""
    rows = row_sampling.line_rows(series, row_sampling.IMAGES, full).tolist()
    items = []
    for row in rows:
        picture = image(series.read(row))
        items.append({**time_and_step(series, row), "width": picture.width, "height": picture.height})
    return {"metadatas": items}


@router.get(
    "/image/single-image",
    tags=["images"],
    response_class=Response,
    responses={200: {"content": {"image/*": {}, "application/octet-stream": {}}}},
)
def single_image(
    step: Annotated[str, v1_parameters.required_text("step", "an integer; the first value counts")],
    series: Images,
) -> Response:
    """Return the recorded bytes of one image. Step -1 is the newest. Returns an error if there is none."""
    number = v1_parameters.to_integer(step, "step")
    rows = [row for row in series.line_rows.tolist() if number in (-1, int(series.steps[row]))]
    if not rows:
        raise V1Error(Fault.IMAGE, "Parameter step does not match any image of this tag.")
    encoded = image(series.read(rows[-1])).encoded
    kind = picture_type(encoded)
    return Response(encoded, media_type=kind.media_type if kind else "application/octet-stream")


_MOST: Final = 30  # buckets, as in MindInsight
_GROWS_UP_TO: Final = 280  # values: 280 / 10 + 1 buckets is the last number below _MOST


@dataclass(frozen=True, slots=True)
class HistogramColumns:
    """Recorded histogram: columns of its buckets, all [n], and the range of its finite values."""

    left: Doubles
    width: Doubles
    count: Doubles
    minimum: float
    maximum: float

    @property
    def total(self) -> int:
        """Return the sum of the counts."""
        return int(self.count.sum())


def bucket_number(total: int) -> int:
    """Return the number of common buckets for the largest recorded `total`."""
    if total <= 0:
        return 1
    if total <= 5:
        return 2
    if total <= 10:
        return 3
    return math.ceil(total / 10) + 1 if total <= _GROWS_UP_TO else _MOST


def common_edges(histograms: Sequence[HistogramColumns]) -> Doubles:
    """Return the edges [b + 1] of buckets that cover all `histograms`, -0.5 to 0.5 if they are empty."""
    filled = [histogram for histogram in histograms if histogram.total > 0]
    low = min((histogram.minimum for histogram in filled), default=0.0)
    high = max((histogram.maximum for histogram in filled), default=0.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    number = bucket_number(max((histogram.total for histogram in filled), default=0))
    return even_edges(low, high, number + 1)


def rebin(histogram: HistogramColumns, edges: Doubles) -> list[list[float]]:
    """Return a histogram between new `edges` as rows [left, width, count], with counts rounded up."""
    quarters = edges / 4  # distances between them are finite
    left, right = quarters[:-1, None], quarters[1:, None]
    start, width = histogram.left[None, :] / 4, np.abs(histogram.width)[None, :] / 4
    overlap = np.clip(np.minimum(right, start + width) - np.maximum(left, start), 0.0, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(width > 0, overlap / width, (left <= start) & (start <= right))
    counts = np.ceil(np.round((share * histogram.count[None, :]).sum(axis=1), 9)).astype(np.int64)
    return bucket_rows(edges, counts)


def bucket_rows(edges: Doubles, counts: np.ndarray) -> list[list[float]]:
    """Return the buckets [b] between `edges` [b + 1] as rows of [left, width, count]."""
    columns = edges[:-1].tolist(), differences(edges).tolist(), counts.tolist()
    return [[left, width, count] for left, width, count in zip(*columns, strict=True)]


@router.get("/histograms", tags=["histograms"])
def histograms(tag: Tag, run: LoadedRun, full: FullFlag = False) -> dict[str, Any]:
    """Return the histogram of each step as rows of [left, width, count] in `histograms`, with the same
    buckets for all steps, and for a sample of the steps unless `full`. Returns an error for an unknown tag.
    """
    series = payloads_of(run, tag, "histogram", Fault.HISTOGRAM)
    rows = row_sampling.line_rows(series, row_sampling.HISTOGRAMS, full).tolist()
    recorded = histogram_payloads.histograms([series.read(row) for row in rows])
    counted = [_counted(recorded, number) for number in range(len(rows))]
    edges = common_edges(counted)
    buckets = (rebin(histogram, edges) for histogram in counted)
    steps = [{**time_and_step(series, row), "buckets": next(buckets)} for row in rows]
    return {"train_id": run.id, "tag": tag, "histograms": steps}


def _counted(recorded: histogram_payloads.Histograms, number: int) -> HistogramColumns:
    inside = slice(int(recorded.bounds[number]), int(recorded.bounds[number + 1]))
    counts = recorded.counts[inside].astype(np.float64)
    left, width = finite_edges(recorded.left[inside], recorded.width[inside])
    return HistogramColumns(left, width, counts, float(recorded.low[number]), float(recorded.high[number]))


SHAPE: Final = "one integer or slice for each dimension: [0, :, 1:3]"
MOST_VALUES: Final = 100_000  # of a response, as in MindInsight
_DETAILS: Final = ("stats", "histogram", "data")


@router.get("/tensors", tags=["tensors"])
def tensors(
    service: CurrentService,
    detail: Annotated[str | None, v1_parameters.optional_text("detail")],
    step: Annotated[str | None, v1_parameters.optional_text("step", "an integer; the first value counts")],
    dims: Annotated[str | None, v1_parameters.optional_text("dims", SHAPE)],
    train_id: v1_parameters.RequiredTexts = None,
    tag: v1_parameters.RequiredTexts = None,
    full: FullFlag = False,
) -> dict[str, Any]:
    """Return an item for each pair of job and tag as `tensors`. An invalid pair fails the whole request."""
    v1_parameters.required(v1_parameters.first_value(train_id), "train_id")
    v1_parameters.required(v1_parameters.first_value(tag), "tag")
    if detail not in (None, *_DETAILS):
        raise V1Error(Fault.VALUE, f"Parameter detail must be one of {', '.join(_DETAILS)}.")
    if detail == "data":
        number = v1_parameters.to_integer(v1_parameters.required(step, "step"), "step")
        read = partial(_slice_json, step=number, index=v1_parameters.required(dims, "dims"))
    else:
        read = partial(_series_json, detail=detail, full=full)
    snapshot = service.store.snapshot()
    items = []
    for run_id in train_id or ():
        run = v1_parameters.loaded_run(snapshot, run_id)
        for name in tag or ():
            series = payloads_of(run, name, "tensor", Fault.TENSOR)
            items.append({"train_id": run_id, "tag": name, "values": read(series)})
    return {"tensors": items}


def _slice_json(series: ReferenceSeries, step: int, index: str) -> list[dict[str, Any]]:
    """Return the single item of `detail=data`: a slice of the tensor at a step. Raises V1Error."""
    rows = [row for row in series.line_rows.tolist() if int(series.steps[row]) == step]
    if not rows:
        raise V1Error(Fault.TENSOR_STEP, "Parameter step does not match any tensor of this tag.")
    with opened_tensor(series, rows[-1]) as tensor:
        table = Table(tensor.values.shape, index_of(index, tensor.values.shape, "dims"))
        if table.rows * table.columns > MOST_VALUES:
            text = f"The slice has more than {MOST_VALUES} values; request a part of it."
            raise V1Error(Fault.TENSOR_ANSWER, text)
        part = np.asarray(tensor.values.part(table.index), np.float64)
        statistics = statistics_json(measure(part), _statistics(tensor))
        value = {**_header_json(tensor), "data": plain_values(part), "statistics": statistics}
    return [{**time_and_step(series, rows[-1]), "value": value}]


def index_of(text: str, shape: tuple[int, ...], name: str) -> Index:
    """Return the slice that the parameter `name` states as `text`. Raises V1Error if it is not one of
    `shape`."""
    try:
        return parse_slice(text, shape)
    except ValueError as error:
        raise V1Error(Fault.VALUE, f"Parameter {name} is wrong: it {error}.") from None


def _series_json(series: ReferenceSeries, detail: str | None, full: bool) -> list[dict[str, Any]]:
    rows = row_sampling.line_rows(series, row_sampling.TENSORS, full).tolist()
    items: list[dict[str, Any]] = []
    measured: list[Statistics] = []
    for row in rows:
        with opened_tensor(series, row) as tensor:
            value = _header_json(tensor)
            if detail is not None:
                measured.append(_statistics(tensor))
                value["statistics"] = statistics_json(measured[-1], measured[-1])
        items.append({**time_and_step(series, row), "value": value})
    if detail == "histogram":
        recorded = list(zip(rows, measured, strict=True))
        edges = common_edges([_histogram(series, row, facts) for row, facts in recorded])
        for item, (row, facts) in zip(items, recorded, strict=True):
            item["value"]["histogram_buckets"] = rebin(_histogram(series, row, facts, edges), edges)
    return items


def _histogram(
    series: ReferenceSeries, row: int, facts: Statistics, edges: Doubles | None = None
) -> HistogramColumns:
    low, high = float(facts.minimum or 0), float(facts.maximum or 0)
    finite = facts.count - facts.nans - facts.positive_infs - facts.negative_infs
    if edges is None:
        edges = np.linspace(low, high, bucket_number(finite) + 1) if low < high else np.array([low, high])
    if edges[0] == edges[-1]:
        return HistogramColumns(edges[:1], np.zeros(1), np.array([float(finite)]), low, high)
    counts = np.zeros(len(edges) - 1)
    with opened_tensor(series, row) as tensor:
        for piece in tensor.values.pieces():
            flat = np.asarray(piece, np.float64)
            counts += np.histogram(flat[np.isfinite(flat)], bins=edges)[0]
    return HistogramColumns(edges[:-1], np.diff(edges), counts, low, high)


def _statistics(tensor: Recorded) -> Statistics:
    """Return the statistics of the values as float64, as in MindInsight."""
    measured = measure_values(tensor.values)
    if measured.minimum is None or measured.maximum is None:
        return measured
    return replace(measured, minimum=float(measured.minimum), maximum=float(measured.maximum))


def _header_json(tensor: Recorded) -> dict[str, Any]:
    return {"dims": list(tensor.values.shape), "data_type": tensor.data_type}


def plain_values(values: Doubles) -> Any:
    """Return values as nested lists, with "NAN", "INF" and "-INF" for non-finite ones."""
    if np.isfinite(values).all():
        return values.tolist()
    flat = [_text(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=object).reshape(values.shape).tolist()


def _text(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NAN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def statistics_json(part: Statistics, overall: Statistics) -> dict[str, Any]:
    """Return statistics of a slice and of the whole tensor as JSON, with 0 for missing ones."""
    return {
        **_common_statistics(part, ""),
        **_common_statistics(overall, "overall_"),
        "overall_zero_count": float(overall.zeros),
        "overall_neg_zero_count": float(overall.negative - overall.negative_infs),
        "overall_pos_zero_count": float(overall.positive - overall.positive_infs),
    }


def _common_statistics(statistics: Statistics, prefix: str) -> dict[str, Any]:
    return {
        f"{prefix}max": statistics.maximum or 0.0,
        f"{prefix}min": statistics.minimum or 0.0,
        f"{prefix}avg": statistics.mean or 0.0,
        f"{prefix}count": statistics.count,
        f"{prefix}nan_count": statistics.nans,
        f"{prefix}neg_inf_count": statistics.negative_infs,
        f"{prefix}pos_inf_count": statistics.positive_infs,
    }


_METADATA: Final = ("decomposition", "unit", "step_per_epoch")


@router.get("/landscape/intervals", tags=["landscapes"])
def intervals(run: LoadedRun) -> dict[str, Any]:
    """Return the intervals of a job that have a landscape as `intervals`: `id`, and [first, last] as `value`,
    sorted by start."""
    found_intervals = {landscape.intervals for landscape in _landscapes(run) if landscape.intervals}
    rows = sorted(found_intervals, key=lambda steps: steps[:1])
    return {"intervals": [{"id": interval_id(steps), "value": [steps[0], steps[-1]]} for steps in rows]}


@router.get("/landscape/landscapes", tags=["landscapes"])
def landscapes(
    service: CurrentService,
    type: Annotated[str | None, v1_parameters.optional_text("type", "interval or final")],
    interval_id: Annotated[str | None, v1_parameters.optional_text("interval_id")],
    train_id: v1_parameters.Texts = None,
) -> dict[str, Any]:
    """Return the landscape of each job as `landscapes`. A job without one gets an `error_code`. Without
    `interval_id` any interval counts."""
    runs = service.store.snapshot().runs
    rows = [_item(run, runs.get(run), type or "interval", interval_id) for run in train_id or ()]
    return {"landscapes": rows}


def interval_id(interval: tuple[int, ...]) -> str:
    """Return a stable id of an interval: a hash, equal for equal intervals in every job and after a
    restart.
    """
    text = ",".join(map(str, interval))
    return str(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1)


def _landscapes(run: Run) -> Iterator[chart_payloads.Landscape]:
    """Yield the landscapes of a run that can be read."""
    for series in run.references.get("landscape", {}).values():
        for row in series.line_rows.tolist():
            with suppress(Gone, UnreadableError):
                yield chart_payloads.landscape(series.read(row))


def _item(train_id: str, run: Run | None, kind: str, interval: str | None) -> dict[str, Any]:
    if not train_id.startswith("./"):
        return {"train_id": train_id, "error_code": Fault.VALUE.code}
    if run is None or not v1_parameters.is_loadable(run):
        return {"train_id": train_id, "error_code": Fault.JOB.code}
    match = next((landscape for landscape in _landscapes(run) if _matches(landscape, kind, interval)), None)
    if match is None or match.grid is None:
        return {"train_id": train_id, "error_code": Fault.LANDSCAPE.code}
    item: dict[str, Any] = {
        "train_id": train_id,
        "points": _grid_json(match.grid),
        "convergence_point": _point_json(match.convergence),
        "metadata": {name: getattr(match, name) for name in _METADATA} | _training_json(run),
    }
    if match.path is not None and match.intervals:
        item["path"] = {**_grid_json(match.path), "intervals": list(match.intervals)}
    return item


def _matches(candidate: chart_payloads.Landscape, kind: str, interval: str | None) -> bool:
    """Return True if a landscape has the given kind and interval. Final landscapes have no intervals."""
    if kind == "final":
        return not candidate.intervals
    if kind != "interval" or not candidate.intervals:
        return False
    return interval in (None, interval_id(candidate.intervals))


def _grid_json(point: chart_payloads.Point) -> dict[str, Any]:
    return {"x": point.x.tolist(), "y": point.y.tolist(), "z": point.z.tolist()}


def _point_json(point: chart_payloads.Point | None) -> list[float]:
    if point is None:
        return [0, 0, 0]
    return [float(axis.ravel()[0]) if axis.size else 0.0 for axis in (point.x, point.y, point.z)]


def _training_json(run: Run) -> dict[str, Any]:
    """Return the metadata of the landscape's training, from its lineage."""
    train = run.lineage.train if run.lineage is not None else None
    evaluation = run.lineage.evaluation if run.lineage is not None else None
    metadata: dict[str, Any] = {"network": None, "optimizer": None, "learning_rate": None}
    if train is not None:
        metadata |= {"network": train.network, "optimizer": train.optimizer}
        for name in ("learning_rate", "loss"):
            number = getattr(train, name)
            metadata[name] = None if number is None else f"{number:e}"
    return {**metadata, "metric": evaluation.metric if evaluation is not None else {}}
