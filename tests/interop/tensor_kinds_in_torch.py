"""PyTorch's tensors as dumps hold them, and their norms: every type exact, a rule for each special kind.

Run with a Python that has torch.
"""

import json
import math
import tempfile
import warnings
from dataclasses import dataclass

import numpy as np
import torch

from mindinsight.writer import FlightRecorder
from mindinsight.writer.recorders.torch_tensors import (
    host_copy,
    norms_by_name,
    norms_of,
    output_norm,
    scaled_summary,
    summary_of,
    tensors_of,
)

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

    @dataclass
    class Output:
        logits: torch.Tensor
        states: dict[str, torch.Tensor]

    assert [len(tensor) for tensor in tensors_of({"out": Output(c, {"h": a}), "other": b})] == [3, 1, 2]


def nested(layout):
    return torch.nested.nested_tensor([torch.ones(2), torch.full((2,), 3.0)], layout=layout)


def check_nested_tensors_are_their_parts():
    for layout in (torch.jagged, torch.strided):
        (values,) = tensors_of((nested(layout),))
        assert host_copy(values).values.tolist() == [1, 1, 3, 3]


def check_norms():
    dense = torch.tensor([[0.0, 4.0], [3.0, 0.0]])
    kinds = {
        "sparse": dense.to_sparse(),
        "rows": dense.to_sparse_csr(),
        "columns": dense.to_sparse_csc(),
        "strange": dense.to_mkldnn(),
        "float8": dense.to(torch.float8_e4m3fn),
        "half": dense.half(),
        "bfloat": dense.bfloat16(),
        "complex": dense.to(torch.complex64),
        "double": dense.double(),
    }
    assert norms_by_name(list(kinds.items())) == dict.fromkeys(kinds, 5.0)
    assert all(math.isclose(output_norm(tensor), 5.0) for tensor in kinds.values())
    assert summary_of(norms_of([*kinds.values()])) == (15.0, 0)
    for layout in (torch.jagged, torch.strided):
        assert math.isclose(output_norm(nested(layout)), math.sqrt(20), rel_tol=1e-6)
    without = [torch.empty(2, device="meta"), torch.ones(2, dtype=torch.int32)]
    without.append(torch.quantize_per_tensor(dense, 0.5, 1, torch.qint8))
    assert summary_of(norms_of(without)) is None and norms_by_name([("x", without[0])]) == {}
    assert output_norm((without, None, "text")) is None and output_norm(torch.ones(0, 3)) == 0
    assert output_norm({"a": torch.tensor([3.0]), "b": (dense[0],)}) == 5.0  # whatever holds the tensors


def check_only_what_is_infinite_has_an_infinite_norm():
    many = torch.full((1 << 20,), 100.0)
    assert all(
        math.isclose(norm, 102400, rel_tol=1e-3)
        for norm in (summary_of(norms_of([many.half()]))[0], output_norm(many.half()))
    )
    large = torch.full((4,), 1e30)
    assert math.isclose(output_norm(large), 2e30, rel_tol=1e-6)
    assert math.isclose(norms_by_name([("w", large)])["w"], 2e30, rel_tol=1e-6)
    total, zeros = scaled_summary([large, torch.full((4,), 1e30), torch.zeros(2)])
    assert math.isclose(total, 8**0.5 * 1e30, rel_tol=1e-6) and zeros == 1
    assert norms_by_name([("w", torch.tensor([1.0, math.inf]))])["w"] == math.inf
    assert math.isnan(norms_by_name([("w", torch.tensor([1.0, math.nan]))])["w"])
    assert math.isnan(scaled_summary([torch.tensor([math.inf]), torch.tensor([math.nan])])[0])
    assert output_norm(torch.tensor([3.0, -math.inf, 4.0])) == 5
    assert output_norm(torch.full((4,), -math.inf)) == 0
    for value in (math.inf, math.nan):
        assert not math.isfinite(output_norm(torch.tensor([1.0, value], dtype=torch.float16)))
    assert output_norm(torch.tensor(-math.inf)) == math.inf


def check_modules_of_any_output_do_not_end_a_training():
    class Odd(torch.nn.Module):
        def __init__(self, change):
            super().__init__()
            self.change = change

        def forward(self, x):
            return self.change(x)

    kinds = [
        lambda x: x.to_sparse(),
        lambda x: x.to(torch.float8_e5m2),
        lambda x: torch.nested.nested_tensor([x], layout=torch.jagged),
        lambda x: torch.quantize_per_tensor(x, 0.5, 1, torch.qint8),
        lambda x: (x, {"none": None}),
        lambda x: x.to("meta"),
    ]
    modules = torch.nn.ModuleList(map(Odd, kinds))
    with tempfile.TemporaryDirectory() as folder, FlightRecorder(modules, folder, check_every=1) as recorder:
        x = torch.ones(2)
        assert all(recorder.step(lambda: [module(x) for module in modules] and 1.0) == 1.0 for _ in range(2))


def main():
    warnings.simplefilter("ignore")  # quantised tensors and CSR are announced to change
    checks = [value for name, value in sorted(globals().items()) if name.startswith("check_")]
    for check in checks:
        check()
    print(json.dumps({"kinds of tensors in torch": torch.__version__, "ok": True}))


if __name__ == "__main__":
    main()
