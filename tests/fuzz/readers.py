"""Every reader as a function of bytes that may be anything, and the small files to start from.

A function returns when the bytes were read or refused in the reader's own words. Whatever else it raises
is a finding: a crash, or a value that differs from what a plain reader finds in the same bytes.
"""

from __future__ import annotations

import json
import runpy
import struct
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from mindinsight.proto.framing import decode_header, decode_payload, encode_record
from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats import events
from mindinsight.server.formats.dumps.layouts.asynchronous import read_opdebug, read_slot, read_slots
from mindinsight.server.formats.dumps.npy_folder import read_statistics
from mindinsight.server.formats.events import decode
from mindinsight.server.formats.events.framing import verified_records
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.graphs.ir import read_ir, read_pb
from mindinsight.server.formats.graphs.model_explorer import graphs_of
from mindinsight.server.formats.graphs.pipeline_profiles import (
    PipelineProfile,
    ProfileError,
    bottleneck,
    nodes_of,
    parse_batches,
    parse_samples,
    parse_table,
)
from mindinsight.server.formats.graphs.pipelines import Step
from mindinsight.server.formats.lineage import decode_lineage
from mindinsight.server.formats.payloads import tensor_payloads
from mindinsight.server.formats.payloads.chart_payloads import landscape, layout, pr_curve
from mindinsight.server.formats.payloads.code_payloads import code
from mindinsight.server.formats.payloads.histogram_payloads import histograms
from mindinsight.server.formats.payloads.media_payloads import alert, image, sound, text
from mindinsight.server.formats.read_limits import Limits, UnreadableError
from mindinsight.server.formats.sanitizer import encodable, parse_integer
from mindinsight.server.formats.tensorboard import TENSORBOARD, transcode
from mindinsight.server.formats.tensorboard.hparams import read_session
from mindinsight.server.formats.text_files import read_json as parsed_json
from mindinsight.server.formats.text_files import read_object
from mindinsight.server.formats.wav import peaks, wav
from mindinsight.server.formats.weights.weight_files import open_weights
from mindinsight.writer.program import program_facts

DATA = Path(__file__).parents[1] / "data"
SAMPLES = DATA / "dumps" / "samples"
HEAVY = 1 << 14  # bytes of an input that repeats or is empty
LARGEST = 16_384  # bytes of a seed
MOST = 1 << 28  # bytes that a tensor of so small a file may take
PEAK = 256 << 20  # bytes of memory for an input of at most a megabyte
PATIENCE = 120  # s of processor time for one; most take milliseconds
PLAIN = runpy.run_path(str(DATA.parent / "server" / "formats" / "events" / "conftest.py"))

_WHOLE, _FRAMED = b"\0", b"\1"  # first byte: the file as it is, or payloads whose checksums are made right


class Reader(NamedTuple):
    """What to call with bytes, and what to begin with."""

    read: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]


def read_within_budget(read: Callable[[bytes], None], data: bytes) -> None:
    """Read, and fail where that took more memory or time than any file of this size may take."""
    tracemalloc.start()
    began = time.process_time()
    try:
        read(data)
        peak, spent = tracemalloc.get_traced_memory()[1], time.process_time() - began
    finally:
        tracemalloc.stop()
    assert peak <= PEAK, f"{len(data)} bytes took {peak >> 20} MiB"
    assert spent <= PATIENCE, f"{len(data)} bytes took {spent:.0f} s"


def heavy_inputs(seed: bytes) -> Iterator[bytes]:
    """Inputs that cost nothing to make: holes, claims of size, repetition, nesting."""
    yield bytes(HEAVY)
    yield seed + bytes(HEAVY)
    yield seed * (HEAVY // (len(seed) + 1))
    for at in range(0, min(len(seed), 64), 4):  # where headers have sizes and counts
        yield seed[:at] + b"\xff\xff\xff\x7f" + seed[at + 4 :]
    for opening in (b"[", b"{", b'{"a":', b"(", b"\x80\2" + b"]", b"\x0a\x02", b"\x80\2]" + b"2a"):
        yield opening * (HEAVY // len(opening))


@dataclass(frozen=True)
class OnDisk:
    """A reader of files, over a file that is written anew each time."""

    use: Callable[[Path], object]
    suffix: str = ""

    def __call__(self, data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"file{self.suffix}")
            path.write_bytes(data)
            try:
                self.use(path)
            except UnreadableError as error:
                assert error.reason.startswith(("dump.", "payload.", "graph.")), error


def read_events(data: bytes) -> None:
    """As a plain reader over protobuf reads them, value by value; and each payload by its own reader."""
    data = file_of(data)
    section = decode(data, 0, at_end=True)
    decoded, plain = PLAIN["facts_of"]([section], data), PLAIN["slow_decode"](data)
    assert (decoded.points, decoded.damaged) == (plain.points, plain.damaged)
    for columns in section.references:
        for offset, size in zip(columns.offsets.tolist(), columns.sizes.tolist(), strict=True):
            read_payload(columns.kind, data[offset : offset + size])


def read_long_records(path: Path) -> None:
    """Records read from the file in blocks say what they say when they are held."""
    data = file_of(path.read_bytes())
    path.write_bytes(data)
    sections, offset = [], 0
    with mock.patch.object(events, "EVENT", Limits("event", 0)):
        while offset < len(data):
            whole = decode_header(data[offset : offset + 12].ljust(12)) is None
            sections.append(events.read_section(str(path), offset, len(data) if whole else 12))
            if sections[-1].next_offset == offset:
                break
            offset = sections[-1].next_offset
    decoded, plain = PLAIN["facts_of"](sections, data), PLAIN["slow_decode"](data)
    assert (decoded.points, decoded.damaged) == (plain.points, plain.damaged)


def read_tensorboard(data: bytes) -> None:
    """Scalars of many records at once as of each record alone; each payload as a message of ours."""
    data = file_of(data)
    section = decode(data, 0, True, TENSORBOARD)
    frames = verified_records(data, True)
    begins = frames.starts.tolist()
    alone = [
        decode(data[at : at + 16 + size], at, False, TENSORBOARD)
        for at, size in zip(begins, frames.sizes.tolist(), strict=True)
    ]
    decoded, plain = PLAIN["facts_of"]([section], data), PLAIN["facts_of"](alone, data)
    scalars = [{key: rows for key, rows in f.points.items() if key[0] == "scalar"} for f in (decoded, plain)]
    assert scalars[0] == scalars[1]
    read_session(note.content for note in section.notes)
    for columns in section.references:
        for offset, size in zip(columns.offsets.tolist(), columns.sizes.tolist(), strict=True):
            read_transcoded(columns.kind, data[offset : offset + size])


def read_transcoded(kind: str, payload: bytes) -> None:
    try:
        message = transcode(kind, payload)
    except UnreadableError as error:
        assert error.reason.startswith(("payload.", "graph.", "dump.")), error
    else:
        read_payload(kind, message)


def read_payload(kind: str, payload: bytes) -> None:
    """The value of one record by the reader of its kind; of ``other`` kinds nothing but the size is read."""
    readers: dict[str, Callable[[bytes], object]] = {
        "alert": alert,
        "graph": read_graph,
        "histogram": lambda message: histograms([message]),
        "image": image,
        "landscape": landscape,
        "tensor": tensor_payloads.tensor,
        "text": text,
        "audio": sound,
        "pr_curve": pr_curve,
        "layout": layout,
        "code": code,
        "other": len,
    }
    try:
        readers[kind](payload)
    except UnreadableError as error:
        assert error.reason.startswith(("payload.", "graph.", "dump.")), error


def read_sound(data: bytes) -> None:
    """A sound, and where it is a WAV file its header and the peaks that are drawn."""
    try:
        encoded = sound(data).encoded
        header = wav(encoded)
        envelope = peaks(encoded, header, 100)
    except UnreadableError as error:
        assert error.reason.startswith(("payload.", "audio.")), error
    else:
        assert envelope.low.shape == envelope.high.shape and np.isfinite(envelope.low).all(), header
        assert (envelope.low <= envelope.high).all(), header


def read_pr_curve(data: bytes) -> None:
    """A curve, how much of it is drawn, and the area under it."""
    try:
        curve = pr_curve(data)
    except UnreadableError as error:
        assert error.reason.startswith(("payload.", "dump.")), error
    else:
        assert 0 <= curve.drawn <= len(curve.thresholds), curve
        float(curve.average_precision)


def read_layout(data: bytes) -> None:
    read_payload("layout", data)


def read_code(data: bytes) -> None:
    read_payload("code", data)


def read_lineages(data: bytes) -> None:
    data = file_of(data)
    lineage = decode_lineage(data)
    assert 0 <= lineage.pending <= len(data)
    assert all(damage.offset >= 0 and damage.offset + damage.size <= len(data) for damage in lineage.damage)


def read_graphs(data: bytes) -> None:
    read_payload("graph", data)


def read_tensor_by_parts(path: Path) -> None:
    """What is read by parts is what is read whole; what can be read whole only is refused or given so."""
    data = path.read_bytes()
    with mock.patch.object(tensor_payloads, "WHOLE", 0):
        recorded = tensor_payloads.recorded(path, 0, len(data))
        pieces = [*recorded.values.pieces()]
        part = recorded.values.part([slice(None, None, 2)] * len(recorded.values.shape))
    try:
        whole = tensor_payloads.tensor(data)
    except UnreadableError as error:
        raise AssertionError(error) from error  # one way of reading must not show what the other refuses
    assert (recorded.data_type, recorded.values.shape, recorded.values.dtype) == (
        whole.data_type,
        whole.shape,
        whole.values.dtype,
    )
    flat = np.concatenate([np.empty(0, whole.values.dtype), *pieces])
    assert flat.tobytes() == whole.values.tobytes()
    assert part.tobytes() == whole.values[(slice(None, None, 2),) * len(whole.shape)].tobytes()


def read_weights(path: Path) -> None:
    """A file of tensors is listed, then every tensor is read."""
    file = open_weights(path)
    for weight in file.weights:
        try:
            assert file.read(weight.name).size <= MOST, weight
        except UnreadableError as error:
            assert error.reason.startswith("dump."), error


def read_bin(path: Path) -> None:
    for slot in read_slots(path).slots:
        read_slot(path, slot.io, slot.number)


def read_json(path: Path) -> None:
    """What came whole is what a plain parser finds, with integers and texts that can be sent."""
    content, wrong = read_object(path, "data")
    if wrong is None:
        text = path.read_bytes().decode("utf-8", "replace")
        assert repr(content) == repr(encodable(json.loads(text, parse_int=parse_integer)))


def read_profiles(data: bytes) -> None:
    """Read a profile in each form, and what is said of it."""
    batches, _ = parse_batches(data)
    for parse in (parse_samples, lambda data: parse_table(data.decode("utf-8", "replace"))):
        try:
            profile: PipelineProfile = parse(data)
        except ProfileError:
            continue
        assert len(profile.sources_first()) == len(profile.operators)
        json.dumps([claim.as_json() for claim in bottleneck(profile)[:1]], allow_nan=False)
        nodes_of(replace(profile, batches=batches), Step("Batch", "b", (Step("Mnist", "m", ()),)))


def read_model_explorer(path: Path) -> None:
    """Each graph of a file of Model Explorer is one that the reader of our own graphs takes."""
    for name, model in graphs_of(parsed_json(path)):
        assert isinstance(name, str)
        read_graph(model)


def file_of(data: bytes) -> bytes:
    """The event file an input stands for: itself, or two bytes of length before each payload to frame."""
    mode, rest, records = data[:1], data[1:], []
    if mode != _FRAMED:
        return rest
    while len(rest) > 2:
        size = int.from_bytes(rest[:2], "little")
        records.append(encode_record(rest[2 : 2 + size]))
        rest = rest[2 + size :]
    return b"".join(records)


def input_of(file: bytes) -> bytes:
    """The input that stands for the payloads of an event file."""
    parts, at = [_FRAMED], 0
    while at + 12 <= len(file) and (size := decode_header(file[at : at + 12])) is not None:
        payload = decode_payload(file[at + 12 : at + 16 + size])
        if payload is not None and size < 1 << 16:
            parts += [struct.pack("<H", size), payload]
        at += size + 16
    return b"".join(parts)


def tensors() -> Iterator[bytes]:
    """A message for each field that may hold the numbers."""
    values = np.arange(24.0, dtype=np.float32)
    for fields in (
        {"data_type": 11, "float_data": values},
        {"data_type": 6, "float_data": values},
        {"data_type": 12, "double_data": values},
        {"data_type": 11, "raw_data": values.tobytes()},
        {"data_type": 10, "raw_data": values.tobytes()[:48]},
        {"data_type": 7, "int64_data": range(24)},
    ):
        yield TensorProto(dims=[2, 3, 4], **fields).SerializeToString()


def sounds() -> Iterator[bytes]:
    """Sounds of every encoding that is drawn, and one that is no WAV file."""
    for encoding, bits in ((1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)):
        samples = bytes(range(96))
        form = struct.pack("<HHIIHH", encoding, 2, 8000, 16000 * bits // 8, 2 * bits // 8, bits)
        chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", 96) + samples
        content = b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks
        yield Summary.Audio(encoded=content, label="**a**").SerializeToString()
    yield Summary.Audio(encoded=b"ID3\4" + bytes(20)).SerializeToString()


def pr_curves() -> Iterator[bytes]:
    """Six rows of counts and shares, as numbers and as bytes."""
    rows = np.arange(30, dtype=np.float32) / 30
    yield TensorProto(dims=[6, 5], data_type=11, float_data=rows).SerializeToString()
    yield TensorProto(dims=[6, 5], data_type=11, raw_data=rows.tobytes()).SerializeToString()


def layouts() -> Iterator[bytes]:
    charts = [
        Summary.Layout.Chart(title="losses", multiline={"tag": ["loss", "val/.*"]}),
        Summary.Layout.Chart(title="band", margin={"series": [{"value": "a", "lower": "b", "upper": "c"}]}),
    ]
    yield Summary.Layout(category=[{"title": "first", "chart": charts}]).SerializeToString()


def model_explorer_files() -> Iterator[bytes]:
    """A collection of graphs, with types written in each of the forms that adapters use."""
    types = ("float32[8,3]", "(8, 4)", "tensor<1x?xbf16>", "i64[None]", "ui8")
    nodes = [
        {
            "id": str(number),
            "label": f"aten.linear/{number}",
            "namespace": "MLP/fc1;MLP",
            "incomingEdges": [{"sourceNodeId": str(number - 1), "targetNodeInputId": str(number % 3)}],
            "attrs": [{"key": "strides", "value": number}, {"key": "uses", "value": {"nodeIds": ["0"]}}],
            "outputsMetadata": [{"id": "0", "attrs": [{"key": "tensor_shape", "value": text}]}],
        }
        for number, text in enumerate(types)
    ]
    graph = {"id": "main", "nodes": nodes}
    for content in (graph, [graph], {"label": "net", "graphs": [graph]}, {"graphCollections": [[graph]]}):
        yield json.dumps(content).encode()


def profiles() -> Iterator[bytes]:
    """Samples and lines of batches by MindSpore, and a table of the same."""
    yield from files("pipelines/*/profiler/*_profiling_0.*")
    header = "op_id,op_type,num_workers,output_queue_size,output_queue_length,sample_interval,children_id\n"
    yield header.encode() + b'0,BatchOp,2,"[0, 16]",16,1000,[1]\n1,MnistOp,1,"[16, 16]",16,1000,\n'


def files(pattern: str) -> Iterator[bytes]:
    for path in sorted(DATA.glob(pattern)):
        if path.stat().st_size <= LARGEST:
            yield path.read_bytes()


def event_seeds(pattern: str) -> Iterator[bytes]:
    for content in files(pattern):
        yield _WHOLE + content
        yield input_of(content)


def packed(archive: str, *endings: str) -> Iterator[bytes]:
    """Small files of one of the archives of dumps, the first of each ending."""
    with zipfile.ZipFile(SAMPLES / archive) as content:
        for ending in endings:
            small = [member for member in content.infolist() if 0 < member.file_size <= LARGEST]
            yield from [content.read(member) for member in small if ending in member.filename][:2]


def arrays() -> Iterator[bytes]:
    """An array of every storage order, and archives of them, stored and packed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.npy")
        for array in (np.arange(12.0).reshape(3, 4), np.asfortranarray(np.eye(5, dtype=">i2")), np.zeros(0)):
            np.save(path, array)
            yield path.read_bytes()
        for save in (np.savez, np.savez_compressed):
            save(path.with_suffix(".npz"), a=np.arange(50.0), b=np.ones((3, 4), np.int8))
            yield path.with_suffix(".npz").read_bytes()


def codes() -> Iterator[bytes]:
    """What our writer records of this program, and of one outside a repository."""
    for facts in (program_facts(["python", "train.py"], Path(__file__).parent, {}), {"python": "3.11"}):
        known = json.dumps({**facts, "packages": {"numpy": "2"}}).encode()
        yield Summary.Code(facts=known).SerializeToString()


READERS = {
    "event": Reader(read_events, lambda: event_seeds("events/**/*summary*MS")),
    "long record": Reader(OnDisk(read_long_records), lambda: event_seeds("events/**/*summary*MS")),
    "tensorboard": Reader(read_tensorboard, lambda: event_seeds("tfevents/runs/**/*tfevents*")),
    "lineage": Reader(read_lineages, lambda: event_seeds("events/**/*lineage")),
    "graph": Reader(read_graphs, lambda: files("graph/*[bh]")),
    "tensor": Reader(OnDisk(read_tensor_by_parts), tensors),
    "sound": Reader(read_sound, sounds),
    "pr curve": Reader(read_pr_curve, pr_curves),
    "layout": Reader(read_layout, layouts),
    "code": Reader(read_code, codes),
    "checkpoint": Reader(OnDisk(read_weights), lambda: files("**/*.ckpt")),
    "npy": Reader(OnDisk(read_weights), arrays),
    "torch": Reader(OnDisk(read_weights), lambda: files("weights/*.pt")),
    "safetensors": Reader(OnDisk(read_weights), lambda: files("weights/*.safetensors")),
    "csv": Reader(OnDisk(read_statistics), lambda: packed("async_synthetic.zip", "statistic.csv")),
    "json": Reader(OnDisk(read_json), lambda: packed("msprobe_pytorch.zip", "construct.json", "stack.json")),
    "model explorer": Reader(OnDisk(read_model_explorer), model_explorer_files),
    "pipeline profile": Reader(read_profiles, profiles),
    "ir": Reader(OnDisk(read_ir), lambda: packed("rdr_v2_0.zip", ".ir")),
    "pb": Reader(OnDisk(read_pb), lambda: packed("rdr_v2_0.zip", ".pb")),
    "bin": Reader(OnDisk(read_bin), lambda: packed("async_synthetic.zip", "/MatMul.", "/Opdebug.")),
    "opdebug": Reader(OnDisk(read_opdebug), lambda: packed("async_synthetic.zip", "/Opdebug.")),
}
