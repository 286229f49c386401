"""What rounding explains: followed through views and casts, by the values of tensors."""

from pathlib import Path

import numpy as np

from mindinsight.server.debug.compare.compared_rows import entry_of
from tests.claims.situations.dump_compare import cancelling, cast
from tests.server.debug.compare.test_row_states import rows_of


def test_a_view_of_a_sum_that_cancels_differs_by_rounding_too(tmp_path: Path) -> None:
    sides = [cancelling(by, error) for by, error in ((1e-5, 3e-7), (0, -2e-7))]
    for calls in sides:
        (total,) = calls["Torch.sum.0.forward"]["outputs"]
        calls["Tensor.view.0.forward"] = {"inputs": [total], "outputs": [total.reshape(2, 2)]}
        calls["Torch.exp.0.forward"] = {"inputs": [total], "outputs": [np.exp(total * 1e7)]}
    rows = rows_of(tmp_path, sides[0], sides[1])
    rounded = [
        (entry_of(row).recorded.split(".")[1], entry_of(row).direction) for row in rows if row.rounding
    ]
    assert rounded == [("sum", "output"), ("view", "input"), ("view", "output"), ("exp", "input")]


def test_what_sums_or_divides_by_its_own_size_follows_from_rounding(tmp_path: Path) -> None:
    """An optimizer divides a gradient by its own size, and so makes updates of any size of rounding."""
    sides = [cancelling(by, error) for by, error in ((1e-5, 3e-7), (0, -2e-7))]
    for calls in sides:
        (total,) = calls["Torch.sum.0.forward"]["outputs"]
        calls["Torch.sum.1.forward"] = {"inputs": [total], "outputs": [total.sum(keepdims=True)]}
        update = {"inputs": [total], "outputs": [np.sign(total) * 1e-3]}
        calls["Torch.optimizer-Adam.0.forward"] = update
    rows = rows_of(tmp_path, sides[0], sides[1])
    rounded = [entry_of(row).recorded for row in rows if row.rounding and entry_of(row).direction == "output"]
    assert rounded == [
        "Torch.sum.0.forward",
        "Torch.sum.1.forward",
        "Torch.optimizer-Adam.0.forward",
    ]


def test_the_coarser_type_stays_behind_what_is_computed(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, cast(3e-3, np.float16), cast(0, np.float32))
    assert [row.coarser for row in rows] == ["", "", "", "float16", "float16", "float16"]


def test_equal_values_leave_no_coarser_type_behind(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, cast(0, np.float16, 3e-3), cast(0, np.float32))
    assert rows[-1].coarser == ""
