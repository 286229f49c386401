"""Copies of PyTorch's tensors as dumps hold them: every type exact, a rule for each special kind.

Run with a Python that has torch.
"""

import json
import warnings

import numpy as np
import torch

from mindinsight.writer.capture.torch_tensors import host_copy, tensors_of

WIDENED = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
KEPT = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64")


def check_types():
    for name in (*KEPT, *WIDENED):
        tensor = torch.tensor([[0.0, 1.0, -2.0], [0.5, 3.0, 448.0]]).to(getattr(torch, name))
        host = host_copy(tensor.t())
        wide = tensor.t().float() if name in WIDENED else tensor.t()
        assert host.dtype == name and host.values.dtype.name == ("float32" if name in WIDENED else name)
        assert host.values.shape == (3, 2) and np.array_equal(host.values, wide.contiguous().numpy()), name
        assert host.values.flags.c_contiguous and not host.shared


def check_special_kinds():
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    for sparse in (dense.to_sparse(), dense.to_sparse_csr()):
        assert host_copy(sparse).values.tolist() == dense.tolist()
    quantised = torch.quantize_per_tensor(dense, 0.5, 1, torch.qint8)
    assert host_copy(quantised).values.tolist() == dense.tolist()
    assert host_copy(torch.empty(2, device="meta")) is None
    assert host_copy(torch.ones(0, 3)).values.shape == (0, 3)
    assert host_copy(torch.tensor(2.5)).values.shape == ()
    assert host_copy(torch.ones(2, requires_grad=True).conj()).values.tolist() == [1, 1]
    assert host_copy(torch.nn.Parameter(dense)).values.tolist() == dense.tolist()


def check_copies_are_of_the_moment_and_leave_the_tensor_alone():
    tensor = torch.ones(4)
    host = host_copy(tensor)
    tensor.mul_(3)
    assert host.values.tolist() == [1, 1, 1, 1]
    tensor.untyped_storage().resize_(0)  # as fully_shard does with what it gathered


def check_nested_inputs():
    a, b, c = torch.ones(1), torch.ones(2), torch.ones(3)
    tensors = list(tensors_of([a, (b, [c]), None, 3, "text"]))
    assert [len(tensor) for tensor in tensors] == [1, 2, 3], tensors


def main():
    warnings.simplefilter("ignore")  # quantised tensors and CSR are announced to change
    checks = [value for name, value in sorted(globals().items()) if name.startswith("check_")]
    for check in checks:
        check()
    print(json.dumps({"kinds of tensors in torch": torch.__version__, "ok": True}))


if __name__ == "__main__":
    main()
