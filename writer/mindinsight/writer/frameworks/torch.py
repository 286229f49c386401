"""PyTorch adapter: files, gradients, the graph by torch.export or torch.fx, and facts of modules."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import fx
from torch.utils.data import DataLoader

from mindinsight.writer.frameworks.framework_values import DatasetFacts
from mindinsight.writer.graph import GraphBuilder, ParameterRole


def trace(network: torch.nn.Module, inputs: Sequence[object] | None) -> GraphBuilder | None:
    """Return the module's graph in scopes, with shapes if there are ``inputs``, or None if ``network`` is
    no module. Raises the exception of torch.export or torch.fx for a network that cannot be traced.
    Parameters are not changed and nothing is computed: tensors are replaced by their types."""
    if not isinstance(network, torch.nn.Module):
        return None
    if inputs is None:
        return _Translation(network, {}, None).graph(fx.symbolic_trace(network).graph)
    program = torch.export.export(network, tuple(inputs), strict=False)
    signature = program.graph_signature
    names: dict[str, str] = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    roles = {
        **dict.fromkeys(signature.inputs_to_parameters, "weight"),
        **dict.fromkeys(signature.user_inputs, "input"),
    }
    return _Translation(network, names, roles).graph(program.graph)


class _Translation:
    """Translator of a torch.fx graph to a GraphBuilder."""

    def __init__(
        self, network: torch.nn.Module, names: Mapping[str, str], roles: Mapping[Any, Any] | None
    ) -> None:
        self._network = network
        self._parameter_names = names
        self._roles = roles  # of placeholders that are not buffers; None: all are inputs
        self._builder = GraphBuilder(f"{type(network).__name__}_forward")
        self._names: dict[fx.Node, str] = {}

    def graph(self, graph: fx.Graph) -> GraphBuilder:
        """Return the GraphBuilder with all nodes of a torch.fx graph."""
        for node in graph.nodes:
            if node.op == "output":
                for result in node.all_input_nodes:
                    self._builder.output(self._names[result])
            elif node.op in ("placeholder", "get_attr"):
                self._parameter(node)
            else:
                self._operator(node)
        return self._builder

    def _parameter(self, node: fx.Node) -> None:
        if not node.users:
            return
        name = self._parameter_names.get(node.name) or str(node.target)
        held = node.meta.get("val")
        if held is None and node.op == "get_attr":
            held = operator.attrgetter(str(node.target))(self._network)
        if node.op == "get_attr":
            role: ParameterRole = "weight" if isinstance(held, torch.nn.Parameter) else "buffer"
        else:
            role = "input" if self._roles is None else self._roles.get(node.name, "buffer")
        self._names[node] = self._builder.parameter(name, *_type(held), role)

    def _operator(self, node: fx.Node) -> None:
        sources: list[fx.Node] = []
        fx.map_arg((node.args, node.kwargs), sources.append)  # all_input_nodes has each once: x + x
        inputs = [self._names[source] for source in sources]
        attributes = _attributes(node)
        if node.op == "call_module":
            module = self._network.get_submodule(str(node.target))
            attributes["settings"] = module.extra_repr()
            inputs += self._weights(str(node.target), module)
        several = node.meta.get("val")
        shape, dtype = _type(several)
        with ExitStack() as scope:
            for segment in self._segments(node):
                scope.enter_context(self._builder.scope(segment))
            self._names[node] = self._builder.node(
                self._op_type(node),
                inputs,
                shape,
                dtype,
                attributes,
                [_type(output) for output in several] if isinstance(several, (tuple, list)) else None,
            )

    def _weights(self, path: str, module: torch.nn.Module) -> list[str]:
        names = []
        for name, tensor in module.named_parameters(prefix=path):
            if name not in self._builder:
                self._builder.parameter(name, *_type(tensor), "weight")
            names.append(name)
        return names

    def _segments(self, node: fx.Node) -> list[str]:
        """Return the scope below Default, one ``<attribute>-<Class>`` for each enclosing module."""
        stack = node.meta.get("nn_module_stack")
        path = next(reversed(stack.values()))[0].partition("@")[0] if stack else ""
        parts = path.split(".") if path else []
        return [
            f"{part}-{type(self._network.get_submodule('.'.join(parts[: depth + 1]))).__name__}"
            for depth, part in enumerate(parts)
        ]

    def _op_type(self, node: fx.Node) -> str:
        if node.target is operator.getitem:
            return "TupleGetItem"  # MindSpore's name, which viewers leave out of the simplified graph
        if node.op == "call_module":
            return type(self._network.get_submodule(str(node.target))).__name__
        if isinstance(node.target, torch._ops.OpOverload):
            return str(node.target.overloadpacket.__name__)
        return str(getattr(node.target, "__name__", node.target))


def _attributes(node: fx.Node) -> dict[str, object]:
    """Return the plain values among an operator's arguments, by the names in its signature."""
    signature = getattr(node.target, "_schema", None)
    names = [argument.name for argument in signature.arguments] if signature else []
    names += [f"argument {index}" for index in range(len(names), len(node.args))]
    arguments = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    return {name: _plain(value) for name, value in arguments.items() if not _holds_nodes(value)}


def _holds_nodes(value: object) -> bool:
    nodes: list[fx.Node] = []
    fx.map_arg(value, nodes.append)
    return bool(nodes)


def _plain(value: object) -> object:
    """Return lists of torch.fx as lists, and types and devices of torch as names."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _type(value: Any) -> tuple[list[int | None] | None, str]:
    """Return shape and element type of a tensor, (None, "") for anything else."""
    if not isinstance(value, torch.Tensor):
        return None, ""
    shape = [int(length) if isinstance(length, int) else None for length in value.shape]
    return shape, str(value.dtype).rpartition(".")[2]


SUFFIX = ".pt"
SAVE_OPTIONS = False


def parameters(network: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Parameter]]:
    """Yield name and tensor of each parameter, as in the module's ``state_dict``."""
    yield from network.named_parameters()


def save(
    network: torch.nn.Module, path: Path, extra: Mapping[str, object], options: Mapping[str, object]
) -> None:
    """Write the module's ``state_dict`` with ``torch.save``. With ``extra`` the file holds ``{"network":
    state, **extra}``. ``options`` has no effect."""
    state = network.state_dict()
    part = path.with_name(f".{path.name}.part")
    torch.save({"network": state, **extra} if extra else state, part)
    part.replace(path)  # a run that is killed while it saves leaves the older file whole


def first_inputs(network: torch.nn.Module) -> Callable[[], Sequence[object] | None]:
    """Return a function that returns the positional arguments of the network's next call, None before it."""
    seen: list[Sequence[object]] = []

    def keep(module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        seen.append(inputs)
        hook.remove()

    hook = network.register_forward_pre_hook(keep)
    return lambda: seen[0] if seen else None


def on_gradients(
    network: torch.nn.Module, names: Callable[[str], bool], put: Callable[[str, object], None]
) -> Callable[[], None]:
    """Call ``put(name, gradient)`` when a backward pass has set a gradient, until the returned function is
    called. It is called for each trainable parameter that ``names`` accepts, except those without
    dimensions."""

    def hook(name: str) -> Callable[[torch.Tensor], None]:
        return lambda parameter: put(name, parameter.grad)

    hooks = [
        parameter.register_post_accumulate_grad_hook(hook(name))
        for name, parameter in network.named_parameters()
        if parameter.requires_grad and parameter.ndim and names(name)
    ]

    def end() -> None:
        for registered in hooks:
            registered.remove()

    return end


_SETTINGS = (bool, int, float, str)


def learning_rates(optimizer: torch.optim.Optimizer) -> list[float]:
    """Return the learning rate of each parameter group that has one."""
    return [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]


def trained(network: torch.nn.Module, optimizer: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield name and tensor of the parameters that the optimizer trains, or of all if there is no
    optimizer."""
    groups = getattr(optimizer, "param_groups", None)
    trained = None if groups is None else {id(tensor) for group in groups for tensor in group["params"]}
    for name, tensor in network.named_parameters():
        if trained is None or id(tensor) in trained:
            yield name, tensor


def backbone(network: torch.nn.Module) -> torch.nn.Module:
    """Return the module inside DataParallel, DistributedDataParallel and torch.compile, or ``network``."""
    for attribute in ("module", "_orig_mod"):
        inner = getattr(network, attribute, None)
        if isinstance(inner, torch.nn.Module) and type(network).__module__.startswith("torch."):
            return backbone(inner)
    return network


def dataset_facts(dataset: Any) -> DatasetFacts:
    """Return path, sizes and pipeline of a dataset, or of a DataLoader as loader and dataset. The number
    of samples is None if the dataset has no length."""
    source = dataset.dataset if isinstance(dataset, DataLoader) else dataset
    root = getattr(source, "root", None)
    pipeline: dict[str, Any] = {"op_type": type(source).__name__, **_settings(source)}
    if isinstance(dataset, DataLoader):
        loader = {name: getattr(dataset, name) for name in ("batch_size", "num_workers", "drop_last")}
        sampler = {"sampler_name": type(dataset.sampler).__name__}
        pipeline = {"op_type": "DataLoader", **loader, "children": [{**pipeline, "sampler": sampler}]}
    return DatasetFacts(
        path=None if root is None else str(root),
        samples=len(source) if hasattr(source, "__len__") else None,
        batch_size=getattr(dataset, "batch_size", None),
        pipeline=pipeline,
    )


def _settings(source: Any) -> dict[str, Any]:
    """Return the plain attributes of a dataset: its directory, its split, its sizes."""
    plain = vars(source) if hasattr(source, "__dict__") else {}
    return {name: value for name, value in plain.items() if name[0] != "_" and isinstance(value, _SETTINGS)}
