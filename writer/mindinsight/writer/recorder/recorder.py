"""The Running Data Recorder: writes settings, graph and last values of a run that fails."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol

from mindinsight.writer.callbacks import Callback
from mindinsight.writer.files.directories import private_folder
from mindinsight.writer.network import graph_of, observed_graph
from mindinsight.writer.ranks import directory_of, rank_of
from mindinsight.writer.recorder import process_facts
from mindinsight.writer.recorder.last_values import last_values, recorded_graph
from mindinsight.writer.recorder.settings import RecorderSettings

if TYPE_CHECKING:
    from mindinsight.writer.callbacks import RunContext

_log: Final = logging.getLogger(__name__)


class Run(Protocol):
    """Interface of the run that failed; SummaryRecord has it."""

    @property
    def log_dir(self) -> str:
        """Path of the newest event file."""

    def flush(self) -> None:
        """Write what is queued."""


class RunningDataRecorder(Callback):
    """Data recorder of failed runs, around a loop or among its callbacks before the one for summaries::

        with SummaryRecord("run") as record, RunningDataRecorder(record, network, {"lr": 0.1}):
            ...

    When the block raises (mode 2: also when it ends well) it leaves in ``<path>/rank_<N>/rdr/``:
    ``SESSION.graph_build`` (.pb), the graph; ``SUMMARY.last_values`` (.json), the newest value of each tag;
    ``RUN.settings`` (.json), arguments, variables and versions; ``RUN.traceback`` (.txt). The error goes on
    to the caller, whatever happens here. While the run goes on nothing is done.

    ``run`` is the recorder of the run or its directory. ``settings`` default to the variables ``MS_RDR_*``;
    a recorder that is not enabled does nothing.
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
        """Take the loop's arguments as settings of the run."""
        arguments = run_context.original_args()
        self._arguments.update(arguments)
        self._network = arguments.get("train_network") or arguments.get("network")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._settings.wants(error):
            self.leave(error)

    def leave(self, error: BaseException | None) -> None:
        """Write the files now; ``error`` is what ended the run, None when it ended well."""
        contents: dict[str, Callable[[], bytes | None]] = {
            "RUN.settings.{}.json": lambda: _json(process_facts.settings(self._arguments)),
            "SESSION.graph_build.0.{}.pb": self._graph,
            "SUMMARY.last_values.{}.json": lambda: _json(last_values(self._files())),
        }
        if error is not None:
            contents = {"RUN.traceback.{}.txt": lambda: process_facts.failure(error).encode(), **contents}
        stamp = time.strftime("%Y%m%d%H%M%S", time.localtime(self._clock()))
        for name, content in contents.items():
            try:
                self._write(name.format(stamp), content())
            except Exception as problem:  # the user is to see the error of the run, not one of ours
                _log.error("the data recorder cannot leave %s: %s", name.format(stamp), problem)

    def _write(self, name: str, content: bytes | None) -> None:
        if content is None:
            return
        base = self._settings.path or self._directory()
        path = _rank_folder(base) / "rdr" / name
        private_folder(path.parent)
        path.write_bytes(content)
        path.chmod(0o400)

    def _directory(self) -> Path:
        """The run's directory, this rank's of several."""
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
    """Leave what is known of the run of ``record`` when the variables ``MS_RDR_*`` ask for it."""
    try:
        settings = RecorderSettings.of()
    except ValueError as problem:  # a mistake in a variable must not hide the error of the run
        _log.error("the data recorder leaves nothing: %s", problem)
        return
    if settings.wants(error):
        RunningDataRecorder(record, settings=settings).leave(error)


def _rank_folder(base: Path) -> Path:
    name = f"rank_{rank_of().number}"
    return base if base.name == name else base / name


def _json(content: object) -> bytes:
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False).encode()
