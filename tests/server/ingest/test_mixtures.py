"""Whatever writers do to a directory, readers see what a slow reader of single records would see.

The slow reader knows nothing of columns: it walks each file record by record with protobuf, checks both
checksums, skips a record whose payload is wrong, goes on at the next header that is right and waits at a
record that is cut.
"""

import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import google_crc32c
from hypothesis import HealthCheck, settings, strategies
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from mindinsight.proto.framing import decode_header, decode_payload, encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from mindinsight.server.store.file_names import order
from mindinsight.server.store.store import Store
from tests.thoroughness import amount

TAGS = ["loss", "acc", "lr", "grad/norm"]


def event_record(step: Any, scalars: Any, image: Any) -> Any:
    event = Event(wall_time=1.0 + step, step=step)
    for tag, value in scalars.items():
        event.summary.value.add(tag=tag, scalar_value=value)
    if image:
        value = event.summary.value.add(tag="picture")
        value.image.height = value.image.width = value.image.colorspace = 1
        value.image.encoded_image = image
    return encode_record(event.SerializeToString())


def events_of(path: Any) -> Iterator[Any]:
    """Events of a file, one by one."""
    data = path.read_bytes()
    at = 0
    while len(data) - at >= 12:
        size = decode_header(data[at : at + 12])
        if size is None:
            at += 1
            continue
        if at + 16 + size > len(data):
            return
        payload = decode_payload(data[at + 12 : at + 16 + size])
        if payload is not None:
            yield Event.FromString(payload)
        at += 16 + size


def slowly(base: Any) -> Any:
    """(run, tag) -> [(step, value)] in file order, oldest file first."""
    table: dict[Any, Any] = {}
    for path in sorted(base.glob("*/*summary*"), key=lambda path: (path.parent, order(path.name))):
        for event in events_of(path):
            for value in event.summary.value:
                result = value.scalar_value if value.WhichOneof("value") == "scalar_value" else value.image
                result = result if isinstance(result, float) else result.SerializeToString()
                table.setdefault((f"./{path.parent.name}", value.tag), []).append((event.step, result))
    return table


def published(snapshot: Any) -> Any:
    table = {}
    for run in snapshot.runs.values():
        for tag, series in run.scalars.items():
            columns = series.columns()
            table[run.id, tag] = list(zip(columns.steps.tolist(), columns.values.tolist(), strict=True))
        for tag, references in run.references.get("image", {}).items():
            rows = range(references.count)
            table[run.id, tag] = [(int(references.steps[row]), references.read(row)) for row in rows]
    return table


def segments(steps_by_file: Any) -> Any:
    """Rows at which the step goes back."""
    steps = [step for steps in steps_by_file for step in steps]
    return [0, *(row for row in range(1, len(steps)) if steps[row] < steps[row - 1])]


records = strategies.builds(
    event_record,
    strategies.integers(-3, 300),
    strategies.dictionaries(strategies.sampled_from(TAGS), strategies.sampled_from([0.0, 0.5]), max_size=4),
    strategies.sampled_from([b"", b"", b"PNG", b"P" * 300]),
)


class Directory(RuleBasedStateMachine):
    """Writers that append, tear, restart, roll over, replace and remove; a loader that looks now and then."""

    files = Bundle("files")

    @initialize()
    def begin(self) -> None:
        self.top = Path(tempfile.mkdtemp())
        self.base = self.top / "summary"
        self.base.mkdir()
        self.number = 0
        self.damaged: set[Any] = set()
        self.grown: set[Any] = set()
        self.begin_server()

    def begin_server(self) -> None:
        self.store = Store()
        self.loader = Loader(Settings(self.base, self.top / "workspace", reload_interval=0), self.store)

    @rule(target=files, run=strategies.sampled_from("ab"), older=strategies.booleans())
    def new_file(self, run: Any, older: Any) -> Any:
        self.number += 1
        seconds = 1000 - self.number if older else 1000 + self.number
        path = self.base / run / f"events.out.events.summary.{seconds}.0.host_MS"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(self.first_record())
        return path

    @rule(path=files, added=strategies.lists(records, min_size=1, max_size=6), keep=strategies.floats(0, 1))
    def append(self, path: Any, added: Any, keep: Any) -> None:
        """Records at the end of a file; first what was torn before is completed by removing it."""
        if path in self.damaged:
            return
        self.grown.add(path)
        whole = path.read_bytes()[: self.whole_size(path)]
        data = b"".join(added)
        torn = data[: len(data) - int(keep * min(len(added[-1]), 20))]
        path.write_bytes(whole + torn)

    @rule(path=files)
    def tear(self, path: Any) -> None:
        """A half-written record."""
        if path in self.damaged:
            return
        self.grown.add(path)
        with path.open("ab") as file:
            file.write(event_record(7, {"loss": 1.0}, b"")[:-3])

    @rule(path=files, part=strategies.floats(0, 1))
    def damage(self, path: Any, part: Any) -> None:
        """A flipped bit in the payload of a record that is there, in a copy that takes the file's place.

        Not in one look with growth or another copy: a longer file with the same beginning and end of what
        was read is believed to have grown, and an inode that is used again to be the one it was.
        """
        bounds = self.bounds(path)
        if bounds and path not in self.grown | self.damaged:
            start, end = bounds[int(part * (len(bounds) - 1))]
            data = bytearray(path.read_bytes())
            data[start + 12 + (end - start - 16) // 2] ^= 0x20
            self.replaced(path, bytes(data))
            self.damaged.add(path)

    @rule(path=files)
    def copy(self, path: Any) -> None:
        """What rsync does: the same bytes under another inode."""
        if path not in self.damaged:
            self.replaced(path, path.read_bytes())
            self.grown.add(path)

    @rule(path=files, content=strategies.lists(records, max_size=3))
    def rewrite(self, path: Any, content: Any) -> None:
        self.number += 1
        path.write_bytes(self.first_record() + b"".join(content))

    @rule(path=consumes(files))
    def remove(self, path: Any) -> None:
        path.unlink()

    @rule()
    def look(self) -> None:
        self.damaged.clear()
        self.grown.clear()
        self.loader.load()
        assert published(self.store.snapshot()) == slowly(self.base)

    @rule()
    def restart(self) -> None:
        """The server ends, another one begins with what the first kept."""
        self.loader.start()
        threads = [thread for thread in threading.enumerate() if thread.name == "loader"]
        self.loader.stop()
        for thread in threads:  # stop waits for half a second only, and two loaders would share a cache
            thread.join()
        self.begin_server()
        self.look()

    @invariant()
    def segments_are_where_steps_go_back(self) -> None:
        for run in self.store.snapshot().runs.values():
            for series in run.scalars.values():
                columns = series.columns()
                assert columns.starts.tolist() == segments([columns.steps.tolist()])
                assert series.count == len(columns.steps)

    def first_record(self) -> Any:
        event = Event(wall_time=float(self.number), version="MindSpore.Event:1")
        return encode_record(event.SerializeToString())

    def replaced(self, path: Any, data: Any) -> None:
        copy = path.with_name(f".{path.name}.copy")
        copy.write_bytes(data)
        copy.replace(path)

    def bounds(self, path: Any) -> Any:
        data, at, records = path.read_bytes(), 0, []
        while len(data) - at >= 12:
            size = decode_header(data[at : at + 12])
            if size is None or at + 16 + size > len(data):
                break
            records.append((at, at + 16 + size))
            at += 16 + size
        return records

    def whole_size(self, path: Any) -> Any:
        bounds = self.bounds(path)
        return bounds[-1][1] if bounds else 0

    def teardown(self) -> None:
        shutil.rmtree(self.top)


TestDirectory = Directory.TestCase
TestDirectory.settings = settings(
    max_examples=amount(40, 15),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def test_the_slow_reader_checks_what_it_reads(tmp_path: Path) -> None:
    record = event_record(1, {"loss": 0.5}, b"")
    damaged = bytearray(record * 3)
    damaged[len(record) + 20] ^= 1
    path = tmp_path / "a" / "events.out.events.summary.1.0.host_MS"
    path.parent.mkdir()
    path.write_bytes(bytes(damaged) + record[:-1])
    assert slowly(tmp_path) == {("./a", "loss"): [(1, 0.5), (1, 0.5)]}
    assert google_crc32c.value(b"123456789") == 0xE3069283
