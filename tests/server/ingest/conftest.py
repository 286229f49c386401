"""Event files written record by record, and a loader that is driven by hand."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from mindinsight.server.store.store import Store
from tests.waiting import until


class Events:
    """Writes event files by the proto messages, one record at a time."""

    name = "events.out.events.summary.{}.0.host_MS"

    def version(self, wall: Any = 1.0) -> Any:
        return encode_record(Event(wall_time=wall, version="MindSpore.Event:1").SerializeToString())

    def record(
        self, step: Any, wall: Any = None, *, image: Any = None, tensor: Any = None, **scalars: Any
    ) -> Any:
        """One framed event; ``image`` and ``tensor`` are (tag, bytes or numbers)."""
        event = Event(wall_time=float(step) if wall is None else wall, step=step)
        for tag, value in scalars.items():
            event.summary.value.add(tag=tag, scalar_value=value)
        if image is not None:
            value = event.summary.value.add(tag=image[0])
            value.image.height = value.image.width = value.image.colorspace = 1
            value.image.encoded_image = image[1]
        if tensor is not None:
            value = event.summary.value.add(tag=tensor[0])
            value.tensor.dims.append(len(tensor[1]))
            value.tensor.data_type = 11
            value.tensor.float_data.extend(tensor[1])
        return encode_record(event.SerializeToString())

    def records(self, *steps: Any, tag: str = "loss", scale: Any = 1.0) -> Any:
        return b"".join(self.record(step, **{tag: step * scale}) for step in steps)

    def file(
        self, directory: Any, content: bytes = b"", seconds: int = 1_700_000_000, name: Any = None
    ) -> Any:
        """An event file in a directory that is made when it is missing."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / (name or self.name).format(seconds)
        path.write_bytes(content)
        return path

    def append(self, path: Any, content: Any) -> None:
        with path.open("ab") as file:
            file.write(content)


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def base(tmp_path: Path) -> Any:
    directory = tmp_path / "summary"
    directory.mkdir()
    return directory


@pytest.fixture
def settings(base: Any, tmp_path: Path) -> Settings:
    return Settings(base, tmp_path / "workspace", reload_interval=0.25, watch="polling", workers=1)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def steps(store: Store) -> Callable[..., Any]:
    """Steps of a scalar as readers see them, None while there are none."""

    def seen(run: str = "./a", tag: str = "loss") -> Any:
        answer = store.snapshot().runs.get(run)
        series = answer.scalars.get(tag) if answer else None
        return series.columns().steps.tolist() if series else None

    return seen


@pytest.fixture
def loader(settings: Settings, store: Store) -> Loader:
    """Not started: each ``load`` looks and reads once, in the test's own thread."""
    return Loader(settings, store)


@pytest.fixture
def started(loader: Loader) -> Iterator[Any]:
    """Follows the base by polling, in a thread of its own."""
    others = loader_threads()
    loader.start()
    yield loader
    loader.stop()
    assert loader_threads() <= others


def loader_threads() -> set[Any]:
    return {thread for thread in threading.enumerate() if thread.name == "loader"}


@pytest.fixture
def wait() -> Callable[..., Any]:
    return until
