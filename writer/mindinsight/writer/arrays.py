"""Conversion of arrays of any framework to NumPy arrays in host memory.

No framework is imported: an object is recognized by its methods.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

NumberArray = npt.NDArray[Any]
_MINDSPORE_STEMS: Final = {"bfloat": "BFloat", "uint": "UInt"}


class HostArray(NamedTuple):
    """Array in host memory, and its original type."""

    values: NumberArray  # kinds b, i, u, f, c in native byte order; any shape
    dtype: str  # name of the element type given: "float32", "bfloat16", "float8_e4m3fn", ...
    shared: bool  # True when ``values`` may be memory the training loop writes to


def to_numpy(value: object) -> HostArray:
    """Return ``value`` as an array in host memory, of the same shape. Raises TypeError if ``value`` contains
    no numbers.

    Accepts NumPy, MindSpore, PyTorch (any device, with or without gradient) and JAX arrays, objects with
    ``__array__`` or ``__dlpack__``, and Python numbers or nested lists of them. Types unknown to NumPy
    (bfloat16, the float8 family) become float32, 4-bit integers become 8-bit, without changing a value.
    ``dtype`` is the name of the original type.
    """
    if isinstance(value, np.ndarray):
        return _known(value, shared=True)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return _known(np.asarray(value), shared=False)
    if hasattr(value, "asnumpy"):
        return _from_mindspore(value)
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return _from_torch(value)
    if hasattr(value, "__array__"):
        return _known(np.asarray(value), shared=True)
    if hasattr(value, "__dlpack__"):
        return _known(np.from_dlpack(value), shared=True)
    if isinstance(value, (list, tuple)):
        return _from_sequence(value)
    raise TypeError(f"expected numbers or an array, got {type(value).__module__}.{type(value).__qualname__}")


def _from_mindspore(value: Any) -> HostArray:
    name = str(value.dtype).lower()
    if name == "bfloat16":
        # asnumpy() of a bfloat16 tensor needs a NumPy extension type that may be missing.
        return HostArray(value.float().asnumpy(), name, shared=False)
    return _known(value.asnumpy(), shared=True)


def _from_torch(value: Any) -> HostArray:
    name = str(value.dtype).rpartition(".")[2]
    tensor = value.detach()
    if getattr(tensor, "is_quantized", False):
        tensor = tensor.dequantize()
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided":
        tensor = tensor.to_dense()
    if name.startswith(("bfloat", "float8")):
        return HostArray(tensor.cpu().float().numpy(), name, shared=False)
    try:
        values = tensor.numpy(force=True)
    except NotImplementedError as error:  # a meta tensor has a shape and no data
        raise TypeError(f"the tensor holds no numbers: {error}") from error
    return _known(values, shared=tensor.device.type == "cpu")._replace(dtype=name)


def _from_sequence(value: list[Any] | tuple[Any, ...]) -> HostArray:
    try:
        values = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise TypeError(f"expected numbers of one shape: {error}") from error
    return _known(values, shared=False)


def _known(values: NumberArray, shared: bool) -> HostArray:
    """Return ``values`` in a type with which NumPy can compute."""
    dtype = values.dtype
    if dtype.kind in "biufc":
        native = dtype.newbyteorder("=")
        if dtype.itemsize > (16 if dtype.kind == "c" else 8):
            native = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)  # long double
        if native != dtype:
            return HostArray(values.astype(native), dtype.name, shared=False)
        return HostArray(values, dtype.name, shared)
    wider = _extension_type(dtype.name)
    if wider is None:
        raise TypeError(f"expected numbers, got elements of type {dtype}")
    return HostArray(values.astype(wider), dtype.name, shared=False)


def _extension_type(name: str) -> type[np.generic] | None:
    """Return the NumPy type that holds every value of an ml_dtypes extension type, or None."""
    if name.startswith(("bfloat", "float")):
        return np.float32
    if name.startswith("int"):
        return np.int8
    return np.uint8 if name.startswith("uint") else None


def mindspore_dtype(dtype: str) -> str:
    """Return MindSpore's name of an element type: ``Float32`` for "float32", ``UInt8`` for "uint8"."""
    stem = dtype.rstrip("0123456789")
    return _MINDSPORE_STEMS.get(stem, stem.title()) + dtype[len(stem) :]
