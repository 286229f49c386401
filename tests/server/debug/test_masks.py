"""Masks: minus infinities that were meant, beside those that were not; small dumps as msprobe writes them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mindinsight.server.claims import Claim
from mindinsight.server.debug.fault import Report, find_faults
from mindinsight.server.debug.masks import places_constants
from mindinsight.server.formats.dumps import open_dump

Floats = npt.NDArray[np.float32]
Call = tuple[str, Sequence[Floats], Floats]

INF = np.inf
SCORES = np.ones((2, 2), np.float32)
MASK = np.array([[0, -INF], [0, 0]], np.float32)
MASKED = SCORES + MASK
WEIGHTS = np.array([[1, 0], [0.5, 0.5]], np.float32)
SOFTMAX: Call = ("Functional.softmax.0.forward", [MASKED], WEIGHTS)


def searched(root: Path, calls: Sequence[Call], values: bool) -> Report:
    folder = root / "step0" / "rank0"
    (folder / "dump_tensor_data").mkdir(parents=True)

    def tensor(array: Floats, entry: str, slot: str) -> Mapping[str, object]:
        numbers = {
            "Max": array.max(),
            "Min": array.min(),
            "Mean": array.mean(),
            "Norm": np.linalg.norm(array),
        }
        fields = {name: float(number) for name, number in numbers.items()}
        record = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(array.shape), **fields}
        if values:
            record["data_name"] = f"{entry}.{slot}.npy"
            np.save(folder / "dump_tensor_data" / f"{entry}.{slot}.npy", array)
        return record

    data = {
        name: {
            "input_args": [tensor(array, name, f"input.{i}") for i, array in enumerate(given)],
            "input_kwargs": {},
            "output": [tensor(made, name, "output.0")],
        }
        for name, given, made in calls
    }
    (folder / "dump.json").write_text(json.dumps({"task": "tensor", "level": "L1", "data": data}))
    return find_faults(open_dump(root))


@pytest.mark.parametrize("values", [False, True], ids=["statistics", "tensors"])
@pytest.mark.parametrize(
    ("calls", "masks"),
    [
        ([("Tensor.masked_fill.0.forward", [SCORES], MASKED), SOFTMAX], 2),
        (
            [
                ("Torch.triu.0.forward", [SCORES], MASK),
                ("Torch.add.0.forward", [SCORES, MASK], MASKED),
                SOFTMAX,
            ],
            4,
        ),
        ([("Torch.add.0.forward", [SCORES, MASK], MASKED), SOFTMAX], 3),  # a mask that came with the data
        ([("Torch.where.0.forward", [SCORES, np.full(1, -INF, np.float32)], MASKED), SOFTMAX], 3),
    ],
    ids=["filled", "added", "given", "chosen"],
)
def test_masks_are_no_faults(tmp_path: Path, calls: Sequence[Call], masks: int, values: bool) -> None:
    report = searched(tmp_path, calls, values)
    assert report.faults == []
    tensors = sum(len(given) + 1 for _, given, _ in calls)
    assert report.claims == (
        Claim("claim.fault.finite", "clear", {"judged": tensors - masks, "tensors": tensors}),
        Claim("claim.fault.masks", "note", {"n": masks}),
    )


@pytest.mark.parametrize("values", [False, True], ids=["statistics", "tensors"])
@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (
            [("Torch.log.0.forward", [WEIGHTS], np.log(WEIGHTS, where=WEIGHTS > 0, out=MASK.copy()))],
            "Torch.log.0",
        ),
        (
            [
                ("Tensor.masked_fill.0.forward", [SCORES], MASKED),
                ("Functional.softmax.0.forward", [MASKED], np.full((2, 2), np.nan, np.float32)),
            ],
            "Functional.softmax.0",  # a row was masked as a whole
        ),
        (
            [
                ("Tensor.masked_fill.0.forward", [SCORES], MASKED),
                SOFTMAX,
                ("Torch.sqrt.0.forward", [-WEIGHTS], np.full((2, 2), np.nan, np.float32)),
            ],
            "Torch.sqrt.0",
        ),
        (
            [
                ("Tensor.masked_fill.0.forward", [SCORES], MASKED),
                ("Torch.sum.0.forward", [MASKED], np.full(1, -INF, np.float32)),
            ],
            "Torch.sum.0",  # the mask reached the loss
        ),
        ([("Torch.mul.0.forward", [SCORES], MASKED)], "Torch.mul.0"),
    ],
    ids=["logarithm", "row", "root", "loss", "product"],
)
def test_what_only_looks_like_a_mask_is_a_fault(
    tmp_path: Path, calls: Sequence[Call], expected: str, values: bool
) -> None:
    (fault,) = searched(tmp_path, calls, values).faults
    assert fault.origin.operator == f"{expected}.forward"


@pytest.mark.parametrize(
    "operator", ["aten::masked_fill_", "MaskedFill", "torch.where", "FillV2", "Triu", "Select"]
)
def test_operators_that_fill_in_are_known_however_they_are_spelled(operator: str) -> None:
    assert places_constants(operator)
    assert not places_constants("Log")
