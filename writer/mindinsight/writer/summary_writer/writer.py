"""SummaryWriter: the interface of ``torch.utils.tensorboard.SummaryWriter``."""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.writer import options
from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.configuration import Fact, single_fact
from mindinsight.writer.encoding import chart_layouts, histograms, media, scalars
from mindinsight.writer.encoding.encoder import real_numbers
from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.summary_writer import event_targets

if TYPE_CHECKING:
    from typing_extensions import Self


Batch = npt.NDArray[np.uint8]  # (N, C, H, W)
_log: Final = logging.getLogger(__name__)
_AXES: Final = "NCHW"


def picture_batch(value: object, layout: str) -> Batch:
    """Return ``value``, with axes named by ``layout``, as bytes (N, C, H, W). Raises TypeError if there
    are no numbers, ValueError for a layout that does not fit. The layout has letters of NCHW in any case
    and order. uint8 is unchanged. Other types are multiplied by 255 and clipped to 0..255, NaN is 0."""
    values = to_numpy(value).values
    letters = str(layout).upper()
    if len(set(letters)) != len(letters) or not {"H", "W"} <= set(letters) <= set(_AXES):
        raise ValueError(f"dataformats are letters of NCHW, each once, H and W among them; got {layout!r}")
    if values.ndim != len(letters):
        raise ValueError(f"dataformats {layout!r} does not fit an array of shape {values.shape}")
    missing = [axis for axis in _AXES if axis not in letters]
    order = [(*missing, *letters).index(axis) for axis in _AXES]
    ordered = values.reshape((1,) * len(missing) + values.shape).transpose(order)
    media.check_shape(ordered.shape)
    return _to_bytes(ordered)


def video_frames(video: object) -> Batch:
    """Return the frames of videos (N, T, C, H, W) as T images, with several videos next to each other. Raises
    ValueError for another shape or one with a zero, and otherwise like ``picture_batch``."""
    values = to_numpy(video).values
    if values.ndim != 5 or 0 in values.shape:
        raise ValueError(f"a video is an array (N, T, C, H, W), none of them zero, got shape {values.shape}")
    count, time, channels, height, width = values.shape
    beside = values.transpose(1, 2, 3, 0, 4).reshape(time, channels, height, count * width)
    return picture_batch(beside, _AXES)


def with_boxes(pictures: Batch, boxes: object, labels: Sequence[str] | None, rescale: float) -> Batch:
    """Return the first of ``pictures`` with red rectangles around ``boxes`` [n, (left, top, right,
    bottom)]. Raises ValueError for boxes of another shape, or if no pixel is left. ``rescale`` is a factor
    for both sides of the image. ``labels`` are ignored unless there is one for each box. Needs Pillow."""
    corners = to_numpy(boxes).values
    if corners.ndim != 2 or corners.shape[1] != 4:
        raise ValueError(f"boxes are an array [n, 4], got shape {corners.shape}")
    pixels = pictures[0].transpose(1, 2, 0)
    coloured = np.repeat(pixels, 3, 2) if pixels.shape[2] == 1 else pixels
    picture = _pillow("Image").fromarray(np.ascontiguousarray(coloured))
    draw = _pillow("ImageDraw").Draw(picture)
    names = labels if labels is not None and len(labels) == len(corners) else [""] * len(corners)
    for (left, top, right, bottom), name in zip(corners.tolist(), names, strict=True):
        outline = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(outline, width=2, fill="Red")
        if name:
            _draw_label(draw, str(name), left, bottom)
    width, height = int(picture.width * rescale), int(picture.height * rescale)
    if width < 1 or height < 1:
        raise ValueError(f"rescale {rescale} leaves nothing of {picture.width} x {picture.height} pixels")
    scaled = picture.resize((width, height), _pillow("Image").Resampling.LANCZOS)
    return picture_batch(np.asarray(scaled), "HWC")


def pictures_of_figures(figures: Sequence[Any], close: bool) -> Batch:
    """Return figures of matplotlib as images, drawn without a window. ``close`` closes the figures. Raises
    ValueError unless there are figures, all of one size, TypeError for other objects."""
    drawn = [_drawn(figure) for figure in figures]
    if len({pixels.shape for pixels in drawn}) != 1:
        raise ValueError("expected figures of one size, at least one")
    if close:
        from matplotlib import pyplot

        for figure in figures:
            pyplot.close(figure)
    return picture_batch(np.stack(drawn), "NHWC")


def _drawn(figure: Any) -> Batch:
    if not hasattr(figure, "canvas"):
        raise TypeError(f"expected a figure of matplotlib, got {type(figure).__name__}")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels: Batch = np.asarray(canvas.buffer_rgba())[:, :, :3]
    return pixels


def _to_bytes(values: npt.NDArray[Any]) -> Batch:
    if values.dtype == np.uint8:
        return values
    if values.dtype.kind == "c":
        raise TypeError("a picture cannot hold complex numbers; record its parts or its magnitude")
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = values.astype(np.float32) * np.float32(255)
    samples: Batch = np.nan_to_num(scaled, copy=False, nan=0.0).clip(0, 255).astype(np.uint8)
    return samples


def _draw_label(draw: Any, name: str, left: float, bottom: float) -> None:
    """Draw black letters on red at the lower left corner of a box."""
    font = _pillow("ImageFont").load_default()
    x0, y0, x1, y1 = font.getbbox(name)
    width, height = x1 - x0, y1 - y0
    margin = np.ceil(0.05 * height)
    draw.rectangle([(left, bottom - height - 2 * margin), (left + width, bottom)], fill="Red")
    draw.text((left + margin, bottom - height - margin), name, fill="black", font=font)


def _pillow(module: str) -> ModuleType:
    try:
        return import_module(f"PIL.{module}")
    except ImportError as error:
        raise ImportError("add_image_with_boxes draws with Pillow: pip install pillow") from error


def check_trial(
    parameters: Mapping[str, Any],
    metrics: Mapping[str, Any],
    domains: Mapping[str, Sequence[Any]] | None,
    run_name: str | None,
) -> event_targets.Trial:
    """Return the arguments of ``add_hparams`` as plain values. Parameters that are None are omitted. Raises
    TypeError unless they are dicts, for a parameter that is neither number, text, bool nor an array of one
    element, and for a metric that is no number. Raises ValueError for an empty name and for the domain of an
    unknown parameter."""
    for name, mapping in (("hparam_dict", parameters), ("metric_dict", metrics)):
        if not isinstance(mapping, Mapping):
            raise TypeError(f"{name} must be a dict, got {type(mapping).__name__}")
    plain = {
        options.tag(name): _plain(name, value) for name, value in parameters.items() if value is not None
    }
    numbers = {options.tag(name): scalars.number(name, value) for name, value in metrics.items()}
    choices = {name: [_plain(name, value) for value in values] for name, values in (domains or {}).items()}
    if unknown := sorted(set(choices) - set(plain)):
        raise ValueError(f"hparam_domain_discrete names unknown hyper-parameters: {', '.join(unknown)}")
    return event_targets.Trial(plain, numbers, choices, None if run_name is None else options.tag(run_name))


def _plain(name: str, value: Any) -> Fact:
    fact = single_fact(value)
    if fact is None:
        raise TypeError(f"hyper-parameter '{name}' must be a number, a bool or text, got {value!r}")
    return fact


def moment(step: Any, wall: float | None) -> event_targets.Moment:
    """Return the step (None: 0) and wall time (None: now) of arguments of torch's interface. Raises
    TypeError, ValueError or OverflowError for another step, and for one of more than 64 bits. As in torch,
    a step is what ``int`` converts."""
    if step.__class__ is not int:
        try:
            step = 0 if step is None else options.step(int(step))
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"global_step must be a number or None, got {step!r}") from error
    elif not -(1 << 63) <= step < 1 << 63:
        raise ValueError(f"global_step must fit 64 bits, got {step}")
    return event_targets.Moment(step, time.time() if wall is None else float(wall))


Format: TypeAlias = Literal["mindinsight", "tensorboard"]
FORMATS: Final = ("mindinsight", "tensorboard")


class SummaryWriter:
    """Writer of a training's event files with the methods of ``torch.utils.tensorboard.SummaryWriter``.

    Values are arrays of NumPy, PyTorch, JAX or MindSpore, or Python numbers. A method copies its arguments
    and returns. A thread encodes and writes. ``global_step`` of None is step 0, ``walltime`` of None is now.
    Every method raises TypeError or ValueError for an invalid value. The files are opened immediately, and
    again by the first value after ``close``.

    Args:
        log_dir: directory of the run, by default ``runs/<time>_<host><comment>``.
        comment: end of that default name.
        purge_step: step at which a training continues after a crash. Older points from there on are hidden:
            by a mark in TensorBoard's format, in ours by the newer file with the same steps.
        max_queue: accepted for compatibility with torch. The memory of waiting values is limited instead.
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
        self.max_queue, self.flush_secs = max_queue, options.interval(flush_secs, "flush_secs")
        self.filename_suffix = options.name_end(filename_suffix, "filename_suffix")
        self._format = format
        self._left_out: set[str] = set()  # warnings that were given
        self._open_files: event_targets.Target | None = self._opened()

    def get_logdir(self) -> str:
        """Return the directory of the run."""
        return self.log_dir

    @property
    def record(self) -> SummaryRecord:
        """Return the recorder of a run in our format, for alerts and lineage. Raises ValueError in
        TensorBoard's format."""
        files = self._files()
        if not isinstance(files, event_targets.MindSporeFiles):
            raise ValueError("TensorBoard's files have no alerts and no lineage")
        return files.record

    def flush(self) -> None:
        """Wait until all recorded values are in the files."""
        if self._open_files is not None:
            self._open_files.flush()

    def close(self) -> None:
        """Write all values and close the files. A value recorded later opens new files."""
        self._close(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(error)

    def _files(self) -> event_targets.Target:
        files = self._open_files
        if files is None:
            files = self._open_files = self._opened()
        return files

    def _opened(self) -> event_targets.Target:
        if self._format == "mindinsight":
            return event_targets.MindSporeFiles(self._directory, self.flush_secs, self.filename_suffix)
        purge_step, self.purge_step = self.purge_step, None  # once, not by every opening
        return event_targets.TensorBoardFiles(
            self._directory, self.flush_secs, self.filename_suffix, purge_step
        )

    def _close(self, error: BaseException | None) -> None:
        files, self._open_files = self._open_files, None
        if files is not None:
            files.close(error)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Record a number, with ``new_style`` in TensorFlow 2's encoding, as float64 or float32. Raises
        TypeError or ValueError unless the value is a single number and ``int`` converts the step.

        ``global_step`` is by default 0, ``walltime`` now, here and in all methods. The last two arguments
        have an effect in TensorBoard's format only.
        """
        number, at = scalars.number(options.tag(tag), scalar_value), moment(global_step, walltime)
        if new_style:
            self._files().tensor_scalar(tag, number, at, double=double_precision)
        else:
            self._files().scalar(tag, number, at)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Record the numbers of one chart under ``main_tag/tag``. Raises like ``add_scalar``. In
        TensorBoard's format each is recorded in a run of its own, under ``main_tag``."""
        numbers = {options.tag(tag): scalars.number(tag, value) for tag, value in tag_scalar_dict.items()}
        self._files().scalars(options.tag(main_tag), numbers, moment(global_step, walltime))

    def add_tensor(
        self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Record an array of any shape, bit-exact. Raises TypeError if ``tensor`` contains no numbers."""
        self._files().tensor(options.tag(tag), to_numpy(tensor), moment(global_step, walltime))

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Record the distribution of ``values``, by default in the buckets of the format. Raises TypeError
        for values that are no real numbers, ValueError without values. ``bins`` is an argument of
        ``numpy.histogram``. Buckets are merged to about ``max_bins``."""
        array, at = real_numbers(options.tag(tag), values), moment(global_step, walltime)
        if not array.values.size:
            raise ValueError(f"histogram '{tag}' has no element")
        if isinstance(bins, str) and bins == "tensorflow" and max_bins is None:
            self._files().histogram(tag, array, at)
        else:
            chosen = None if isinstance(bins, str) and bins == "tensorflow" else bins
            counted = histograms.count(array.values, chosen, max_bins)
            self._files().counted_histogram(tag, counted, at)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Record a distribution counted by the caller. ``bucket_limits`` are right ends of buckets. Raises
        ValueError unless there are as many limits as counts and the limits increase, and in our format for
        fractional or negative counts."""
        counted = histograms.given_histogram(
            (min, max), (num, sum, sum_squares), bucket_limits, bucket_counts
        )
        self._files().counted_histogram(options.tag(tag), counted, moment(global_step, walltime))

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Record a text in Markdown. Raises TypeError for another type."""
        if not isinstance(text_string, str):
            raise TypeError(f"text '{tag}' must be a str, got {type(text_string).__name__}")
        self._files().text(options.tag(tag), text_string, moment(global_step, walltime))

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Record a network's graph, with shapes if ``input_to_model`` is given. Ignore other arguments. A
        network without a graph is not recorded."""
        del verbose, use_strict_trace
        from mindinsight.writer.network import graph_of  # loads protobuf, which scalars do without

        if (graph := graph_of(model, input_to_model)) is not None:  # if not, the log says why
            self._files().graph(graph)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Record hyper-parameters and their results. Raises TypeError or ValueError like ``check_trial``.
        In our format they are the lineage of this run, or of the run ``run_name`` below it. In
        TensorBoard's format they always belong to a run below it, as in torch."""
        trial = check_trial(hparam_dict, metric_dict, hparam_domain_discrete, run_name)
        self._files().trial(trial, moment(global_step, None))

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Record an image of uint8, or of numbers within 0..1, with axes named by ``dataformats``. Raises
        TypeError if there are no numbers, ValueError if ``dataformats`` does not fit."""
        batch = picture_batch(img_tensor, dataformats)
        self._files().images(options.tag(tag), batch, moment(global_step, walltime))

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Record a batch of images, with axes named by ``dataformats``, as one, eight in a row. Raises like
        ``add_image``."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: str | Sequence[str] | None = None,
    ) -> None:
        """Record an image with rectangles [n, (left, top, right, bottom)] drawn on it. Raises ImportError
        without Pillow, ValueError for boxes of another shape, and otherwise like ``add_image``.
        ``labels``, one for each rectangle, are drawn at them. ``rescale`` is a factor for both sides."""
        names = [labels] if isinstance(labels, str) else labels
        drawn = with_boxes(picture_batch(img_tensor, dataformats), box_tensor, names, rescale)
        self._files().images(options.tag(tag), drawn, moment(global_step, walltime))

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: Any = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Record a figure of matplotlib, or a list of figures of one size, as an image, and ``close`` it.
        Raises TypeError for other objects, ValueError for figures of several sizes or none."""
        drawn = pictures_of_figures(figure if isinstance(figure, list) else [figure], close)
        self._files().images(options.tag(tag), drawn, moment(global_step, walltime))

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: Any = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Record the frames of videos (N, T, C, H, W) as one image, eight in a row. ``fps`` is ignored.
        Raises ValueError for another shape, TypeError if there are no numbers."""
        del fps
        self._files().images(options.tag(tag), video_frames(vid_tensor), moment(global_step, walltime))

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Record a sound: samples within -1..1. Raises TypeError for values that are no real numbers,
        ValueError unless they are one row and ``sample_rate`` is a whole number above zero."""
        sound = media.sound(snd_tensor, sample_rate)
        self._files().audio(options.tag(tag), sound, moment(global_step, walltime))

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Record a precision-recall curve of binary labels and predictions within 0..1. Raises ValueError for
        other predictions, for unequal or zero lengths, and for fewer than 2 thresholds."""
        rows = chart_layouts.curve(labels, predictions, num_thresholds, weights)
        self._files().pr_curve(options.tag(tag), rows, moment(global_step, walltime))

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Record a precision-recall curve counted by the caller at thresholds. ``weights`` are ignored.
        Raises ValueError unless all rows have one length above zero."""
        del weights
        rows = [
            true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts,
            precision, recall,
        ]  # fmt: skip
        curve = chart_layouts.given(rows, num_thresholds)
        self._files().pr_curve(options.tag(tag), curve, moment(global_step, walltime))

    def add_custom_scalars(self, layout: chart_layouts.Layout) -> None:
        """Record the charts of a page: category -> title -> ["Multiline", tags] or ["Margin", three tags].
        Raises TypeError or ValueError for another layout."""
        self._files().layout(chart_layouts.checked(layout))

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Record a page of one chart with the lines of ``tags``."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Record a page of one chart with a line and its margin: tags of value, lower and upper end. Raises
        ValueError unless there are three tags."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_embedding(self, *_arguments: Any, **_named: Any) -> None:
        """Give a warning, once: embeddings have no page. Nothing is recorded, and the training goes on."""
        self._leave_out(
            "embeddings are not recorded; record their matrix by add_tensor, or add torch's writer"
        )

    def add_mesh(self, *_arguments: Any, **_named: Any) -> None:
        """Give a warning, once, like ``add_embedding``."""
        self._leave_out("meshes are not recorded; record the vertices with add_tensor, or add torch's writer")

    def add_onnx_graph(self, *_arguments: Any, **_named: Any) -> None:
        """Give a warning, once: ONNX files are not read. Record the network itself."""
        self._leave_out("ONNX files are not read; record the network itself with add_graph")

    def _leave_out(self, why: str) -> None:
        if why not in self._left_out:
            self._left_out.add(why)
            _log.warning("%s", why)
