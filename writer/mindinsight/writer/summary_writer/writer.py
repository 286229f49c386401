"""SummaryWriter: the interface of ``torch.utils.tensorboard.SummaryWriter``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindinsight.writer import options
from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.encoding import histograms, scalars
from mindinsight.writer.encoding.encoder import real_numbers
from mindinsight.writer.encoding.tfevents import HyperParameter
from mindinsight.writer.summary_writer.event_targets import Trial
from mindinsight.writer.summary_writer.writer_methods import MediaMethods, PlotMethods, moment


def check_trial(
    parameters: Mapping[str, Any],
    metrics: Mapping[str, Any],
    domains: Mapping[str, Sequence[Any]] | None,
    run_name: str | None,
) -> Trial:
    """Return the arguments of ``add_hparams`` as plain values. Parameters that are None are omitted.

    Raises TypeError unless they are dicts, and for a parameter that is neither number, text, bool nor an
    array of one element, ValueError for the domain of an unknown parameter.
    """
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
    return Trial(plain, numbers, choices, None if run_name is None else options.tag(run_name))


def _plain(name: str, value: Any) -> HyperParameter:
    if isinstance(value, (bool, int, float, str)):
        return value
    try:
        array = to_numpy(value).values
    except TypeError:
        array = np.empty(0)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise TypeError(f"hyper-parameter '{name}' must be a number, a bool or text, got {value!r}")
    number: bool | int | float = array.reshape(-1)[0].item()
    return number


class SummaryWriter(MediaMethods, PlotMethods):
    """Writer of a training's event files with the methods of ``torch.utils.tensorboard.SummaryWriter``.

    Values are arrays of NumPy, PyTorch, JAX or MindSpore, or Python numbers. A method copies its arguments
    and returns. A thread encodes and writes. ``global_step`` of None is step 0, ``walltime`` of None is now.
    Every method raises TypeError or ValueError for an invalid value. Arguments: see ``RunFiles``.
    """

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Record a number. The last two arguments select TensorFlow 2's encoding in TensorBoard's format."""
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
        """Record numbers of one chart as ``main_tag/tag``, in TensorBoard's format each in a run."""
        numbers = {options.tag(tag): scalars.number(tag, value) for tag, value in tag_scalar_dict.items()}
        self._files().scalars(options.tag(main_tag), numbers, moment(global_step, walltime))

    def add_tensor(
        self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Record an array of any shape, bit-exact."""
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
        """Record the distribution of ``values``. ``bins`` is an argument of numpy.histogram."""
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
        """Record a distribution counted by the caller. ``bucket_limits`` are right ends of buckets."""
        counted = histograms.given_histogram(
            (min, max), (num, sum, sum_squares), bucket_limits, bucket_counts
        )
        self._files().counted_histogram(options.tag(tag), counted, moment(global_step, walltime))

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Record a text in Markdown."""
        if not isinstance(text_string, str):
            raise TypeError(f"text '{tag}' must be a str, got {type(text_string).__name__}")
        self._files().text(options.tag(tag), text_string, moment(global_step, walltime))

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Record the graph of a network, with shapes if inputs are given. Other arguments are ignored."""
        del verbose, use_strict_trace
        from mindinsight.writer.network import graph_of  # loads protobuf, which scalars do without

        given = input_to_model
        inputs = tuple(given) if isinstance(given, (tuple, list)) else None if given is None else (given,)
        if (graph := graph_of(model, inputs)) is not None:  # if not, the log says why
            self._files().graph(graph)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Record hyper-parameters and their results.

        In our format they are the lineage of this run, or of the run ``run_name`` below it. In TensorBoard's
        format they always belong to a run below it, as in torch.
        """
        trial = check_trial(hparam_dict, metric_dict, hparam_domain_discrete, run_name)
        self._files().trial(trial, moment(global_step, None))
