"""``python -m benchmarks.large_checkpoints``: memory while checkpoints of 7 GB are looked at.

Each file holds ``TENSORS`` float32 tensors of 64 MB. They are sparse, so that making them takes no time:
zeros are read by the same code as other numbers. Memory is that of the server and its workers together
(PSS), sampled twenty times a second, over the same server before anything was asked.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from benchmarks.servers import Ours
from mindinsight.proto import checkpoint_pb2

RESULT: Final = Path(__file__).with_name("results") / "large_checkpoints.md"
TENSORS: Final = 112
SHAPE: Final = (4096, 4096)
SIZE: Final = 4 * SHAPE[0] * SHAPE[1]  # bytes
PROMISED: Final = 300  # MB
PAUSE: Final = 0.05  # seconds between two samples


def write_safetensors(path: Path) -> None:
    entries = {
        f"layers.{number}.weight": {
            "dtype": "F32",
            "shape": SHAPE,
            "data_offsets": [number * SIZE, (number + 1) * SIZE],
        }
        for number in range(TENSORS)
    }
    head = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head)
    os.truncate(path, path.stat().st_size + TENSORS * SIZE)


def write_ckpt(path: Path) -> None:
    with path.open("wb") as file:
        for number in range(TENSORS):
            tensor = checkpoint_pb2.CheckpointTensor(dims=SHAPE, tensor_type="Float32").SerializeToString()
            tensor += b"\x1a" + _varint(SIZE)  # tensor_content, whose bytes follow
            tag = f"layers.{number}.weight".encode()
            value = b"\x0a" + _varint(len(tag)) + tag + b"\x12" + _varint(len(tensor) + SIZE) + tensor
            file.write(b"\x0a" + _varint(len(value) + SIZE) + value)
            file.truncate(file.tell() + SIZE)
            file.seek(SIZE, os.SEEK_CUR)


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


FORMATS: Final[dict[str, Callable[[Path], None]]] = {"safetensors": write_safetensors, "ckpt": write_ckpt}


@contextmanager
def sampled(server: Ours) -> Iterator[list[float]]:
    """MB of the server at each sample while the block runs."""
    samples: list[float] = []
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(PAUSE):
            samples.append(server.memory())

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()


def until_done(server: Ours, path: str) -> Any:
    while not (answer := server.get(path))["done"]:
        time.sleep(0.2)
    return answer


def measure(server: Ours, name: str, work: Callable[[], object], bare: float) -> str:
    began, before = time.monotonic(), server.cpu()
    with sampled(server) as samples:
        work()
    peak = max(samples) - bare if samples else 0.0
    seconds, cpu = time.monotonic() - began, server.cpu() - before
    return f"| {name} | {peak:.0f} | {seconds:.1f} | {cpu:.1f} |"


def rows(server: Ours, ending: str, bare: float) -> Iterator[str]:
    first, second = (quote(f"./{name}.{ending}") for name in ("first", "second"))
    tensor = f"file={first}&name=layers.50.weight"
    checkpoint = f"/v2/dump/checkpoint?file={first}"
    yield measure(server, f"{ending}: list of tensors", lambda: server.get(checkpoint), bare)
    yield measure(server, f"{ending}: statistics of all", lambda: until_done(server, checkpoint), bare)
    for name, path in (
        ("values of one", f"/v2/dump/checkpoint/values?{tensor}"),
        ("histogram of one", f"/v2/dump/checkpoint/histogram?{tensor}"),
        ("heat map of one", f"/v2/dump/checkpoint/heatmap?{tensor}"),
    ):
        yield measure(server, f"{ending}: {name}", lambda path=path: server.get_bytes(path), bare)  # type: ignore[misc]
    difference = f"/v2/dump/checkpoint/difference?first={first}&second={second}"
    yield measure(server, f"{ending}: difference of two", lambda: until_done(server, difference), bare)


def main() -> None:
    lines = ["| 7.5 GB | MB over the server | wall s | CPU s |", "|---|--:|--:|--:|"]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        base.mkdir()
        for ending, write in FORMATS.items():
            write(base / f"first.{ending}")
            write(base / f"second.{ending}")
        with Ours(base, Path(folder) / "workspace") as server:
            server.wait(0)
            server.get("/v2/dump/checkpoints")
            bare = server.memory()
            for ending in FORMATS:
                for line in rows(server, ending, bare):
                    print(line, flush=True)
                    lines.append(line)
    text = f"`python -m benchmarks.large_checkpoints`; {TENSORS} tensors of 64 MB; {PROMISED} MB promised."
    RESULT.write_text(f"# Memory of large checkpoints\n\n{text}\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
