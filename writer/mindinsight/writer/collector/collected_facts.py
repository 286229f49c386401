"""Facts of a training: lineage and the values of a step, from networks, optimizers and datasets."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from mindinsight.writer.callbacks.callback import loss_of
from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.frameworks.framework_values import DatasetFacts
from mindinsight.writer.ranks import rank_of


def learning_rates(optimizer: Any) -> list[float]:
    """Return the rates of the optimizer's parameter groups at the last step, empty if unknown."""
    framework = _stateful_framework(optimizer)
    return [] if framework is None else framework.learning_rates(optimizer)


def parameters(network: Any, optimizer: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and array of the parameters that ``optimizer`` trains, nothing for an unknown network.
    Without an optimizer all trainable ones are used. JAX: ``network`` is a nested dict of arrays, all
    used."""
    framework = _stateful_framework(network)
    if framework is not None:
        yield from framework.trained(network, optimizer)
    elif isinstance(network, Mapping):
        yield from _leaves(network, "")


def weights(network: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and array of all parameters of ``network``, trained or not."""
    framework = framework_of(network)
    named = getattr(framework, "parameters", None)
    yield from named(network) if named else parameters(network, None)


def dataset_facts(dataset: Any) -> DatasetFacts:
    """Return path, numbers of samples and pipeline of ``dataset``. Of an unknown class, all but the pipeline
    ``{"op_type": <class>}`` is None. Without a dataset, all facts are None."""
    framework = _stateful_framework(dataset)
    if framework is not None:
        facts: DatasetFacts = framework.dataset_facts(dataset)
        return facts
    return DatasetFacts(pipeline=None if dataset is None else {"op_type": class_name(dataset)})


def backbone(network: Any) -> Any:
    """Return the user's network inside a framework's wrappers, or ``network`` without a known wrapper."""
    framework = _stateful_framework(network)
    return network if framework is None else framework.backbone(network)


def class_name(value: Any) -> str | None:
    """Return the name of a class or function, or of the class of any other value, None for None."""
    if value is None:
        return None
    name: str = getattr(value, "__name__", None) or type(value).__name__
    return name


def _stateful_framework(value: Any) -> ModuleType | None:
    """Return the framework of a network, optimizer or dataset, or None for JAX, which has only trees of
    arrays."""
    framework = framework_of(value)
    return framework if hasattr(framework, "trained") else None


def _leaves(tree: Mapping[Any, Any], path: str) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{name}/")
        else:
            yield f"{path}{name}", value


_FEW: Final = 5  # parameters with a histogram if no pattern is given

Arguments = Mapping[str, Any]
Values = Iterator[tuple[str, str, Any]]  # kind, tag and value


def loss(arguments: Arguments) -> Values:
    """Yield (kind, tag, loss) for the mean of the network's first output, as scalar ``loss/auto``. Raises
    TypeError if that contains no real numbers."""
    yield "scalar", "loss/auto", loss_of(arguments.get("net_outputs"))


def learning_rate(arguments: Arguments) -> Values:
    """Yield (kind, tag, rate) for the learning rate of each group of parameters, as scalars. The tags are
    ``learning_rate/auto``, ``learning_rate_1/auto``, ..."""
    for index, rate in enumerate(learning_rates(arguments.get("optimizer"))):
        yield "scalar", f"learning_rate{f'_{index}' if index else ''}/auto", rate


def input_data(arguments: Arguments) -> Values:
    """Yield (kind, tag, array) for the batch's first column, as image, nothing if the loop has no batch.
    The tag is ``input_data/auto``. In sink mode the loop has no batch."""
    element = first(arguments.get("train_dataset_element"))
    if element is not None:
        yield "image", "input_data/auto", element


def histograms(arguments: Arguments, pattern: str | None) -> Values:
    """Yield (kind, tag, array) for each trained parameter whose name begins with a match of ``pattern``,
    as histograms. Without a pattern, the first five parameters are used. The tags are
    ``<parameter>/auto``. ``pattern`` is a regular expression."""
    trained = parameters(arguments.get("network"), arguments.get("optimizer"))
    if pattern is None:
        chosen = list(islice(trained, _FEW))
    else:
        chosen = [entry for entry in trained if re.match(pattern, entry[0])]
    for name, value in chosen:
        yield "histogram", f"{name}/auto", value


def first(element: Any) -> Any:
    """Return the first column of a batch: the first element of nested lists, tuples and dicts. Any other
    value is returned unchanged, and an empty list or tuple too."""
    while isinstance(element, (list, tuple)) and element:
        element = element[0]
    if isinstance(element, Mapping):
        return first(list(element.values()))
    return element


_LARGEST: Final = (1 << 31) - 1  # largest count of a lineage field


def training(arguments: Arguments) -> dict[str, Any]:
    """Return the facts of a training in the form of ``lineage.train_lineage``'s argument. Unknown facts are
    None, an unknown ``model_size`` is 0."""
    optimizer = arguments.get("optimizer")
    dataset = dataset_facts(arguments.get("train_dataset"))
    batch_size = dataset.batch_size or _length(arguments.get("train_dataset_element"))
    checkpoint = newest_checkpoint(arguments)
    return {
        "optimizer": class_name(optimizer),
        "learning_rate": _learning_rate(optimizer),
        "loss_function": class_name(arguments.get("loss_fn")),
        "epoch": arguments.get("epoch_num"),
        "parallel_mode": arguments.get("parallel_mode") or "stand_alone",
        "device_num": arguments.get("device_number") or rank_of().world,
        "batch_size": batch_size,
        "train_dataset_path": dataset.path,
        "train_dataset_size": _samples(dataset.samples, arguments.get("batch_num"), batch_size),
        "network": class_name(backbone(arguments.get("network"))),
        "loss": _loss(arguments.get("net_outputs")),
        "model_path": None if checkpoint is None else str(checkpoint.absolute()),
        "model_size": checkpoint.stat().st_size if checkpoint is not None and checkpoint.is_file() else 0,
    }


def evaluation(arguments: Arguments) -> dict[str, Any]:
    """Return the facts of an evaluation: ``metrics``, {} without metrics, ``valid_dataset_path`` and
    ``valid_dataset_size``, None if unknown. This is the form of ``lineage.evaluation_lineage``'s argument."""
    dataset = dataset_facts(arguments.get("valid_dataset"))
    return {
        "metrics": arguments.get("metrics") or {},
        "valid_dataset_path": dataset.path,
        "valid_dataset_size": _samples(dataset.samples, arguments.get("batch_num"), dataset.batch_size),
    }


def newest_checkpoint(arguments: Arguments) -> Path | None:
    """Return the newest file of the last ModelCheckpoint among the callbacks, or None if none was saved."""
    callbacks = arguments.get("list_callback") or ()
    callbacks = getattr(callbacks, "_callbacks", callbacks)
    names = [getattr(callback, "latest_ckpt_file_name", None) for callback in callbacks]
    return next((Path(name) for name in reversed(names) if name), None)


def _learning_rate(optimizer: Any) -> float | None:
    """Return the initial learning rate, or None if a schedule of MindSpore computes it."""
    groups = getattr(optimizer, "param_groups", None)
    if groups and "initial_lr" in groups[0]:
        return float(groups[0]["initial_lr"])
    rates = [] if getattr(optimizer, "dynamic_lr", False) else learning_rates(optimizer)
    return rates[0] if rates else None


def _samples(samples: int | None, batches: Any, batch_size: int | None) -> int | None:
    if samples is None and batches and batch_size:
        samples = int(batches) * batch_size
    return samples if samples is None or samples <= _LARGEST else None


def _length(element: Any) -> int | None:
    """Return the number of samples in a batch: the length of its first column, or None."""
    shape = getattr(first(element), "shape", ())
    return int(shape[0]) if shape else None


def _loss(net_outputs: Any) -> float | None:
    try:
        return loss_of(net_outputs)
    except TypeError:
        return None
