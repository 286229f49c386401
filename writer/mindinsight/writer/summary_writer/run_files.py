"""Life cycle of a SummaryWriter: opening, flushing and closing the files of its run."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mindinsight.writer import options
from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.summary_writer.mindspore_files import MindSporeFiles
from mindinsight.writer.summary_writer.target import Moment, Target
from mindinsight.writer.summary_writer.tensorboard_files import TensorBoardFiles

if TYPE_CHECKING:
    from typing_extensions import Self

Format: TypeAlias = Literal["mindinsight", "tensorboard"]
FORMATS: Final = ("mindinsight", "tensorboard")


class RunFiles:
    """The files of one run, opened at once and again by the first value after ``close``.

    Args:
        log_dir: directory of the run; ``runs/<time>_<host><comment>`` when left out.
        comment: end of that default name.
        purge_step: the step at which a training goes on after a crash. Older points from there on are hidden:
            by a mark in TensorBoard's format, in ours by the newer file with the same steps.
        max_queue: accepted for torch's sake; waiting values are limited by their memory, not by their number.
        flush_secs: the longest time a value waits before it is written.
        filename_suffix: end of the file names.
        format: ``mindinsight`` for MindSpore's summary files, ``tensorboard`` for tfevents files.
    """

    def __init__(
        self,
        log_dir: str | Path | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 2.0,
        filename_suffix: str = "",
        *,
        format: Format = "mindinsight",
    ) -> None:
        if format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
        if not log_dir:
            log_dir = Path("runs") / f"{time.strftime('%b%d_%H-%M-%S')}_{platform.node()}{comment}"
        self._directory = options.directory(log_dir)
        self.log_dir = str(log_dir)
        self.purge_step = None if purge_step is None else options.step(purge_step)
        self.max_queue, self.flush_secs = max_queue, options.positive(flush_secs, "flush_secs")
        self.filename_suffix = options.name_end(filename_suffix, "filename_suffix")
        self._format = format
        self._open_files: Target | None = self._opened()

    def get_logdir(self) -> str:
        """Directory of the run."""
        return self.log_dir

    @property
    def record(self) -> SummaryRecord:
        """The recorder of a run in our format, for alerts and lineage. Raises ValueError in TensorBoard's."""
        files = self._files()
        if not isinstance(files, MindSporeFiles):
            raise ValueError("TensorBoard's files have no alerts and no lineage")
        return files.record

    def flush(self) -> None:
        """Return when everything recorded is in the files."""
        if self._open_files is not None:
            self._open_files.flush()

    def close(self) -> None:
        """Write everything and finish the files. A later value opens new ones."""
        self._close(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(error)

    def _files(self) -> Target:
        files = self._open_files
        if files is None:
            files = self._open_files = self._opened()
        return files

    def _opened(self) -> Target:
        if self._format == "mindinsight":
            return MindSporeFiles(self._directory, self.flush_secs, self.filename_suffix)
        purge_step, self.purge_step = self.purge_step, None  # once, not by every opening
        return TensorBoardFiles(self._directory, self.flush_secs, self.filename_suffix, purge_step)

    def _close(self, error: BaseException | None) -> None:
        files, self._open_files = self._open_files, None
        if files is not None:
            files.close(error)


def moment(step: Any, wall: float | None) -> Moment:
    """Step and wall time as a caller of torch's interface gives them: any number, or None."""
    if step.__class__ is not int:
        try:
            step = 0 if step is None else options.step(int(step))
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"global_step must be a number or None, got {step!r}") from error
    elif not -(1 << 63) <= step < 1 << 63:
        raise ValueError(f"global_step must fit 64 bits, got {step}")
    return Moment(step, time.time() if wall is None else float(wall))
