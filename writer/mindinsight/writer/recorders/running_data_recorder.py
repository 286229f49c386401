"""Running data recorder: writer of settings, graph and last values of a failed run."""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol

from mindinsight.proto import framing, graph_pb2, lazy_pb2, summary_pb2
from mindinsight.proto.kinds import KINDS, DataKind
from mindinsight.writer.callbacks import Callback
from mindinsight.writer.encoding.kinds import encoder
from mindinsight.writer.encoding.wire import json_number
from mindinsight.writer.files.event_file import private_folder
from mindinsight.writer.network import graph_of, observed_graph
from mindinsight.writer.ranks import directory_of, rank_of

if TYPE_CHECKING:
    from mindinsight.writer.callbacks import RunContext

__all__ = ["RecorderSettings", "RunningDataRecorder", "leave_if_asked"]


TAIL: Final = 64 << 20  # bytes of each file that are looked at, from its end
_KINDS: Final = {kind.field: kind for kind in KINDS if kind.number and kind.message == "Summary.Value"}


def last_values(files: Iterable[Path], tail: int = TAIL) -> dict[str, dict[str, Any]]:
    """Return the newest value of each tag in ``files``, oldest file first, as {kind: {tag: JSON values}}.

    Only the last ``tail`` bytes of each file are read. Each value has ``step`` and ``wall_time`` (Unix
    seconds). A scalar has its number, a tensor its type, shape, statistics and, if small, elements, an image
    its size, and a histogram its statistics.
    """
    newest: dict[tuple[DataKind, str], tuple[float, int, bytes]] = {}
    for path in files:
        for payload in _payloads(_end_of(path, tail)):
            event = lazy_pb2.LazyEvent.FromString(payload)
            for value in event.summary.value:
                kind = _KINDS.get(value.WhichOneof("value") or "")
                if kind:
                    tag = value.tag.decode("utf-8", "replace")
                    newest[kind, tag] = (event.wall_time, event.step, value.SerializeToString())
    facts: dict[str, dict[str, Any]] = {}
    for (kind, tag), (wall, step, raw) in newest.items():
        value = summary_pb2.Summary.Value.FromString(raw)
        facts.setdefault(kind.name, {})[tag] = {"step": step, "wall_time": wall, **_facts(kind, value)}
    return facts


def recorded_graph(files: Iterable[Path]) -> bytes | None:
    """Return the last graph near the start of ``files`` as bytes of a ModelProto, None without one."""
    graph_def = None
    for path in files:
        with path.open("rb") as file:
            start = file.read(TAIL)
        for payload in _payloads(start):
            event = lazy_pb2.LazyEvent.FromString(payload)
            graph_def = event.graph_def if event.HasField("graph_def") else graph_def
    if graph_def is None:
        return None
    graph = graph_pb2.GraphProto.FromString(graph_def)
    return bytes(graph_pb2.ModelProto(ir_version=graph_pb2.IR_VERSION, graph=graph).SerializeToString())


def _end_of(path: Path, size: int) -> bytes:
    """Return at most the last ``size`` bytes of a file, from the beginning of a record."""
    with path.open("rb") as file:
        start = max(0, file.seek(0, 2) - size)
        file.seek(start)
        content = file.read()
    return content[_first_record(content) :] if start else content


def _payloads(content: bytes) -> Iterator[bytes]:
    """Yield the records with a correct checksum in ``content``. An incomplete record ends the iteration."""
    position = 0
    while position + framing.HEADER_SIZE <= len(content):
        length = framing.decode_header(content[position : position + framing.HEADER_SIZE])
        begin = position + framing.HEADER_SIZE
        if length is None or begin + length + framing.FOOTER_SIZE > len(content):
            return
        position = begin + length + framing.FOOTER_SIZE
        payload = framing.decode_payload(content[begin:position])
        if payload is not None:
            yield payload


def _first_record(content: bytes) -> int:
    """Return the offset of the first record: the first place with a correct checksum of a length."""
    for position in range(len(content) - framing.HEADER_SIZE):
        if framing.decode_header(content[position : position + framing.HEADER_SIZE]) is not None:
            return position
    return len(content)


def _facts(kind: DataKind, value: Any) -> dict[str, Any]:
    """Return the number or the facts of a decoded Summary.Value."""
    if kind.storage == "payload":
        return encoder(kind.name).facts(getattr(value, kind.field))
    exact = value.HasField("exact_scalar")
    return {"value": json_number(value.exact_scalar if exact else getattr(value, kind.field))}


_PACKAGES = ("mindinsight", "numpy", "protobuf", "mindspore", "torch", "jax", "jaxlib")
# Prefixes of variables that configure a training. Other variables may hold secrets.
_SETTINGS = ("MS_", "GLOG_", "RANK", "DEVICE_", "WORLD_SIZE", "LOCAL_RANK", "OMP_NUM_THREADS", "CUDA_VISIBLE")


def versions() -> dict[str, str]:
    """Return the versions by name: ``python``, ``platform``, and those of this package and the installed
    frameworks."""
    installed = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        try:
            installed[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return installed


def process_settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts about this process as JSON values: ``command``, ``directory``, ``process`` (its id),
    ``environment``, ``arguments`` and ``versions``. The environment is limited to variables that configure
    a training (``_SETTINGS``). ``arguments`` are included, objects by their type."""
    environment = {name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)}
    return {
        "command": sys.argv,
        "directory": os.getcwd(),  # noqa: PTH109 - may be gone, which Path.cwd() does not tell better
        "process": os.getpid(),
        "environment": environment,
        "arguments": {str(name): _plain(value) for name, value in arguments.items()},
        "versions": versions(),
    }


def describe_failure(error: BaseException) -> str:
    """Return the traceback in Python's format, including the exceptions that caused ``error``."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return json_number(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return f"{type(value).__module__}.{type(value).__qualname__}"


@dataclass(frozen=True)
class RecorderSettings:
    """Settings of the running data recorder.

    ``mode`` 1 records failed runs, 2 also others. ``path`` defaults to the run's directory.
    """

    enable: bool = False
    mode: int = 1
    path: Path | None = None

    def __post_init__(self) -> None:
        if self.mode not in (1, 2):
            raise ValueError(f"the mode of the recorder is 1 or 2, got {self.mode!r}")

    def wants(self, error: BaseException | None) -> bool:
        """Return True if a run that ``error`` ended, or that ended without one (None), is to be recorded."""
        return self.enable and (error is not None or self.mode == 2)

    @classmethod
    def of(
        cls, environment: Mapping[str, str] = os.environ, config_path: str | Path | None = None
    ) -> RecorderSettings:
        """Return the settings in ``MS_RDR_ENABLE``, ``MS_RDR_MODE`` and ``MS_RDR_PATH``, or in a file. Raises
        ValueError for invalid values and OSError if the file cannot be read.

        The file is JSON, ``{"rdr": {"enable": true, "mode": 1, "path": "/abs/dir"}}``. Without "rdr" in it
        the variables are used. ``config_path`` defaults to the ``env_config_path`` of MindSpore's context, if
        MindSpore is loaded.
        """
        path = config_path or _context_path()
        if path and (section := _section(Path(path))) is not None:
            return cls._checked(section.get("enable", False), section.get("mode", 1), section.get("path"))
        enable, mode = environment.get("MS_RDR_ENABLE", "0"), environment.get("MS_RDR_MODE", "1")
        if enable not in ("0", "1") or mode not in ("1", "2"):
            raise ValueError(f"MS_RDR_ENABLE is 0 or 1 and MS_RDR_MODE 1 or 2, got {enable!r} and {mode!r}")
        return cls._checked(enable == "1", int(mode), environment.get("MS_RDR_PATH"))

    @classmethod
    def _checked(cls, enable: object, mode: Any, path: object) -> RecorderSettings:
        if not isinstance(enable, bool):
            raise ValueError(f"'enable' of the recorder is true or false, got {enable!r}")
        if path is not None and (not isinstance(path, str) or not Path(path).is_absolute()):
            raise ValueError(f"the path of the recorder is absolute, got {path!r}")
        return cls(enable, mode, None if path is None else Path(str(path)))


def _context_path() -> str | None:
    """Return the file set by ``mindspore.set_context(env_config_path=...)``, or None."""
    if "mindspore" not in sys.modules:
        return None
    from mindinsight.writer.frameworks import mindspore

    return mindspore.env_config_path()


def _section(path: Path) -> Mapping[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    section = content.get("rdr") if isinstance(content, dict) else None
    if section is not None and not isinstance(section, dict):
        raise ValueError(f"'rdr' in {path} is an object, got {section!r}")
    return section


_log: Final = logging.getLogger(__name__)


class Run(Protocol):
    """Interface of the recorder of a run, such as SummaryRecord."""

    @property
    def log_dir(self) -> str:
        """Return the path of the newest event file."""

    def flush(self) -> None:
        """Write the queued values."""


class RunningDataRecorder(Callback):
    """Recorder of failed runs, around a loop or among its callbacks, before the callback for summaries::

        with SummaryRecord("run") as record, RunningDataRecorder(record, network, {"lr": 0.1}):
            ...

    If the block raises (with mode 2 also otherwise), these files are written to ``<path>/rank_<N>/rdr/``:
    ``SESSION.graph_build`` (.pb), the graph, ``SUMMARY.last_values`` (.json), the newest value of each tag,
    ``RUN.settings`` (.json), arguments, variables and versions, and ``RUN.traceback`` (.txt). The exception
    is always passed on to the caller. There is no cost during the run.

    ``run`` is the recorder of the run or its directory. ``settings`` default to the variables ``MS_RDR_*``. A
    recorder that is not enabled does nothing.
    """

    def __init__(
        self,
        run: Run | str | Path,
        network: object = None,
        arguments: Mapping[str, Any] | None = None,
        settings: RecorderSettings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._run = run
        self._settings = settings or RecorderSettings.of()
        self._arguments = dict(arguments or {})
        self._clock = clock
        self._network = network
        watch = network is not None and self._settings.enable
        self._graph: Callable[[], bytes | None] = observed_graph(network) if watch else self._known_graph

    def begin(self, run_context: RunContext) -> None:
        """Add the loop's arguments to the settings of the run."""
        arguments = run_context.original_args()
        self._arguments.update(arguments)
        self._network = arguments.get("train_network") or arguments.get("network")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._settings.wants(error):
            self.leave(error)

    def leave(self, error: BaseException | None) -> None:
        """Write the settings, the graph and the newest values of the run, and the traceback of ``error``,
        which ended the run. The error is None after a success. A file that cannot be written is logged."""
        contents: dict[str, Callable[[], bytes | None]] = {
            "RUN.settings.{}.json": lambda: _json(process_settings(self._arguments)),
            "SESSION.graph_build.0.{}.pb": self._graph,
            "SUMMARY.last_values.{}.json": lambda: _json(last_values(self._files())),
        }
        if error is not None:
            contents = {"RUN.traceback.{}.txt": lambda: describe_failure(error).encode(), **contents}
        stamp = time.strftime("%Y%m%d%H%M%S", time.localtime(self._clock()))
        for name, content in contents.items():
            try:
                self._write(name.format(stamp), content())
            except Exception as problem:  # the user is to see the error of the run, not one of ours
                _log.error("the data recorder cannot write %s: %s", name.format(stamp), problem)

    def _write(self, name: str, content: bytes | None) -> None:
        if content is None:
            return
        base, rank = self._settings.path or self._directory(), f"rank_{rank_of().number}"
        path = (base if base.name == rank else base / rank) / "rdr" / name
        private_folder(path.parent)
        path.write_bytes(content)
        path.chmod(0o400)

    def _directory(self) -> Path:
        """Return the directory of the run, or of this rank among several."""
        if isinstance(self._run, (str, Path)):
            return directory_of(Path(self._run).absolute(), None)
        return Path(self._run.log_dir).parent

    def _files(self) -> list[Path]:
        if not isinstance(self._run, (str, Path)):
            self._run.flush()
        files = (path for path in self._directory().iterdir() if ".summary." in path.name)
        return sorted(files, key=lambda path: (path.stat().st_mtime, path.name))

    def _known_graph(self) -> bytes | None:
        graph = None if self._network is None else graph_of(self._network)
        return graph or recorded_graph(self._files())


def leave_if_asked(record: Run, error: BaseException | None) -> None:
    """Write the files of the run of ``record`` if the ``MS_RDR_*`` variables ask for them. Never raises.
    ``error`` ended the run, None if it succeeded."""
    try:
        settings = RecorderSettings.of()
    except (ValueError, OSError) as problem:  # a mistake in a setting must not hide the error of the run
        _log.error("the data recorder wrote nothing: %s", problem)
        return
    if settings.wants(error):
        RunningDataRecorder(record, settings=settings).leave(error)


def _json(content: object) -> bytes:
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False).encode()
