"""Workloads: runs of known size and content, the same values in MindSpore's and in TensorBoard's format.

Deterministic. Made once and kept in ``benchmarks/.data``; ``python -m benchmarks.workloads`` makes them all.

W1: 8 runs of 10 scalar tags and 100 000 steps. W2: 999 runs of 5 tags and 1 000 steps. W3: one run of
100 histogram tags, 500 steps and 50 buckets; one of 5 image tags and 200 PNG of 256 x 256; one of 4 tensor
tags and 50 steps of 64 x 64 x 16 float32. W4: a graph of 20 000 nodes in nested scopes. W5: a run that a
step is appended to. W6: a run of 1 million points in which every record may have another shape. Wide: a run
of 10 000 tags and 200 steps, as trainings of large models write them; wide_long: of 1 000 and 20 000. Eight
runs: those of W1 with 1 000 steps.
"""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks import encoding
from benchmarks.encoding import FORMATS, Format
from benchmarks.graphs import graph_records
from mindinsight.proto.summary_pb2 import Summary

DATA = Path(__file__).with_name(".data")
START = 1_700_000_000.0
FILE_NAME = {
    "mindspore": "events.out.events.summary.{}.0.host_MS",
    "tensorboard": "events.out.tfevents.{}.host.1.0",
}
LAYERS = "layers.{layer}.block.{block}.grad_norm"
_POINTS = 200_000  # made at a time
VERSION = 1  # part of the folder's name: another content, another folder

Records = Iterator[bytes]


def folder(name: str, form: Format) -> Path:
    """The base directory of a workload, made when it is not there."""
    target = DATA / f"{name}-{VERSION}" / form
    if not target.exists():
        partial = target.with_name(f"{form}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        for run, records in WORKLOADS[name](form):
            write_run(partial / run, records, form)
        partial.rename(target)
    return target


def write_run(directory: Path, records: Records, form: Format) -> Path:
    """One event file named as its writer would name it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / FILE_NAME[form].format(int(START))
    with path.open("wb") as file:
        file.write(encoding.first_record(START, form))
        for record in records:
            file.write(record)
    return path


def scalar_run(
    number: int, tags: int, steps: int, form: Format, name: str = "train/{kind}_{index}"
) -> Records:
    """Losses that fall and metrics that rise, with noise; a step every 50 ms or so."""
    rng = np.random.default_rng(number)
    names = [
        name.format(
            kind="loss" if index % 2 else "accuracy", index=index, layer=index // 100, block=index % 100
        )
        for index in range(tags)
    ]
    most = min(20_000, max(_POINTS // tags, 1))
    for first in range(1, steps + 1, most):
        counted = np.arange(first, min(first + most, steps + 1))
        walls = START + 0.05 * counted + 0.01 * rng.random(len(counted))
        curve = 1 / np.sqrt(counted)[:, None] * np.where(np.arange(tags) % 2, 1, -1)
        numbers = (curve + 0.05 * rng.standard_normal((len(counted), tags))).astype(np.float32)
        yield from encoding.scalar_steps(walls, counted, names, numbers, form)


def w1(form: Format, runs: int = 8, steps: int = 100_000) -> Iterator[tuple[str, Records]]:
    for run in range(runs):
        yield f"run_{run}", scalar_run(run, 10, steps, form)


def eight_runs(form: Format) -> Iterator[tuple[str, Records]]:
    return w1(form, steps=1000)


def w2(form: Format) -> Iterator[tuple[str, Records]]:
    for run in range(999):
        yield f"run_{run:03}", scalar_run(run, 5, 1000, form)


def w3(form: Format) -> Iterator[tuple[str, Records]]:
    yield "histograms", histogram_records(form, tags=100, steps=500, buckets=50)
    yield "images", image_records(form, tags=5, steps=200, side=256)
    yield "tensors", tensor_records(form, tags=4, steps=50, shape=(64, 64, 16))


def w4(form: Format) -> Iterator[tuple[str, Records]]:
    yield "graph", graph_records(form, nodes=20_000)


def w5(form: Format) -> Iterator[tuple[str, Records]]:
    yield "live", scalar_run(5, 10, 1, form)


def append_step(path: Path, step: int, wall: float, form: Format) -> None:
    """One more step of W5."""
    numbers = np.sin(0.01 * step + np.arange(10)).astype(np.float32)[None]
    names = [f"train/{'loss' if index % 2 else 'accuracy'}_{index}" for index in range(10)]
    with path.open("ab") as file:
        file.write(b"".join(encoding.scalar_steps(np.array([wall]), np.array([step]), names, numbers, form)))


def w6(form: Format) -> Iterator[tuple[str, Records]]:
    yield "mixed", mixed_records(form, points=1_000_000)


def wide(form: Format) -> Iterator[tuple[str, Records]]:
    yield "wide", scalar_run(7, 10_000, 200, form, LAYERS)


def wide_long(form: Format) -> Iterator[tuple[str, Records]]:
    yield "wide_long", scalar_run(8, 1_000, 20_000, form, LAYERS)


def mixed_records(form: Format, points: int) -> Records:
    """10 tags always, 10 on every second to sixth step, 10 for episodes, 10 by chance, and payloads."""
    rng = np.random.default_rng(6)
    names = [f"layer_{index}/{('loss', 'grad_norm', 'lr')[index % 3]}" for index in range(40)]
    heads = [encoding.scalar(name, b"", form) for name in names]
    heads = [_grown(head, 4) for head in heads]
    count, step = 0, 0
    episodes = np.ones(10, bool)
    while count < points:
        step += 1
        episodes ^= rng.random(10) < 0.02
        every = step % np.arange(2, 7).repeat(2) == 0
        on = np.concatenate([np.ones(10, bool), every, episodes, rng.random(10) < 0.3])
        numbers = rng.standard_normal(40).astype("<f4").tobytes()
        values = [heads[tag] + numbers[4 * tag : 4 * tag + 4] for tag in np.flatnonzero(on).tolist()]
        values += _payloads_of_step(rng, step, form)
        count += len(values)
        yield encoding.event(START + 0.05 * step, step, values, form)


def _grown(head: bytes, by: int) -> bytes:
    """A short value whose content is to be ``by`` bytes longer: its length is its second byte."""
    return bytes([head[0], head[1] + by]) + head[2:]


def _payloads_of_step(rng: np.random.Generator, step: int, form: Format) -> list[bytes]:
    values = []
    if step % 10 == 0:
        counts = rng.integers(0, 10 ** rng.integers(1, 6), int(rng.integers(10, 60)))
        values.append(_histogram(f"layer_{step % 4}/weights", counts, form))
    if step % 100 == 50:
        values.append(_image("input", rng.integers(0, 256, (32, 32, 3), np.uint8)))
    if step % 200 == 0:
        values.append(_tensor("activations", rng.standard_normal((32, 32)).astype(np.float32), form))
    return values


def histogram_records(form: Format, tags: int, steps: int, buckets: int) -> Records:
    rng = np.random.default_rng(3)
    for step in range(1, steps + 1):
        counts = rng.poisson(2000 * np.hanning(buckets + 2)[1:-1], (tags, buckets))
        values = [_histogram(f"layer_{tag}/weights", counts[tag], form) for tag in range(tags)]
        yield encoding.event(START + 0.05 * step, step, values, form)


def _histogram(tag: str, counts: np.ndarray, form: Format) -> bytes:
    """Counts of values between -1 and 1."""
    edges = np.linspace(-1, 1, len(counts) + 1)
    total, width = int(counts.sum()), float(edges[1] - edges[0])
    if form == "mindspore":
        buckets = [
            Summary.Histogram.bucket(left=left, width=width, count=count)
            for left, count in zip(edges[:-1].tolist(), counts.tolist(), strict=True)
        ]
        message = Summary.Histogram(
            buckets=buckets, nan_count=0, pos_inf_count=0, neg_inf_count=0, max=1, min=-1, sum=0, count=total
        )
        payload = message.SerializeToString()
    else:  # HistogramProto: min, max, num, sum, sum_squares, bucket_limit, bucket
        numbers = enumerate((-1, 1, total, 0, 0), 1)
        heads = [bytes([field << 3 | 1]) + struct.pack("<d", number) for field, number in numbers]
        limits = encoding.message(6, edges[1:].tobytes())
        payload = b"".join(heads) + limits + encoding.message(7, counts.astype("<f8").tobytes())
    return encoding.value(tag, encoding.HISTOGRAM_FIELD[form], payload)


def image_records(form: Format, tags: int, steps: int, side: int) -> Records:
    rng = np.random.default_rng(4)
    for step in range(1, steps + 1):
        pixels = rng.integers(0, 16, (tags, side, side, 3), np.uint8) * np.uint8(16)
        values = [_image(f"input_{tag}", pixels[tag]) for tag in range(tags)]
        yield encoding.event(START + 0.05 * step, step, values, form)


def _image(tag: str, pixels: np.ndarray) -> bytes:
    height, width, _ = pixels.shape
    picture = Summary.Image(height=height, width=width, colorspace=3, encoded_image=png(pixels))
    return encoding.value(tag, encoding.IMAGE_FIELD, picture.SerializeToString())


def png(pixels: np.ndarray) -> bytes:
    """8-bit RGB, every line unfiltered (PNG specification, 3rd edition)."""
    height, width, _ = pixels.shape
    lines = np.insert(pixels.reshape(height, -1), 0, 0, axis=1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 1)), (b"IEND", b""))
    parts = [(struct.pack(">I", len(data)), kind + data, zlib.crc32(kind + data)) for kind, data in chunks]
    body = b"".join(size + data + struct.pack(">I", crc) for size, data, crc in parts)
    return b"\x89PNG\r\n\x1a\n" + body


def tensor_records(form: Format, tags: int, steps: int, shape: tuple[int, ...]) -> Records:
    rng = np.random.default_rng(5)
    for step in range(1, steps + 1):
        numbers = rng.standard_normal((tags, *shape), np.float32)
        values = [_tensor(f"activations_{tag}", numbers[tag], form) for tag in range(tags)]
        yield encoding.event(START + 0.05 * step, step, values, form)


def _tensor(tag: str, values: np.ndarray, form: Format) -> bytes:
    raw = values.astype("<f4").tobytes()
    if form == "mindspore":  # dims, data_type DT_FLOAT32, float_data
        dims = b"".join(b"\x08" + encoding.varint(size) for size in values.shape)
        payload = dims + b"\x10\x0b" + encoding.message(3, raw)
    else:  # dtype DT_FLOAT, tensor_shape, tensor_content
        dims = b"".join(encoding.message(2, b"\x08" + encoding.varint(size)) for size in values.shape)
        payload = b"\x08\x01" + encoding.message(2, dims) + encoding.message(4, raw)
    return encoding.value(tag, encoding.TENSOR_FIELD, payload)


WORKLOADS: dict[str, Callable[[Format], Iterator[tuple[str, Records]]]] = {
    "w1": w1, "w2": w2, "w3": w3, "w4": w4, "w5": w5, "w6": w6, "wide": wide, "wide_long": wide_long,
    "eight_runs": eight_runs,
}  # fmt: skip

if __name__ == "__main__":
    for workload in WORKLOADS:
        for form in FORMATS:
            print(folder(workload, form))
