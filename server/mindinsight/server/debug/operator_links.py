"""Links between operators: from the graph if the dump has one, else inferred from equal tensors."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.recorded_statistics import AnyStatistics
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry

Fingerprint: TypeAlias = tuple[tuple[int, ...], AnyStatistics] | tuple[str, str]

MAX_SOURCES: Final = 4  # operators considered as the source of one tensor: nested modules share outputs


@dataclass(frozen=True, slots=True)
class Link:
    """Tensor passed from a slot of one operator to a slot of another.

    Names are as recorded. Unknown slots are "".
    """

    source: str
    source_slot: str
    target: str
    target_slot: str
    certain: bool  # from the graph, otherwise inferred from equal values


def graph_links(operators: Iterable[Operator]) -> list[Link]:
    """Return the links between operators that the graph records. Operators and parameters that were not
    dumped keep their full names."""
    all_operators = list(operators)
    recorded = {operator.name: operator.recorded for operator in all_operators}
    return [
        Link(recorded.get(source) or source, "", operator.recorded or operator.name, "", certain=True)
        for operator in all_operators
        for source in operator.sources
    ]


def content_links(results: Iterable[TensorResult]) -> list[Link]:
    """Return a link from each input to the latest earlier outputs with the same content. An input can have
    several, because a module outputs the tensor of the last function inside it. ``results`` are the
    measured tensors of one step in the order they were written."""
    written: dict[Fingerprint, deque[TensorEntry]] = defaultdict(lambda: deque(maxlen=MAX_SOURCES))
    links = []
    for result in results:
        entry = result.entry
        content = fingerprint(result)
        if content is None:
            continue
        if entry.direction == "output":
            written[content].append(entry)
            continue
        for source in written.get(content, ()):
            if source.recorded != entry.recorded:
                links.append(Link(source.recorded, source.slot, entry.recorded, entry.slot, certain=False))
    return links


def inputs_of(operator: str, links: Sequence[Link]) -> list[Link]:
    """Return the links that end at an operator, given its recorded name."""
    return [link for link in links if link.target == operator]


def outputs_of(operator: str, links: Sequence[Link]) -> list[Link]:
    """Return the links that start at an operator, given its recorded name."""
    return [link for link in links if link.source == operator]


def fingerprint(result: TensorResult) -> Fingerprint | None:
    """Return the recorded checksum of a tensor, else its shape and statistics, or None if it has neither."""
    recorded = result.entry.statistics
    if recorded is not None and recorded.checksum:
        return (recorded.checksum_kind, recorded.checksum)
    return None if result.measurement is None else (result.measurement.shape, result.measurement.statistics)


def passes_on(output: TensorResult, received: TensorResult) -> bool | None:
    """Return True if an input has the statistics of an output, False if they differ, None if unknown. They
    cannot be compared if shape or element type differ, as of views and casts that the graph leaves out."""
    given, taken = output.measurement, received.measurement
    if given is None or taken is None or given.shape != taken.shape:
        return None
    if (output.entry.dtype or given.dtype) != (received.entry.dtype or taken.dtype):
        return None
    if output.computed and received.computed:
        return given.statistics == taken.statistics
    names = ("minimum", "maximum", "mean")
    pairs = [(getattr(given.statistics, name), getattr(taken.statistics, name)) for name in names]
    scale = max((abs(number) for pair in pairs for number in pair if number is not None), default=0.0)
    compared = [abs(a - b) <= _PRINTED * scale for a, b in pairs if a is not None and b is not None]
    return all(compared) if compared else None


_PRINTED: Final = 1e-3  # error of recorded statistics: six digits, or the precision of the tensor, bfloat16
_SUMS: Final = frozenset(
    ["sum", "reducesum", "mean", "reducemean", "matmul", "mm", "bmm", "batchmatmul", "mv", "dot", "linear",
     "dense", "addmm", "baddbmm", "addmv", "conv1d", "conv2d", "conv3d", "convolution"]
)  # fmt: skip


def canonical(operator_type: str) -> str:
    """Return the last part of an operator type in lower case letters and digits: ``log`` of "at::log_"."""
    name = re.split(r"[.:/]", operator_type)[-1]
    return "".join(letter for letter in name.lower() if letter.isalnum())


def is_sum(operator_type: str) -> bool:
    """Return True if the results of an operator type are sums or means of elements or of products."""
    return canonical(operator_type) in _SUMS


_CONSTANTS: Final = frozenset(  # operators that fill a tensor with a given constant
    ["fill", "full", "fulllike", "newfull", "newones", "newzeros", "ones", "oneslike", "scalartensor",
     "tensor", "zero", "zeros", "zeroslike"]
)  # fmt: skip
_PLACING: Final = _CONSTANTS | frozenset(  # operators that write one into a tensor and compute nothing
    ["constantpadnd", "indexfill", "indexput", "maskedfill", "maskedscatter", "scatter", "select", "tril",
     "triu", "where"]
)  # fmt: skip


def places_constants(operator_type: str) -> bool:
    """Return True if an operator of this type writes constants, so that an infinite output was intended."""
    return _plain(operator_type) in _PLACING


def is_constant(operator_type: str) -> bool:
    """Return True if an operator of this type fills its output with a given constant, such as zero."""
    return _plain(operator_type) in _CONSTANTS


_ZEROS: Final = frozenset(["newzeros", "zero", "zeros", "zeroslike"])
_PRODUCTS: Final = _SUMS - {"sum", "reducesum", "mean", "reducemean"} | {"mul"}
_CASTS: Final = frozenset(["cast", "to", "tocopy"])
_VIEWS: Final = frozenset(
    ["alias", "clone", "contiguous", "detach", "expand", "expanddims", "flatten", "permute", "reshape",
     "squeeze", "t", "transpose", "unsafeview", "unsqueeze", "view"]
)  # fmt: skip


# A part of a gradient may be zero, as of a token without a target. All of it is judged at its own operator.
_PARTS_OF_ONE: Final = frozenset(["narrow", "select", "slice", "split", "splitwithsizes", "unbind"])


def makes_zeros(operator_type: str) -> bool:
    """Return True if an operator of this type fills its output with zeros on purpose."""
    return _plain(operator_type) in _ZEROS


_NORMS: Final = frozenset(["norm", "vectornorm", "matrixnorm", "foreachnorm", "lpnorm"])


def is_norm(operator_type: str) -> bool:
    """Return True if an operator of this type returns norms. A norm is zero only if the input is zero."""
    return _plain(operator_type).removeprefix("linalg") in _NORMS


def is_product(operator_type: str) -> bool:
    """Return True if the results of an operator type are zero as soon as one of its factors is zero."""
    return _plain(operator_type) in _PRODUCTS


def is_view(operator_type: str) -> bool:
    """Return True if an operator of this type returns the values of its input, as a transposition does."""
    return _plain(operator_type) in _VIEWS


def _plain(operator_type: str) -> str:
    return re.sub(r"v\d+$", "", canonical(operator_type))  # MindSpore has a FillV2


_OF_ONE: Final = frozenset(
    ["abs", "cast", "cos", "exp", "log", "neg", "rsqrt", "sin", "sqrt", "square", "transpose", "log2",
     "log10", "log1p", "expm1", "reciprocal", "tan", "tanh", "sigmoid", "relu", "acos", "asin", "atan",
     "tocopy",
     "acosh", "asinh", "atanh", "sinh", "cosh", "erf", "erfinv", "lgamma", "digamma", "softmax", "logsoftmax"]
)  # fmt: skip
_OF_TWO: Final = frozenset(
    ["add", "sub", "mul", "div", "realdiv", "pow", "maximum", "minimum", "atan2", "fmod", "remainder"]
)


_SCALED: Final = frozenset(["add", "sub", "addmm", "baddbmm", "addmv"])  # take factors: alpha, beta


def takes_no_number(operator_type: str, tensors: int, module: str = "") -> bool:
    """Return True if an operator of this type takes no number besides ``tensors`` tensors as arguments.
    ``module`` is the innermost scope. A linear layer of PyTorch calls ``addmm`` without factors."""
    name = canonical(operator_type).removesuffix("backward")
    if name in _SCALED:
        return name == "addmm" and module.rpartition("-")[2] == "Linear"
    return name in _OF_ONE or is_sum(name) or (name in _OF_TWO and tensors > 1)


_RANDOM: Final = ("dropout", "bernoulli", "rand", "normal", "uniform", "multinomial", "exponential")
_NOT_RANDOM: Final = ("normaliz", "grad", "backward")


def draws_random(operator_type: str) -> bool:
    """Return True if an operator of this type can draw random numbers."""
    name = canonical(operator_type)
    return any(word in name for word in _RANDOM) and not any(word in name for word in _NOT_RANDOM)


_FILLING: Final = frozenset(  # operators in place that do not read what they replace
    ["bernoulli_", "cauchy_", "copy_", "exponential_", "fill_", "geometric_", "log_normal_", "normal_",
     "random_", "uniform_", "zero_"]
)  # fmt: skip


# Recurrent layers of PyTorch. What they keep for their backward pass, and fill in part, are bytes.
_RECURRENT: Final = ("mkldnn_rnn_layer", "_cudnn_rnn", "miopen_rnn")


def is_replaced(entry: TensorEntry) -> bool:
    """Return True if a tensor is memory that may be uninitialised: an input that its operator fills without
    reading it, such as PyTorch's mask of a dropout, a view of raw memory, as of the buckets in which
    DistributedDataParallel gathers gradients, or the workspace of a recurrent layer."""
    filled = entry.type in _FILLING and entry.direction == "input" and entry.slot == "0"
    workspace = entry.dtype == "uint8" and entry.type.removesuffix("_backward") in _RECURRENT
    return filled or workspace or entry.type == "as_strided"


_ALIASES: Final = frozenset(  # operators whose output shares its memory with their input
    ["alias", "asstrided", "detach", "diagonal", "expand", "narrow", "permute", "select", "slice", "squeeze",
     "t", "transpose", "unsqueeze", "view"]
)  # fmt: skip


def written_by(operator: Operator, operators: Iterable[Operator]) -> str:
    """Return the name of the parameter that an in-place operator of PyTorch overwrites, directly or through
    views, or "" if there is none or it is unknown."""
    known = {(other.graph, other.name): other for other in operators}
    name = operator.sources[0] if operator.type.endswith("_") and operator.sources else ""
    while (source := known.get((operator.graph, name))) is not None and source.type != "Parameter":
        aliases = canonical(source.type) in _ALIASES and len(source.sources) == 1
        name = source.sources[0] if aliases else ""
    return name


def shares_memory(operator_type: str) -> bool:
    """Return True if the output of an operator type has the memory of its first input."""
    return operator_type.endswith("_") or canonical(operator_type) in _ALIASES


def shared_memory(entry: TensorEntry, operators: Mapping[tuple[str, str], Operator]) -> Iterator[str]:
    """Yield the name of an output's operator, and of the operators and parameters whose memory it shares.
    ``operators`` are those of the step, by graph and name."""
    name = entry.operator
    yield name
    while (operator := operators.get((entry.graph, name))) is not None and operator.sources:
        if not shares_memory(operator.type):
            return
        name = operator.sources[0]
        yield name


# Beginnings of canonical operator types.
_SHARED: Final = ("allreduce", "allgather", "broadcast")  # return the same tensor to all ranks
_SPLIT: Final = ("reducescatter", "alltoall", "recv", "receive")  # return another tensor to each rank
_SHAPING: Final = ("broadcastto", "broadcasttensors", "broadcastgradientargs")  # local, despite the name
_PARTS: Final = (*_SPLIT, "collectivescatter", "neighborexchange")


def is_collective(operator_type: str) -> bool:
    """Return True if an operator type is a collective operation, such as ``allreduce_`` or ``AllReduce``."""
    name = _plain_collective(operator_type)
    return name.startswith(_SHARED + _SPLIT) and not name.startswith(_SHAPING)


def gives_all_the_same(operator_type: str) -> bool:
    """Return True if an operator type returns the same tensor on all ranks, whatever the inputs are."""
    name = _plain_collective(operator_type)
    return name.startswith(_SHARED) and not name.startswith(_SHAPING)


def gives_each_its_part(operator_type: str) -> bool:
    """Return True if an operator type may return different tensors on the ranks, even for equal inputs."""
    name = _plain_collective(operator_type)
    return name.startswith(_PARTS) or name == "scatter"


def takes_shape_alone(operator_type: str) -> bool:
    """Return True if an operator of this type takes a tensor for its shape alone."""
    return canonical(operator_type) in ("oneslike", "zeroslike")


def _plain_collective(operator_type: str) -> str:
    """Return the last part of an operator type in lower case letters and digits, without ``dist``."""
    name = operator_type.rpartition(".")[2].rpartition(":")[2]
    return "".join(letter for letter in name.lower() if letter.isalnum()).removeprefix("dist")


def module_of(scope: Iterable[str]) -> str:
    """Return the path of a module as its parameters have it, given its scope. It is ``blocks.0`` for
    "Gradients", "Default", "blocks-ModuleList", "0-Block". Parts without a class are left out."""
    return ".".join(part.rpartition("-")[0] for part in scope if "-" in part)


class ValueFlow:
    """Views, norms, and zeros that follow from constants, among the operators of one step.

    Without a graph, only norms are known. ``initial`` are the recorded names of operators whose zeros are
    those with which a parameter begins, ``discrete`` the names of those whose outputs are flags or integers.
    """

    def __init__(
        self, operators: Iterable[Operator], initial: Collection[str] = (), discrete: Collection[str] = ()
    ) -> None:
        self._sources: dict[tuple[str, str], tuple[str, ...]] = {}
        self._zeros: set[tuple[str, str]] = set()  # operators whose zeros follow from constants
        self._norms: set[tuple[str, str]] = set()  # operators that return norms, and views of these
        self._constants: set[tuple[str, str]] = set()  # operators that return given numbers, and copies
        self._flags: set[tuple[str, str]] = set()  # operators whose zeros follow from those of flags
        for operator in operators:  # in execution order, so that sources come first
            keys = {(operator.graph, name) for name in (operator.name, operator.recorded)}
            self._sources |= dict.fromkeys(keys, operator.sources)
            zeros = [(operator.graph, source) in self._zeros for source in operator.sources]
            enough = any(zeros) if is_product(operator.type) else bool(zeros) and all(zeros)
            part = operator.name.lower().startswith("gradients") and _plain(operator.type) in _PARTS_OF_ONE
            if enough or part or makes_zeros(operator.type) or operator.recorded in initial:
                self._zeros |= keys
            flags = [(operator.graph, source) in self._flags for source in operator.sources]
            either = all(map(any, zip(flags, zeros, strict=True)))
            enough = any(flags) and (either or is_product(operator.type))
            cast = _plain(operator.type) in _CASTS and not set(operator.sources).isdisjoint(discrete)
            if enough or cast:
                self._flags |= keys
            views = is_view(operator.type) and len(zeros) == 1
            if is_norm(operator.type) or (views and (operator.graph, operator.sources[0]) in self._norms):
                self._norms |= keys
            copies = views or (_plain(operator.type) in _CASTS and len(zeros) == 1)
            if is_constant(operator.type) or (
                copies and (operator.graph, operator.sources[0]) in self._constants
            ):
                self._constants |= keys

    def viewed(self, entry: TensorEntry) -> str:
        """Return the operator or parameter whose values a view returns, or "" if it is unknown."""
        sources = self._sources.get((entry.graph, entry.recorded), ())
        return sources[0] if len(sources) == 1 and is_view(entry.type) else ""

    def follows_from_zeros(self, entry: TensorEntry) -> bool:
        """Return True if the zeros of a tensor follow from constant zeros, and so are no sign of a fault.
        The product of a weight and an initial state of zeros is an example. The zero norm of a bias that
        starts with zeros counts as well, because its input already shows the zeros."""
        return (entry.graph, entry.recorded) in self._zeros | self._norms | self._constants

    def follows_from_flags(self, entry: TensorEntry) -> bool:
        """Return True if the zeros of a tensor may be those of flags or counts by which values were
        multiplied."""
        return (entry.graph, entry.recorded) in self._flags
