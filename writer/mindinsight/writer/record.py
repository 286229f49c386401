"""SummaryRecord, the recorder of a training loop."""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from mindinsight.writer import alerts, options, ranks
from mindinsight.writer.encoding import events
from mindinsight.writer.files import event_queue
from mindinsight.writer.files.event_file import FileName, NpyExport, RecordFile, RecordSink, make_log_dir
from mindinsight.writer.files.event_queue import EventQueue
from mindinsight.writer.files.remote_file import RemoteRecordFile, check_url, is_url
from mindinsight.writer.pending import Pending, StepQueue

_ATTEMPTS: Final = 3  # a network may not be compiled when the first step is recorded


class NetworkGraph:
    """Search for the graph of a network in the first steps, until the graph is found."""

    def __init__(self, network: Any = None) -> None:
        self._network = network
        self._graph = None if network is None else _observed(network)
        self._attempts = _ATTEMPTS

    def is_wanted(self, train_network: Any = None) -> bool:
        """Return True if no graph was found so far, attempts are left, and there is a network to ask."""
        return self._attempts > 0 and (self._network is not None or train_network is not None)

    def take(self, train_network: Any = None) -> bytes | None:
        """Return the graph of the network, or of ``train_network``, as bytes of a ModelProto, or None.
        Each call is one of the attempts."""
        self._attempts -= 1
        graph = self._graph() if self._graph else None
        if graph is None and train_network is not None:
            self._network = train_network if self._network is None else self._network
            graph = _observed(train_network)()
        if graph is not None:
            self._attempts = 0
        return graph

    def reason(self) -> str:
        """Return the reason why there is no graph."""
        from mindinsight.writer.network import no_graph_reason

        return no_graph_reason(self._network) or "the network shows none"


def _observed(network: Any) -> Callable[[], bytes | None]:
    from mindinsight.writer.network import observed_graph  # loads protobuf, which scalars do without

    return observed_graph(network)


_log: Final = logging.getLogger(__name__)
PARENT: Final = "parent_run"  # of a run that continues another


def configure_logging() -> None:
    """Configure logging by ``GLOG_*`` and ``logger_*``, if set. An invalid value is logged as a warning."""
    if any(name.startswith(("GLOG_", "logger_")) for name in os.environ):
        from mindinsight.writer import log

        try:
            log.configure()
        except (ValueError, OSError) as error:  # no reason not to train
            _log.warning("logging is not reconfigured: %s", error)


_DATA_RECORDER: Final = "mindinsight.writer.recorders.running_data_recorder"


def run_data_recorder(run: SummaryRecord, error: BaseException | None) -> None:
    """Call the running data recorder, if it is enabled, for a run that ``error`` ended (None: a success)."""
    if os.environ.get("MS_RDR_ENABLE", "0") != "0" or "mindspore" in sys.modules:  # or by its context
        import_module(_DATA_RECORDER).leave_if_asked(run, error)


_NAMED: Final = 5  # tags in a warning
_OPERATORS: Final = "mindinsight.writer.operators"
_MINDSPORE_OPERATORS: Final = "mindspore.train.summary.summary_record"


def _finish(file: EventQueue, beside: list[Callable[[], None]]) -> None:
    """Close the files of a recorder that was never closed, with the exception that ends the process, if
    any. Without one, the files have no end: the training may have succeeded, or called ``sys.exit(1)``,
    whose status is not known at the exit of the interpreter."""
    while beside:
        beside.pop()()
    error = event_queue.fatal_error()
    file.close(b"" if error is None else events.closing_record(error))


class SummaryRecord:
    """Recorder of a training into event files.

    ``add_value`` collects values, ``record`` assigns the collected values to a step. Both pass the values to
    a thread and return immediately. The values are in the file ``flush_seconds`` later, even if the process
    is then killed. Any number of recorders may exist at once, even in one directory, each with separate
    files.

    Args:
        log_dir: directory of the run, created with mode 0700 if missing, or the URL of one in a store
            (``s3://bucket/run``), which needs fsspec and the package of the store.
        file_prefix, file_suffix: start of the file names, end of the summary file's name.
        num_process: accepted for compatibility with MindSpore. There is one thread and no process.
        network: a MindSpore Cell, PyTorch module or GraphBuilder. Its graph is written with the first step.
        max_file_size: bytes after which a new file begins. A larger record has a separate file.
        raise_exception: raise failures of the background thread at the next ``record``, ``flush`` or
            ``close``. Otherwise they are logged, with tag and step of the values that are lost.
        export_options: ``{"tensor_format": "npy"}`` also saves every tensor as a .npy file.
        rank: number of this process among several, for files in ``log_dir/rank_N`` (ranks.py). The
            default is the launcher's rank, if there are several.
        flush_seconds: the longest time a value waits before it is written.
        queue_bytes: memory of waiting values. Beyond it ``record`` waits.
        parent: run that this one continues, and its last step that counts: ``"run1@500"``, a directory
            beside this one or below the directory of all runs. Readers draw its curves before this one's.
    """

    def __init__(
        self,
        log_dir: str | Path,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Any = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: Mapping[str, str | None] | None = None,
        *,
        rank: int | None = None,
        flush_seconds: float = 2.0,
        queue_bytes: int = 256 << 20,
        parent: str = "",
    ) -> None:
        configure_logging()
        options.parent(parent)
        prefix = options.name_part(file_prefix, "file_prefix")
        suffix = options.name_part(file_suffix, "file_suffix")
        size = options.file_size(max_file_size)
        self._raise = options.typed(raise_exception, bool, "raise_exception")
        now, device = int(time.time()), ranks.device_of(rank)
        exports = options.tensor_format(export_options) == "npy"
        directory = Path()
        make_file: Callable[..., RecordSink] = RecordFile
        if is_url(log_dir):
            if exports:
                raise ValueError("export_options: arrays are not exported to a store")
            make_file = partial(RemoteRecordFile, ranks.url_of(check_url(str(log_dir)), rank))
        else:
            directory = ranks.directory_of(options.directory(log_dir), rank)
            make_log_dir(directory, strict=self._raise)
        summary, lineage = (FileName(directory, prefix, device, end) for end in (suffix, "_lineage"))
        pending = Pending()
        self._events = EventQueue(
            make_file(summary, now, size, events.version_record),
            make_file(lineage, now, size),
            options.interval(flush_seconds, "flush_seconds"),
            int(options.positive(queue_bytes, "queue_bytes")),
            NpyExport(directory / f"export_{now}") if exports else None,
            pending.done,
        )
        self._queue = StepQueue(self._events, pending, self._raise)
        self._graph = None if network is None else NetworkGraph(network)
        self._mode, self._step = "train", 0  # the step that was recorded last
        self._throttle = alerts.AlertThrottle()
        self._closed = self._warned_closed = False
        self._scalars, self._tags = pending.scalars, pending.good_tags
        self._beside: list[Callable[[], None]] = []  # how to end what is recorded beside the training
        self._has_system = self._has_console = False
        self._trace = ""  # of the exception that ended the training
        event_queue.call_in_children(self._queue.forget)
        weakref.finalize(self, _finish, self._events, self._beside)
        if parent:
            self.add_value("custom_lineage_data", PARENT, {PARENT: parent})

    @property
    def log_dir(self) -> str:
        """Return the full path of the newest summary file, which may not exist yet."""
        return self._events.path

    def add_value(
        self, plugin: str, name: str, value: Any, *, step: int | None = None, wall_time: float | None = None
    ) -> None:
        """Collect ``value`` under the tag ``name`` for the next ``record``, or record it under ``step`` now.
        Do nothing after ``close``. Raises TypeError for a value of another kind, ValueError for an unknown
        plugin, an empty name or an impossible shape.

        ``plugin`` is a kind of the table in ``mindinsight.proto.kinds``, whose column ``takes`` names the
        accepted values. ``docs/writer.md`` lists them. A lineage message (``train_lineage``,
        ``eval_lineage``, ``dataset_graph``, ``custom_lineage_data``) is the message or a dict of its fields.
        An array is one of NumPy, MindSpore, PyTorch or JAX, and is copied immediately. A graph of None, as
        ``graph_of`` returns for a network that cannot be traced, is not recorded.

        Of two values with the same name and step, readers show the later one. Threads that share a recorder
        share the collected values: the ``record`` of one takes the values of all. With ``step`` a value is a
        separate event at ``wall_time`` (Unix seconds, default now).
        """
        if value is None and plugin == "graph":
            return  # of a network that cannot be traced: graph_of has given the warning
        if step is not None:
            step = options.step(step)
            if not self._refuses("'%s' is not recorded", name):
                self._queue.put_value(step, wall_time, plugin, name, value)
        elif value.__class__ is float and plugin == "scalar" and name.__class__ is str and name in self._tags:
            self._scalars.extend((name, value))
        elif not self._refuses("'%s' is not recorded", name):
            self._queue.collect(plugin, name, value)

    def record(
        self, step: int, train_network: Any = None, plugin_filter: Callable[[str], bool] | None = None
    ) -> bool:
        """Record all collected values under ``step`` and return True, or return False after ``close``. Raises
        TypeError or ValueError unless ``step`` is a signed 64-bit integer, and with ``raise_exception`` a
        failure of the thread that writes.

        Args:
            step: any signed 64-bit integer.
            train_network: its graph is written if the recorder has no ``network`` or that has no graph.
            plugin_filter: takes a plugin's name and returns True to keep its values. Others are discarded.
        """
        if step.__class__ is not int or not -(1 << 63) <= step < 1 << 63:
            step = options.step(step)
        if self._closed and self._refuses("step %d is not recorded", step):
            return False
        if self._graph is not None or train_network is not None:
            self._add_graph(train_network)
        if _OPERATORS in sys.modules or _MINDSPORE_OPERATORS in sys.modules:
            self._add_operator_values(step)
        self._step = step
        self._queue.put_step(step, plugin_filter)
        if self._events.failure is not None:
            self._surface()
        return True

    def alert(
        self,
        title: str,
        text: str = "",
        level: alerts.Level = "info",
        step: int | None = None,
        *,
        wait_seconds: float = 60.0,
        dump: str | Path | None = None,
    ) -> bool:
        """Record an alert, which open pages show immediately, and return True if it is recorded.

        The alert is written without waiting for ``record`` or ``flush_seconds``. The same title and level are
        recorded once in ``wait_seconds``, and nothing after ``close``. Never raises: invalid arguments are
        replaced and logged.

        Args:
            title: one line, cut to 200 characters.
            text: details, cut to 10 000 characters.
            level: ``info``, ``warning`` or ``error``.
            step: step of the alert, by default the last recorded one.
            wait_seconds: time in which a repeated alert is dropped. 0 records every one.
            dump: directory of a dump below the same base. The page links to this step there.
        """
        item = alerts.alert(title, text, level, alerts.relative_path(dump, self.log_dir))
        if self._refuses("alert '%s' is not recorded", item.tag):
            return False
        if self._throttle.holds_back(item.tag, str(level), time.monotonic(), wait_seconds):
            return False
        self._queue.put_at_once(alerts.step_of(step, self._step), item, len(item.payload))
        return True

    def record_system(self, seconds: float = 5.0) -> None:
        """Record the usage of processors, memory, disk, network and accelerators until ``close``. Do
        nothing in a second call, in all but the first process of each machine, and, with a log message,
        without the extra ``system``. A sample is taken every ``seconds``, at least 1."""
        from mindinsight.writer.system import SystemSampler, is_first_of_machine

        if self._has_system or self._closed or not is_first_of_machine():
            return
        self._has_system = True
        try:
            self._beside.append(SystemSampler(self, str(Path(self.log_dir).parent), seconds).close)
        except ImportError as error:
            _log.info("the machine is not recorded: %s; pip install 'mindinsight[system]'", error)
        except Exception as error:  # a system that answers oddly is no reason not to train
            _log.warning("the machine is not recorded: %s", error)

    def record_console(self, limit_mb: float = 64.0) -> None:
        """Record the output of this process and its children until ``close``, up to ``limit_mb`` in all. Do
        nothing in a second call, and, with a warning, for a URL or after a failure.

        If there is more, the beginning and the end are kept. The terminal shows the same as without this
        call. Text that looks like a secret is hidden in the files.
        """
        from mindinsight.writer.console import ConsoleRecorder

        if self._has_console or self._closed:
            return
        self._has_console = True
        try:
            if is_url(self.log_dir):
                raise OSError("it is not written to a store")
            console = ConsoleRecorder(Path(self.log_dir).parent, limit_mb)
            self._beside.append(lambda: console.close(self._trace))
        except Exception as error:  # no reason not to train
            _log.warning("the console is not recorded: %s", error)

    def set_mode(self, mode: str) -> None:
        """Set ``train`` or ``eval``. With ``eval`` the values of summary operators are not recorded. Raises
        ValueError for another mode."""
        if mode not in ("train", "eval"):
            raise ValueError(f"mode must be 'train' or 'eval', got {mode!r}")
        self._mode = mode

    def flush(self) -> None:
        """Wait until all recorded values are in the file. Do nothing after ``close``. Raises a failure of the
        thread that writes with ``raise_exception``."""
        if not self._refuses("there is nothing to flush"):
            self._events.flush()
            self._surface()

    def close(self) -> None:
        """Write all recorded values and close the files. Discard, with a warning, values without a
        ``record``. A second call does nothing. Raises a failure of the thread that writes with
        ``raise_exception``."""
        self._close(None)

    def __enter__(self) -> SummaryRecord:
        if self._closed:
            raise ValueError(f"the recorder of {self.log_dir} is closed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._closed:
            run_data_recorder(self, error)
        if error is not None and not isinstance(error, SystemExit):
            self._trace = "".join(traceback.format_exception(kind, error, trace))
        self._close(error)

    def _close(self, error: BaseException | None) -> None:
        """Close with ``error``, which ended the training. An exit with status 0 is a success."""
        if self._closed:
            return
        while self._beside:
            self._beside.pop()()
        self._closed = True
        self._tags.clear()
        if tags := self._queue.discard():
            _log.warning(
                "values of %d tags are not recorded in %s, because no record(step) followed add_value: %s",
                len(tags),
                self.log_dir,
                ", ".join(map(repr, tags[:_NAMED])) + (", ..." if len(tags) > _NAMED else ""),
            )
        if isinstance(error, SystemExit) and not error.code:
            error = None
        self._events.close(events.closing_record(error))
        self._surface()

    def _refuses(self, message: str, *arguments: object) -> bool:
        """Return True if the recorder is closed. Log it once, because a loop may call in every step."""
        if self._closed and not self._warned_closed:
            self._warned_closed = True
            _log.warning(f"{message}: the recorder of %s is closed (logged once)", *arguments, self.log_dir)
        return self._closed

    def _add_graph(self, train_network: Any) -> None:
        graph = self._graph = self._graph or NetworkGraph()
        if graph.is_wanted(train_network):
            if (model := graph.take(train_network)) is not None:
                self._queue.collect("graph", "graph", model)
            elif not graph.is_wanted(train_network):
                _log.warning("no graph is recorded in %s: %s", self.log_dir, graph.reason())

    def _add_operator_values(self, step: int) -> None:
        from mindinsight.writer.operators import take_operator_values

        values = take_operator_values()
        for plugin, tag, value in values if self._mode == "train" else ():
            try:
                self._queue.collect(plugin, tag, value)
            except (TypeError, ValueError) as error:  # a summary operator must not raise inside the network
                self._events.drop(str(error), [(tag, step)])

    def _surface(self) -> None:
        failure = self._events.take_failure()
        if failure is not None and self._raise:
            raise failure
