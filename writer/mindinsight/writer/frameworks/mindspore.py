"""MindSpore adapter: parameters, files, graph, gradients, operators, and facts of cells and datasets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mindspore

from mindinsight.writer.frameworks.framework_values import DatasetFacts

SUFFIX = ".ckpt"
SAVE_OPTIONS = True


def parameters(network: mindspore.nn.Cell) -> Iterator[tuple[str, mindspore.Parameter]]:
    """Yield name and value of each parameter."""
    for parameter in network.get_parameters():
        yield parameter.name, parameter


def save(
    network: mindspore.nn.Cell, path: Path, extra: Mapping[str, object], options: Mapping[str, Any]
) -> None:
    """Write a checkpoint with MindSpore's ``save_checkpoint``, with ``extra`` as its ``append_dict``."""
    mindspore.save_checkpoint(network, str(path), append_dict=dict(extra) or None, **options)


def trace(network: mindspore.nn.Cell, inputs: Sequence[object] | None) -> bytes | None:
    """Return the graph that MindSpore compiled for the network, as bytes of a ModelProto, None without
    one. There is none before the network has run in graph mode, or if it is no Cell. With ``inputs`` the
    network is compiled for them first."""
    if not isinstance(network, mindspore.nn.Cell):
        return None
    graph: bytes | None = network.get_func_graph_proto()
    if not graph and inputs is not None:
        network.compile(*inputs)
        graph = network.get_func_graph_proto()
    return graph or None


def env_config_path() -> str | None:
    """Return the file of ``set_context(env_config_path=...)``, or None."""
    try:
        path: str | None = mindspore.get_context("env_config_path")
    except (ValueError, RuntimeError):
        return None
    return path or None


def no_graph_reason() -> str:
    """Return the reason why :func:`trace` returned None, and a remedy."""
    if mindspore.get_context("mode") == mindspore.PYNATIVE_MODE:
        return (
            "MindSpore compiles no graph in PyNative mode: set_context(mode=GRAPH_MODE), "
            "or add_value('graph', 'network', graph_of(network, inputs))"
        )
    return "MindSpore has not compiled the network: it has not run in graph mode"


def on_gradients(
    network: mindspore.nn.Cell, names: Callable[[str], bool], put: Callable[[str, object], None]
) -> Callable[[], None]:
    """Call ``put(name, gradient)`` in backward passes until the returned function is called. Raises
    ValueError in graph mode, where no Python function runs. It is called for each trainable parameter that
    ``names`` accepts, except those without dimensions."""
    if mindspore.get_context("mode") == mindspore.GRAPH_MODE:
        raise ValueError("in MindSpore's graph mode every backward pass is recorded: every must be 1")

    def calling(name: str) -> Callable[[mindspore.Tensor], mindspore.Tensor]:
        def hook(gradient: mindspore.Tensor) -> mindspore.Tensor:
            put(name, gradient)
            return gradient

        return hook

    return _hooked(network, names, calling)


def operate_on_gradients(
    network: mindspore.nn.Cell, names: Callable[[str], bool], make_operator: Callable[[], Any]
) -> Callable[[], None]:
    """Run summary operators on gradients in backward passes until the returned function is called. A network
    that is already compiled is not changed, neither by the call nor by the returned function.

    ``make_operator`` makes one for each parameter, which gets the tag ``<name>/gradient``. Parameters are
    those of ``on_gradients``. Works in graph mode too. A network that is already compiled is not changed,
    neither by the call nor by the returned function.
    """

    def operating(name: str) -> Callable[[mindspore.Tensor], mindspore.Tensor]:
        # MindSpore compiles the source of a hook: it may hold nothing but the operator and the tag.
        summary, tag = make_operator(), f"{name}/gradient"

        def hook(gradient: mindspore.Tensor) -> mindspore.Tensor:
            summary(tag, gradient)
            return gradient

        return hook

    return _hooked(network, names, operating)


def _hooked(
    network: mindspore.nn.Cell,
    names: Callable[[str], bool],
    hook: Callable[[str], Callable[[mindspore.Tensor], mindspore.Tensor]],
) -> Callable[[], None]:
    handles = [
        parameter.register_hook(hook(parameter.name))
        for parameter in network.trainable_params()
        if parameter.shape and names(parameter.name)
    ]

    def end() -> None:
        for handle in handles:
            handle.remove()

    return end


def take_operator_values() -> list[tuple[str, str, object]]:
    """Return plugin, tag and tensor of each summary operator of MindSpore that ran since the last call, or
    []. The newest value of each name is removed from MindSpore's memory."""
    cache: Any = sys.modules.get("mindspore.train.summary.summary_record")
    if cache is None:
        return []
    cache._record_summary_tensor_data()  # moves values of PyNative mode to the place of graph mode
    values = []
    for name, tensor in cache._get_summary_tensor_data().items():
        tag, mark, plugin = name.removesuffix("]").rpartition("[:")
        if mark:
            values.append((plugin.lower(), tag, tensor))
    return values


# MindSpore's wrappers of a network, and the attribute with the wrapped cell.
_INSIDE = {"WithLossCell": "_backbone", "WithEvalCell": "_network"}


def learning_rates(optimizer: Any) -> list[float]:
    """Return the learning rate of each group of parameters, of a schedule that of the last step."""
    rates = getattr(optimizer, "learning_rate", None)
    if rates is None:  # optimizers of mindspore.mint
        return [float(group["lr"]) for group in getattr(optimizer, "param_groups", ())]
    groups = rates if isinstance(rates, (list, tuple, mindspore.nn.CellList)) else [rates]
    return [_rate(rate, optimizer) for rate in groups]


def trained(network: mindspore.nn.Cell, optimizer: Any) -> Iterator[tuple[str, mindspore.Parameter]]:
    """Yield name and parameter of all that the optimizer trains, or of all trainable ones without an
    optimizer."""
    for parameter in getattr(optimizer, "parameters", None) or network.trainable_params():
        yield parameter.name, parameter


def backbone(network: mindspore.nn.Cell) -> mindspore.nn.Cell:
    """Return the user's cell inside the cells for loss, evaluation and one training step, or ``network``."""
    name = type(network).__name__
    attribute = _INSIDE.get(name, "network" if name.startswith("TrainOneStep") else "")
    inner = getattr(network, attribute, None) if attribute else None
    return network if inner is None else backbone(inner)


def dataset_facts(dataset: Any) -> DatasetFacts:
    """Return path, sizes and serialised pipeline of a MindSpore dataset. Facts of other objects are None."""
    from mindspore import dataset as pipelines

    if not isinstance(dataset, pipelines.Dataset):
        return DatasetFacts()
    batch_size = int(dataset.get_batch_size())
    return DatasetFacts(
        path=_path(dataset),
        samples=int(dataset.get_dataset_size()) * batch_size,
        batch_size=batch_size,
        pipeline=pipelines.serialize(dataset),
    )


def _rate(rate: Any, optimizer: Any) -> float:
    if isinstance(rate, mindspore.nn.Cell):  # a schedule. The step counter is one ahead after a step
        rate = rate(optimizer.global_step - 1)
    return float(rate.asnumpy().reshape(-1)[0]) if hasattr(rate, "asnumpy") else float(rate)


def _path(dataset: Any) -> str | None:
    """Return the directory of the first source of the pipeline that reads files, or None."""
    directory = getattr(dataset, "dataset_dir", None)
    if directory:
        return str(Path(directory).absolute())
    files = getattr(dataset, "dataset_files", None)
    if files:
        return str(Path(files if isinstance(files, str) else files[0]).absolute().parent)
    return next(filter(None, map(_path, getattr(dataset, "children", ()))), None)


def loss_function(
    model: Any, network: mindspore.nn.Cell, dataset: Any, metrics: Any, *, samples: int
) -> Callable[[Mapping[str, Any]], float]:
    """Return the metric ``Loss`` of ``model.eval`` as a function of weights, which it puts into
    ``network``. Raises ValueError if ``metrics`` has no ``Loss``. It evaluates about ``samples`` samples
    of ``dataset``, at least one batch. ``model`` must have been made with ``metrics``."""
    if not isinstance(metrics, Mapping) or "Loss" not in metrics:
        raise ValueError("metrics must have a Loss under the key 'Loss'")
    batches = max(1, samples // int(dataset.get_batch_size()))
    part = dataset.take(batches) if batches < int(dataset.get_dataset_size()) else dataset
    parameters = {parameter.name: parameter for parameter in network.get_parameters()}

    def loss(weights: Mapping[str, Any]) -> float:
        for name, value in weights.items():
            if name in parameters:
                parameters[name].set_data(mindspore.Tensor(value, parameters[name].dtype))
        return float(model.eval(part, dataset_sink_mode=False)["Loss"])

    return loss
