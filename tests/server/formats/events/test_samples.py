"""Every sample that MindSpore wrote reads to exactly what its expected.json says."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.events import decode, read_section
from mindinsight.server.formats.payloads.chart_payloads import landscape
from mindinsight.server.formats.payloads.histogram_payloads import histograms
from mindinsight.server.formats.payloads.media_payloads import image
from mindinsight.server.formats.payloads.tensor_payloads import tensor
from mindinsight.server.types import DecodedSection

SAMPLES = Path(__file__).parents[3] / "data" / "events"
KINDS = ("image", "tensor", "histogram", "landscape")


def _cases() -> list[Any]:
    cases = []
    for source in sorted(SAMPLES.glob("*/expected.json")):
        for run, content in json.loads(source.read_text()).get("runs", {}).items():
            for name, expected in content["files"].items():
                if not name.endswith("_lineage"):
                    path = source.parent / run / name
                    cases.append(pytest.param(path, expected, id=f"{source.parent.name}/{run}"))
    return cases


HEALTHY = [case for case in _cases() if not case.values[1]["problems"]]


def number(value: float | str) -> str:
    """Numbers of expected.json, in which those that JSON cannot hold are text."""
    return repr(float(value))


def payloads(section: DecodedSection, data: bytes, kind: str, tag: str) -> list[bytes]:
    (references,) = (
        reference for reference in section.references if (reference.kind, reference.tag) == (kind, tag)
    )
    ends = (references.offsets + references.sizes).tolist()
    return [data[at:end] for at, end in zip(references.offsets.tolist(), ends, strict=True)]


@pytest.mark.parametrize(("path", "expected"), HEALTHY)
def test_scalars(path: Path, expected: dict[str, Any]) -> None:
    section = read_section(str(path), 0, 1 << 30)
    curves = {
        tag: (block.steps.tolist(), [number(value) for value in values.tolist()])
        for block in section.blocks
        for tag, values in zip(block.tags, block.values, strict=True)
    }
    wanted = {
        row["tag"]: (row["steps"], [number(value) for value in row["values"]])
        for row in expected.get("tags", {}).get("scalar", [])
    }
    assert curves == wanted


@pytest.mark.parametrize(("path", "expected"), HEALTHY)
def test_file_as_a_whole(path: Path, expected: dict[str, Any]) -> None:
    section = read_section(str(path), 0, 1 << 30)
    assert (section.records, section.next_offset) == (expected["records"], expected["size"])
    assert (section.pending, section.damage, section.version) == (0, (), expected.get("version", ""))
    skipped = sum(count for _, count in section.skipped)
    assert skipped == expected["event_kinds"].get("values_without_data", 0)


@pytest.mark.parametrize(("path", "expected"), HEALTHY)
def test_steps_of_payloads(path: Path, expected: dict[str, Any]) -> None:
    section = read_section(str(path), 0, 1 << 30)
    steps = {
        (reference.kind, reference.tag): reference.steps.tolist()
        for reference in section.references
        if reference.kind != "graph"
    }
    tags = expected.get("tags", {})
    assert steps == {(kind, row["tag"]): row["steps"] for kind in KINDS for row in tags.get(kind, [])}


def rows(kind: str) -> list[Any]:
    return [
        pytest.param(path, row, id=f"{path.parent.name}/{row['tag'][:40]}")
        for path, expected in (case.values for case in HEALTHY)
        for row in expected.get("tags", {}).get(kind, [])
    ]


def first_and_last(path: Path, kind: str, row: dict[str, Any]) -> list[tuple[bytes, dict[str, Any]]]:
    data = path.read_bytes()
    messages = payloads(decode(data, 0, True), data, kind, row["tag"])
    assert len(messages) == row["number"]
    return [(messages[0], row["first"]), (messages[-1], row["last"])]


@pytest.mark.parametrize(("path", "row"), rows("image"))
def test_images(path: Path, row: dict[str, Any]) -> None:
    for payload, facts in first_and_last(path, "image", row):
        picture = image(payload)
        assert (picture.width, picture.height) == (facts["width"], facts["height"])
        assert len(picture.encoded) == facts["bytes"]
        pixels = np.asarray(Picture.open(io.BytesIO(picture.encoded)))
        assert hashlib.sha256(pixels.tobytes()).hexdigest() == facts["pixel_sha256"]


@pytest.mark.parametrize(("path", "row"), rows("tensor"))
def test_tensors(path: Path, row: dict[str, Any]) -> None:
    for payload, facts in first_and_last(path, "tensor", row):
        check_tensor(tensor(payload).values, facts)
        assert tensor(payload).data_type == facts["data_type"]


def check_tensor(values: np.ndarray, facts: dict[str, Any]) -> None:
    flat = values.astype(np.float64).ravel()
    finite = flat[np.isfinite(flat)]
    assert (list(values.shape), values.size) == (facts["dims"], facts["float_data_len"])
    assert [number(value) for value in flat[:4].tolist()] == [number(value) for value in facts["first"]]
    assert float(finite.sum()) == facts["finite_sum"]
    kinds = (np.isnan(flat), np.isposinf(flat), np.isneginf(flat))
    assert [int(kind.sum()) for kind in kinds] == [facts["nan"], facts["pos_inf"], facts["neg_inf"]]


@pytest.mark.parametrize(("path", "row"), rows("histogram"))
def test_histograms(path: Path, row: dict[str, Any]) -> None:
    pairs = first_and_last(path, "histogram", row)
    columns = histograms([payload for payload, _ in pairs])
    for index, (_, facts) in enumerate(pairs):
        buckets = slice(columns.bounds[index], columns.bounds[index + 1])
        counts, left, width = (column[buckets] for column in (columns.counts, columns.left, columns.width))
        assert (len(counts), int(counts.sum())) == (facts["bucket_number"], facts["bucket_count_sum"])
        shown = facts["counts"]
        wanted = shown if "..." not in shown else shown[: shown.index("...")]
        assert counts[: len(wanted)].tolist() == wanted
        if len(counts):
            assert [left[0], left[-1] + width[-1]] == [facts["first_left"], facts["last_right"]]
            assert [width.min(), width.max()] == [facts["width_min"], facts["width_max"]]
        summary = (columns.count, columns.nan, columns.positive_infinity, columns.negative_infinity)
        names = ("count", "nan_count", "pos_inf_count", "neg_inf_count")
        assert [int(column[index]) for column in summary] == [facts[name] for name in names]
        edges = [number(column[index]) for column in (columns.low, columns.high, columns.total)]
        assert edges == [number(facts[name]) for name in ("min", "max", "sum")]


@pytest.mark.parametrize(("path", "row"), rows("landscape"))
def test_landscapes(path: Path, row: dict[str, Any]) -> None:
    for payload, facts in first_and_last(path, "landscape", row):
        result = landscape(payload)
        metadata = {name: getattr(result, name) for name in ("decomposition", "unit", "step_per_epoch")}
        assert metadata == facts.get("metadata", metadata)
        assert list(result.intervals) == facts.get("loss_path", {}).get("intervals", [])
        points = (result.grid, facts.get("landscape")), (result.convergence, facts.get("convergence_point"))
        for point, axes in (*points, (result.path, facts.get("loss_path", {}).get("points"))):
            assert (point is None) == (axes is None)
            for axis, wanted in (axes or {}).items():
                check_tensor(getattr(point, axis), wanted)


@pytest.mark.parametrize(("path", "expected"), HEALTHY)
def test_graphs(path: Path, expected: dict[str, Any]) -> None:
    data = path.read_bytes()
    section = decode(data, 0, True)
    graphs = payloads(section, data, "graph", "") if expected.get("graphs") else []
    assert "graph" not in {reference.kind for reference in section.references} or graphs
    messages = [GraphProto.FromString(payload) for payload in graphs]
    counts = [
        (len(graph.node), len(graph.parameters), len(graph.const_vals), graph.name) for graph in messages
    ]
    assert counts == [
        (graph["nodes"], graph["parameters"], graph["const_vals"], graph["name"])
        for graph in expected.get("graphs", [])
    ]


@pytest.mark.parametrize(("path", "expected"), _cases())
def test_sample_reads_as_with_protobuf(
    path: Path, expected: dict[str, Any], reference: Any, facts: Any
) -> None:
    data = path.read_bytes()
    assert facts([decode(data, 0, True)], data) == reference(data)
