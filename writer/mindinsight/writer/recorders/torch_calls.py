"""Names and arguments of PyTorch's calls in msprobe's form: ``Functional.linear``, ``Tensor.__mul__``.

A function mode sees the same function for ``x * 2`` and ``x.mul(2)``, and a function written in Python has
already sorted its arguments. The instruction of the caller tells how the call was written.
"""

from __future__ import annotations

import dis
import inspect
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

import torch

# Functions that compute nothing or return the values of an operand. Like msprobe, we do not record them.
_TENSOR_ACCESS: Final = frozenset(
    """
    as_subclass backward contiguous copy_ cpu cuda data_ptr const_data_ptr dense_dim detach detach_ dim
    dim_order element_size get_device has_names is_coalesced is_complex is_conj is_contiguous
    is_distributed is_floating_point is_inference is_neg is_nonzero is_pinned is_same_size is_set_to
    is_shared is_signed item module_load ndimension nelement new new_empty new_empty_strided new_full
    new_ones new_tensor new_zeros numel pin_memory record_stream register_hook
    register_post_accumulate_grad_hook requires_grad_ retain_grad set_ share_memory_ size sparse_dim
    storage storage_offset storage_type clone tolist type untyped_storage view zero_ apply_ as_strided
    reinforce rename rename_ refine_names coalesce indices values crow_indices col_indices ccol_indices
    row_indices uniform_ random_ trace positive resolve_conj conj __get__ __set__ __delete__ __getitem__
    __len__ __iter__ __contains__ __repr__ __format__ __hash__ __reduce_ex__ __deepcopy__ __dir__
    __array__ __float__ __int__ __index__ __complex__ __long__ __setstate__ __dlpack__ __dlpack_device__
    __cuda_array_interface__ __array_wrap__
    """.split()  # noqa: SIM905
)
_TORCH_ACCESS: Final = frozenset(
    """
    zeros ones empty rand randn randint randperm tensor as_tensor asarray from_numpy frombuffer
    zeros_like ones_like empty_like rand_like randn_like randint_like empty_strided empty_permuted numel
    get_device is_complex is_conj is_distributed is_floating_point is_inference is_neg is_nonzero
    is_same_size is_signed is_tensor is_storage is_grad_enabled is_inference_mode_enabled detach detach_
    detach_copy allclose manual_seed seed save load compile set_default_dtype result_type can_cast
    promote_types typename trapezoid complex conj imag meshgrid view_as_complex view_as_real
    resolve_conj positive
    """.split()  # noqa: SIM905
)
_SPELLINGS: Final = (  # Python 3.10's name of an operator, its symbol, and its method
    ("ADD", "+", "add"),
    ("SUBTRACT", "-", "sub"),
    ("MULTIPLY", "*", "mul"),
    ("TRUE_DIVIDE", "/", "truediv"),
    ("FLOOR_DIVIDE", "//", "floordiv"),
    ("MODULO", "%", "mod"),
    ("POWER", "**", "pow"),
    ("MATRIX_MULTIPLY", "@", "matmul"),
    ("AND", "&", "and"),
    ("OR", "|", "or"),
    ("XOR", "^", "xor"),
    ("LSHIFT", "<<", "lshift"),
    ("RSHIFT", ">>", "rshift"),
)
_OPERATORS: Final = {symbol: method for _, symbol, method in _SPELLINGS}
_OLD_OPERATORS: Final = {name: symbol for name, symbol, _ in _SPELLINGS}
_LOADS: Final = ("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF")
_COMPARISONS: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_REFLECTED: Final = frozenset({"add", "mul", "mod", "or", "xor"})  # that call the same function


class TorchNames:
    """Names of the functions that a torch function mode receives.

    The mode receives the same function for ``x * 2`` and ``x.mul(2)``. The caller's instruction distinguishes
    them.
    """

    def __init__(self) -> None:
        self._names = dict(_known())
        self._operators: dict[tuple[CodeType, int], tuple[str, bool] | None] = {}

    def name_of(self, function: Any, frame: FrameType | None) -> str | None:
        """Return the name of a function that ``frame`` calls, or None if it is not recorded."""
        name = self._names.get(function) if isinstance(function, Hashable) else None
        name = name or _by_class(function)
        if name is None or not name.startswith("Tensor."):
            return name
        method = name.removeprefix("Tensor.")
        if method.startswith("__"):
            return name
        return f"Tensor.{self._operator(method, frame) or method}" if frame is not None else name

    def _operator(self, method: str, frame: FrameType) -> str | None:
        """Return the method of the operator that a frame executes, such as ``__mul__``, or None if it
        executes none."""
        key = (frame.f_code, frame.f_lasti)
        if key not in self._operators:
            self._operators[key] = _instruction(*key)
        entry = self._operators[key]
        if entry is None:
            return None
        symbol, reflected = entry
        if symbol == "compare":
            return f"__{method}__" if method in _COMPARISONS else None
        operator = _OPERATORS.get(symbol.removesuffix("="))
        if operator is None:
            return None
        if symbol.endswith("="):
            return f"__i{operator}__" if method.endswith("_") else f"__{operator}__"
        return f"__r{operator}__" if reflected and operator in _REFLECTED else f"__{operator}__"


def _known() -> Iterator[tuple[Any, str]]:
    """Yield the functions to record with their names. If a function has several names, the last one is
    used."""
    places = [(torch, "Torch", _TORCH_ACCESS), (torch.Tensor, "Tensor", _TENSOR_ACCESS)]
    for module in ("fft", "special", "linalg"):
        yield from _members(getattr(torch, module), f"Torch.{module}", frozenset())
    for owner, prefix, ignored in places:
        yield from _members(owner, prefix, ignored)
    yield from _members(torch.nn.functional, "Functional", frozenset())
    yield torch.lstm, "VF.lstm"  # as nn.LSTM calls it


def _members(owner: Any, prefix: str, ignored: frozenset[str]) -> Iterator[tuple[Any, str]]:
    for name in dir(owner):
        if name.startswith("_") and prefix != "Tensor":
            continue
        function = getattr(owner, name, None)
        is_function = callable(function) and not isinstance(function, type) and isinstance(function, Hashable)
        if is_function and name not in ignored and type(function).__name__ != "method-wrapper":
            yield function, f"{prefix}.{name}"


def _by_class(function: Any) -> str | None:
    """Return the name of a Tensor method that a wrapper has replaced, judged by its qualified name, or
    None."""
    name = getattr(function, "__name__", "")
    owner = str(getattr(function, "__qualname__", "")).rpartition(".")[0]
    if owner in ("Tensor", "TensorBase", "_TensorBase") and name not in _TENSOR_ACCESS:
        return f"Tensor.{name}"
    return None


def _instruction(code: CodeType, offset: int) -> tuple[str, bool] | None:
    """Return the operator at an offset of bytecode, and True if its left operand is a constant, or None."""
    before: list[dis.Instruction] = []
    for instruction in dis.get_instructions(code):
        if instruction.offset == offset:
            symbol = _symbol(instruction)
            return (symbol, _is_reflected(before)) if symbol else None
        before.append(instruction)
    return None


def _symbol(instruction: dis.Instruction) -> str:
    if instruction.opname == "BINARY_OP":
        return instruction.argrepr
    if instruction.opname == "COMPARE_OP":
        return "compare"
    kind, _, name = instruction.opname.partition("_")
    if kind in ("BINARY", "INPLACE") and name in _OLD_OPERATORS:
        return _OLD_OPERATORS[name] + ("=" if kind == "INPLACE" else "")
    return ""


def _is_reflected(before: list[dis.Instruction]) -> bool:
    """Return True if the instructions before an operator load a constant, then a name or an attribute."""
    while before and before[-1].opname in ("LOAD_ATTR", "CACHE"):
        before = before[:-1]
    if len(before) < 2 or not before[-1].opname.startswith(_LOADS):
        return False
    return before[-2].opname in ("LOAD_CONST", "LOAD_SMALL_INT")


_PACKAGE: Final = Path(torch.__file__).parent
_DISPATCH: Final = f"{_PACKAGE}{os.sep}overrides.py"
_FORWARDING: Final = f"{_PACKAGE}{os.sep}_jit_internal.py"  # functions that choose between two

_CALLS: Final = ("CALL", "CALL_KW", "CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_METHOD")

Arguments = tuple[Sequence[Any], Mapping[str, Any]]


class CallShape(NamedTuple):
    """Form of a call in the source: its number of positional arguments, and the names of its keyword
    arguments."""

    positional: int  # without the object of a method
    named: tuple[str, ...]


class CallSite:
    """Place in the user's code that called a recorded function. ``frame`` is None outside of Python."""

    def __init__(self, frame: FrameType | None, shapes: dict[tuple[CodeType, int], CallShape | None]) -> None:
        self.function: CodeType | None = None  # of the function itself, where it is Python code
        if frame is not None and frame.f_code.co_filename == _DISPATCH:
            frame = frame.f_back
            self.function = frame.f_code if frame is not None else None
            frame = frame.f_back if frame is not None else None
        while frame is not None and frame.f_code.co_filename == _FORWARDING:
            frame = frame.f_back
        self.frame = frame
        self._shapes = shapes

    def arguments(self, values: Sequence[Any], named: Mapping[str, Any], is_method: bool) -> Arguments:
        """Return positional and keyword arguments as the caller's source passes them, unchanged if its form
        is unknown."""
        code = self.function
        if code is None or self.frame is None or code.co_flags & inspect.CO_VARARGS:
            return values, named
        key = (self.frame.f_code, self.frame.f_lasti)
        if key not in self._shapes:
            self._shapes[key] = _shape(*key)
        shape = self._shapes[key]
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        given = {**dict(zip(names, values, strict=False)), **named}
        if shape is None or len(values) > len(names):
            return values, named
        places = names[: shape.positional + is_method]
        if any(name not in given for name in (*places, *shape.named)):
            return values, named
        return tuple(given[name] for name in places), {name: given[name] for name in shape.named}


def _shape(code: CodeType, offset: int) -> CallShape | None:
    """Return the form of the arguments of the call at ``offset``, or None if there is no call, or ``*`` or
    ``**``. ``offset`` may be in the instruction's cache."""
    names: tuple[str, ...] = ()
    shape: CallShape | None = None
    for instruction in dis.get_instructions(code):
        if instruction.offset > offset:
            break
        shape = None
        if instruction.opname in _CALLS:
            shape = CallShape((instruction.arg or 0) - len(names), names)
        elif instruction.opname in ("KW_NAMES", "LOAD_CONST"):  # until Python 3.12, and before CALL_KW
            constant = code.co_consts[instruction.arg or 0]
            names = constant if isinstance(constant, tuple) else ()
        elif instruction.opname not in ("PRECALL", "CACHE", "EXTENDED_ARG"):
            names = ()
    return shape
