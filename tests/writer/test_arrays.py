"""Numbers of any framework become host arrays; the frameworks are stood in for by their methods.

The real ones are exercised by the scripts of tests/interop.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.arrays import mindspore_dtype, to_numpy


class MindSporeTensor:
    """What MindSpore's Tensor offers; ``float`` exists for bfloat16 alone, as asnumpy fails there."""

    def __init__(self, values: Any, dtype: Any) -> None:
        self.values, self.dtype = values, dtype

    def asnumpy(self) -> Any:
        if self.dtype == "BFloat16":
            raise TypeError("bfloat16 has no NumPy type")
        return self.values

    def float(self) -> MindSporeTensor:
        return MindSporeTensor(self.values.astype(np.float32), "Float32")


class TorchTensor:
    def __init__(
        self, values: Any, dtype: str = "torch.float32", device: str = "cpu", meta: bool = False
    ) -> None:
        self.values, self.dtype, self.meta = values, dtype, meta
        self.device = SimpleNamespace(type=device)

    def detach(self) -> Any:
        return self

    def cpu(self) -> TorchTensor:
        return TorchTensor(self.values, self.dtype)

    def float(self) -> TorchTensor:
        return TorchTensor(self.values.astype(np.float32))

    def numpy(self, force: bool = False) -> Any:
        if self.meta:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        return self.values


class WithArray:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


class WithDlpack:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


@pytest.mark.parametrize(
    "wrap",
    [
        np.asarray,
        lambda values: MindSporeTensor(values, "Float32"),
        TorchTensor,
        lambda values: TorchTensor(values, device="cuda"),
        WithArray,
        WithDlpack,
        np.ndarray.tolist,
    ],
)
def test_every_kind_of_array_gives_its_values(wrap: Any) -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(to_numpy(wrap(values)).values, values)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (3, "int64"),
        (0.5, "float64"),
        (1j, "complex128"),
        (np.float16(2), "float16"),
        ([1, 2], "int64"),
    ],
)
def test_python_and_numpy_numbers(value: Any, dtype: str) -> None:
    array = to_numpy(value)
    assert array.dtype == dtype
    np.testing.assert_array_equal(array.values, value)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda values: MindSporeTensor(values, "BFloat16"),
        lambda values: TorchTensor(values, "torch.bfloat16"),
    ],
)
def test_bfloat16_becomes_float32_and_keeps_its_name(wrap: Any) -> None:
    array = to_numpy(wrap(np.array([1.5, -2.0])))
    assert array.dtype == "bfloat16"
    assert array.values.dtype == np.float32
    np.testing.assert_array_equal(array.values, [1.5, -2.0])


def test_foreign_byte_order_and_long_double_become_native() -> None:
    assert to_numpy(np.array([1, 2], ">i4")).values.dtype == np.dtype("=i4")
    assert to_numpy(np.array([1, 2], np.longdouble)).values.dtype == np.float64


@pytest.mark.parametrize(
    "value",
    [
        "text",
        None,
        2**70,
        [2**70],
        [1, [2, 3]],
        np.array(["a"]),
        np.zeros(2, "V8"),
        np.zeros(2, "M8[s]"),
        TorchTensor(np.zeros(2), meta=True),
        object(),
    ],
)
def test_what_holds_no_numbers_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        to_numpy(value)


def test_memory_the_loop_may_write_to_is_told() -> None:
    assert to_numpy(np.arange(4.0)).shared
    assert to_numpy(TorchTensor(np.arange(4.0))).shared
    assert not to_numpy(TorchTensor(np.arange(4.0), device="cuda")).shared
    assert not to_numpy([1.0, 2.0]).shared


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("float32", "Float32"),
        ("uint8", "UInt8"),
        ("bfloat16", "BFloat16"),
        ("bool", "Bool"),
        ("int4", "Int4"),
    ],
)
def test_element_types_have_names_of_mindspores(dtype: str, name: str) -> None:
    assert mindspore_dtype(dtype) == name
