"""Dumps of a small training step into which something that is not finite was planted, and spread as it would.

The network: ``relu(x @ w1)``, a logarithm outside of all modules, ``@ w2``, a loss; then the way back.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.server.formats.dumps import list_operators, list_tensors, open_dump

# call at L1, module it runs in, what goes in, what comes out
Names = tuple[str, ...]

FORWARD: list[tuple[str, str | None, Names, Names]] = [
    ("Functional.linear.0.forward", "Module.fc1.Linear.forward.0", ("x", "w1"), ("h1",)),
    ("Functional.relu.0.forward", "Module.act.ReLU.forward.0", ("h1",), ("h2",)),
    ("Torch.log.0.forward", None, ("h2",), ("h3",)),
    ("Functional.linear.1.forward", "Module.fc2.Linear.forward.0", ("h3", "w2"), ("out",)),
    ("Functional.cross_entropy.0.forward", None, ("out", "y"), ("loss",)),
]
# and what was kept from the way forward
BACKWARD: list[tuple[str, str | None, Names, Names, Names]] = [
    ("Functional.cross_entropy.0.backward", None, ("one",), ("out",), ("g_out",)),
    (
        "Functional.linear.1.backward",
        "Module.fc2.Linear.backward.0",
        ("g_out",),
        ("h3", "w2"),
        ("g_h3", "g_w2"),
    ),
    ("Torch.log.0.backward", None, ("g_h3",), ("h2",), ("g_h2",)),
    ("Functional.relu.0.backward", "Module.act.ReLU.backward.0", ("g_h2",), ("h1",), ("g_h1",)),
    ("Functional.linear.0.backward", "Module.fc1.Linear.backward.0", ("g_h1",), ("x", "w1"), ("g_x", "g_w1")),
]
WEIGHTS = {"w1", "w2", "g_w1", "g_w2"}


def lost_tensors(culprit: Any) -> Any:
    """Return the non-finite tensors if an operator, a weight or the data is at fault."""
    lost = {culprit}
    steps = [(call, given, made) for call, _, given, made in FORWARD]
    steps += [(call, (*given, *saved), made) for call, _, given, saved, made in BACKWARD]
    for call, given, made in steps:
        if call == culprit or lost & set(given):
            lost |= set(made)
    return lost


def write_msprobe(
    root: Any,
    level: Any,
    culprit: Any = "",
    sides: Any = ("input", "output"),
    values: Any = False,
    calls: Any = None,
) -> Any:
    """Write a dump of one rank and step in msprobe's layout. Only ``calls`` are recorded."""
    folder = Path(root) / "step0" / "rank0"
    (folder / "dump_tensor_data").mkdir(parents=True)
    lost = lost_tensors(culprit)
    data, parents = {}, {}

    def tensor(name: Any, entry: Any, slot: Any) -> Any:
        size = 2 + sorted(name).count("h")  # not all alike
        number = float("nan") if name in lost else float(sum(map(ord, name)))
        fields: dict[str, Any] = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [size]}
        fields |= dict.fromkeys(("Max", "Min", "Mean", "Norm"), number)
        if values:
            fields["data_name"] = f"{entry}.{slot}.npy"
            np.save(folder / "dump_tensor_data" / fields["data_name"], np.full(size, number, np.float32))
        return fields

    def side(entry: Any, names: Any, slot: Any) -> Any:
        return [tensor(name, entry, f"{slot}.{i}") for i, name in enumerate(names)]

    def record(entry: Any, given: Any, made: Any, backward: Any = False, weights: Any = None) -> None:
        content = {}
        if "input" in sides and backward:
            content["input"] = side(entry, given, "input")
        elif "input" in sides:
            content |= {"input_args": side(entry, given, "input"), "input_kwargs": {}}
            if weights is not None:
                content["parameters"] = {name: tensor(name, entry, f"parameters.{name}") for name in weights}
        if "output" in sides:
            content["output"] = side(entry, made, "output")
        data[entry] = content

    for call, module, given, made in FORWARD:
        parents[call] = module
        if level != "L0" and (calls is None or call in calls):
            record(call, given, made)
        if level != "L1" and module and (calls is None or module in calls):
            own = [name for name in given if name in WEIGHTS]
            record(module, [name for name in given if name not in WEIGHTS], made, weights=own)
    for call, module, given, _, made in BACKWARD:
        parents[call] = module
        if level != "L0" and (calls is None or call in calls):
            record(call, given, made, backward=True)
        if level != "L1" and module and (calls is None or module in calls):
            gradients = [name for name in made if name in WEIGHTS]
            if gradients and "output" in sides:  # written before the call they belong to
                entry = module.replace(".backward.0", ".parameters_grad.0")
                data[entry] = {"weight": side(entry, gradients, "weight")}
            record(module, given, [name for name in made if name not in WEIGHTS], backward=True)
    (folder / "dump.json").write_text(json.dumps({"task": "tensor", "level": level, "data": data}))
    if level != "L1":
        (folder / "construct.json").write_text(json.dumps(parents))
    return open_dump(root)


def spread_sync(path: Any, culprit: Any, step: Any = 0) -> None:
    """Put NaN into a file of a synchronous dump, and into all files that depend on it by the graph.

    ``culprit`` is an operator as recorded, or the name of a parameter of the graph. Weights are dumped when
    the step is over, so the ones that were updated with it hold NaN as well.
    """
    dump = open_dump(path)
    operators = sorted(list_operators(dump, 0, step).items, key=lambda operator: operator.order)
    tensors: dict[Any, Any] = {}
    for entry in list_tensors(dump, 0, step).items:
        tensors.setdefault(entry.recorded, []).append(entry)
    lost = {culprit}
    for operator in operators:
        given = lost & set(operator.sources)
        slots = {str(i) for i, name in enumerate(operator.sources) if name in lost}
        if given or operator.recorded == culprit:
            lost |= {operator.name}
            if operator.type == "ApplyMomentum":
                lost |= set(operator.sources[:2])
            for entry in tensors.get(operator.recorded, ()):
                if entry.direction == "output" or entry.slot in slots:
                    _fill(entry)
    for name in lost & tensors.keys():
        for entry in tensors[name]:
            if entry.direction in ("parameter", "constant"):
                _fill(entry)


def _fill(entry: Any) -> None:
    values = np.load(entry.ref.path)
    if values.dtype.kind == "f" and values.size:
        values.flat[0] = np.nan
        np.save(entry.ref.path, values)
