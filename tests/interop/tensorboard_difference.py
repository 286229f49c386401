"""What we read of TensorBoard's files beside what ``EventAccumulator`` reads, value by value.

    python tensorboard_difference.py DIR

where ``in_tensorboard.py DIR`` has written runs and what TensorBoard reads. Exits 1 where they differ.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import mindinsight
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.payloads.chart_payloads import layout
from mindinsight.server.formats.payloads.histogram_payloads import histograms
from mindinsight.server.formats.payloads.media_payloads import image, sound, text
from mindinsight.server.formats.payloads.tensor_payloads import tensor
from mindinsight.server.store.run import Run

# Kinds of tensors of numbers by plugin.
_NUMBERS = {"": "tensor", "tensor": "tensor", "pr_curves": "pr_curve"}


def differences(target: Path) -> list[str]:
    """One line for each thing that is not what TensorBoard reads."""
    expected = json.loads((target / "expected.json").read_text())
    summary = mindinsight.open(target / "runs")
    runs = {run: summary.run(run) for run in summary.runs}
    lines = [] if set(runs) == {f"./{run}" for run in expected} else [f"runs: {sorted(runs)}"]
    for name, facts in expected.items():
        lines += [f"{name}: {line}" for line in _of_run(runs[f"./{name}"], facts)]
    return lines


def _of_run(run: Run, facts: dict) -> Iterator[str]:
    damaged = [file.name for file in run.files if file.damage or file.error]
    if damaged:
        yield f"damaged: {damaged}"
    for tag, rows in facts["scalars"].items():
        yield from _scalar(run, tag, [[step, wall, float(value)] for step, wall, value in rows])
    for tag, rows in facts["images"].items():
        images = _payloads(run, "image", tag, image)
        read = [[step, i.width, i.height, digest(i.encoded)] for step, i in images]
        yield from _compared(f"image {tag}", read, rows)
    for tag, rows in facts["histograms"].items():
        for (step, payload), row in zip(_payloads(run, "histogram", tag, bytes), rows, strict=True):
            yield from _histogram(f"histogram {tag} at {step}", payload, row)
    for tag, rows in facts["audio"].items():
        read = [[step, digest(s.encoded)] for step, s in _payloads(run, "audio", tag, sound)]
        yield from _compared(f"audio {tag}", read, rows)
    for tag, tensors in facts["tensors"].items():
        yield from _tensors(run, tag, tensors["plugin"], tensors["values"])
    if facts["graph"]:
        yield from _graph(run, facts["graph"])


def _scalar(run: Run, tag: str, rows: list) -> Iterator[str]:
    series = run.scalars[tag]
    recorded, line = series.recorded(), series.line()
    whole = [
        list(row)
        for row in zip(
            *map(np.ndarray.tolist, (recorded.steps, recorded.walls, recorded.values)), strict=True
        )
    ]
    points = [
        list(row) for row in zip(*map(np.ndarray.tolist, (line.steps, line.walls, line.values)), strict=True)
    ]
    if repr(whole) != repr(rows):  # NaN is not itself
        yield from _compared(f"scalar {tag}", repr(points), repr(rows))


def _histogram(what: str, payload: bytes, row: list) -> Iterator[str]:
    _, low, high, count, total, limits, counts = row
    h = histograms([payload])
    filled = np.flatnonzero(np.array(counts) > 0)
    inner = np.array(limits, float)[filled[0] : filled[-1]].tolist()
    yield from _compared(what, h.counts.tolist(), [int(n) for n in counts[filled[0] : filled[-1] + 1]])
    yield from _compared(what, h.left.tolist(), [float(low), *inner])
    edges = (h.left + h.width).tolist()
    if not np.allclose(edges, [*inner, float(high)], rtol=1e-12):
        yield f"{what}: right edges {edges}"
    facts = [int(h.count[0]), float(h.low[0]), float(h.high[0]), float(h.total[0])]
    yield from _compared(what, facts, [int(float(count)), float(low), float(high), float(total)])


def _tensors(run: Run, tag: str, plugin: str, rows: list) -> Iterator[str]:
    if plugin == "scalars":
        read = run.scalars[tag].recorded()
        points = list(zip(read.steps.tolist(), map(float, read.values), strict=True))
        yield from _compared(f"scalar {tag}", points, [(step, float(flat[0])) for step, _, flat in rows])
    elif plugin == "images":
        for number in range(len(rows[0][2]) - 2):
            name = tag if len(rows[0][2]) == 3 else f"{tag}/{number}"
            read = [[step, digest(i.encoded)] for step, i in _payloads(run, "image", name, image)]
            yield from _compared(f"image {name}", read, [[step, flat[2 + number]] for step, _, flat in rows])
    elif plugin == "text" and len(rows[0][2]) < 3:
        read = [[step, digest(content.encode())] for step, content in _payloads(run, "text", tag, text)]
        yield from _compared(f"text {tag}", read, [[step, flat[0]] for step, _, flat in rows])
    elif plugin == "audio":
        yield from _sounds(run, tag, rows)
    elif plugin == "custom_scalars":
        read = [[step, digest(data)] for step, data in _payloads(run, "layout", tag, bytes)]
        yield from _compared(f"layout {tag}", read, [[step, flat[0]] for step, _, flat in rows])
        if not all(charts for _, charts in _payloads(run, "layout", tag, layout)):
            yield f"layout {tag}: no charts"
    elif plugin == "histograms":
        for (step, payload), row in zip(_payloads(run, "histogram", tag, bytes), rows, strict=True):
            h = histograms([payload])
            triples = np.column_stack([h.left, h.left + h.width, h.counts]).ravel()
            if step != row[0] or not np.allclose(triples, np.array(row[2], float), rtol=1e-12, atol=1e-15):
                yield f"histogram {tag} at {step}: {triples}"
    elif plugin in _NUMBERS:
        kind = _NUMBERS[plugin]
        for (step, read), row in zip(_payloads(run, kind, tag, tensor), rows, strict=True):
            yield from _compared(f"{kind} {tag}", [step, list(read.shape)], row[:2])
            yield from _compared(
                f"{kind} {tag}", read.values.astype(float).ravel().tolist(), list(map(float, row[2]))
            )

    elif plugin not in ("text", "hparams"):
        steps = [step for step, _ in _payloads(run, "other", tag, bytes)]
        yield from _compared(f"other {tag}", steps, [row[0] for row in rows])


def _sounds(run: Run, tag: str, rows: list) -> Iterator[str]:
    """Tensors of (sound, label): of several in one step each is a tag."""
    pairs = len(rows[0][2]) // 2
    for number in range(pairs):
        name = tag if pairs == 1 else f"{tag}/{number}"
        read = [
            [step, digest(s.encoded), digest(s.label.encode())]
            for step, s in _payloads(run, "audio", name, sound)
        ]
        expected = [[step, *flat[2 * number : 2 * number + 2]] for step, _, flat in rows]
        yield from _compared(f"audio {name}", read, expected)


def _graph(run: Run, nodes: list) -> Iterator[str]:
    series = next(iter(run.references["graph"].values()))
    graph = read_graph(series.read(series.count - 1))
    yield from _compared("graph", sorted(graph.types), sorted(op for _, op, _ in nodes))
    names = {name for name, _, _ in nodes}
    known = sum(
        source.lstrip("^").partition(":")[0] in names for _, _, sources in nodes for source in sources
    )
    yield from _compared("graph edges", len(graph.edges), known)


def _payloads(run: Run, kind: str, tag: str, decode: Callable) -> list:
    series = run.references[kind][tag]
    return [(int(series.steps[row]), decode(series.read(row))) for row in range(series.count)]


def _compared(what: str, read: object, expected: object) -> Iterator[str]:
    if read != expected:
        yield f"{what}: {read} and not {expected}"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


if __name__ == "__main__":
    lines = differences(Path(sys.argv[1]))
    print("\n".join(lines) or "everything is read as TensorBoard reads it")
    sys.exit(bool(lines))
