"""Spread of a planted fault: operators, gradients and weights that it reached; masks do not count."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.claims import sentence
from mindinsight.server.debug.fault import Fault, report_of, search_faults
from mindinsight.server.debug.fault_spread import STEPS, Spread, spread_of
from mindinsight.server.formats.dumps import open_dump
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situations.fault import floats, write
from tests.flight import unpack
from tests.server.debug.planting import write_msprobe


def spread(path: Path) -> tuple[Fault, list[Spread]]:
    dump = open_dump(path)
    fault = report_of(search_faults(dump)).faults[0]
    return fault, list(spread_of(dump, fault))


@pytest.mark.parametrize(
    ("culprit", "operators", "gradients"),
    [
        ("Functional.linear.0.forward", (5, 5), (5, 5)),
        ("Torch.log.0.forward", (3, 5), (5, 5)),
        ("Functional.cross_entropy.0.forward", (1, 5), (0, 5)),
    ],
)
def test_what_a_planted_fault_reached(
    culprit: str, operators: tuple[int, int], gradients: tuple[int, int], tmp_path: Path
) -> None:
    write_msprobe(tmp_path, "L1", culprit)
    _, (at_step,) = spread(tmp_path)
    assert (at_step.operators, at_step.of_operators) == operators
    assert (at_step.gradients, at_step.of_gradients) == gradients
    assert (at_step.weights, at_step.of_weights) == ((), 0)  # of which an L1 dump has none


def test_a_sentence_names_the_weights(tmp_path: Path) -> None:
    fault, (at_step,) = spread(unpack("nan_in_weight", tmp_path) / "flight_dump")
    assert at_step.weights == ("fc2.weight",)
    assert sentence(at_step.claim) == (
        "At step 25, NaN or infinity is in the outputs of 3 of 7 recorded forward operators, the outputs of"
        " 16 of 16 recorded backward operators, 1 of 4 recorded weights (fc2.weight)."
    )
    assert fault.step == at_step.step


def test_the_steps_after_a_fault_are_followed_and_no_more_than_four(tmp_path: Path) -> None:
    def call(value: Any) -> Any:
        return ("Functional.relu.0.forward", [floats(1, 2)], value)

    for step in range(8):
        write(tmp_path, [call(floats(1, np.nan) if step in (2, 4) else floats(1, 2))], step=step)
    _, steps = spread(tmp_path)
    assert len(steps) == STEPS
    assert [(known.step, known.operators) for known in steps] == [(2, 1), (3, 0), (4, 1), (5, 0)]


def test_a_mask_and_what_is_not_known_do_not_count(tmp_path: Path) -> None:
    mask = floats(0, -np.inf)
    calls = [
        ("Tensor.masked_fill.0.forward", [floats(0, 0)], mask),
        ("Functional.softmax.0.forward", [mask], floats(1, 0)),
        ("Torch.log.0.forward", [floats(-1, 1)], floats(np.nan, 0)),
    ]
    write(tmp_path, calls)
    _, (at_step,) = spread(tmp_path)
    assert (at_step.operators, at_step.of_operators) == (1, 3)


def test_the_optimizer_is_no_forward_pass(tmp_path: Path) -> None:
    dump = Dump(tmp_path)
    step = dump.iteration(0)
    lost = np.full(2, np.nan, np.float32)
    step.output("Default/log-op0", lost)
    step.output("Gradients/Default/mul-op0", lost)
    for number in range(3):
        step.output(f"Default/optimizer-SGD/add_-op{number}", lost if number else np.ones(2, np.float32))
    _, (at_step,) = spread(tmp_path)
    assert sentence(at_step.claim) == (
        "At step 0, NaN or infinity is in the outputs of 1 of 1 recorded forward operators, the outputs of"
        " 1 of 1 recorded backward operators, the outputs of 2 of 3 recorded operators of the optimizer."
    )


def test_memory_that_nobody_reads_does_not_count(tmp_path: Path) -> None:
    """Buckets in which gradients are gathered hold what was there before, at steps after the fault, too."""
    dump = Dump(tmp_path / "dump")
    for number in range(2):
        step = dump.iteration(number)
        step.output("Default/as_strided-op0", floats(1, np.nan))
        step.input("Default/div-op0", floats(1, 2))
        step.output("Default/div-op0", floats(1, np.nan))
    fault, steps = spread(tmp_path / "dump")
    assert fault.origin.operator == "Default_div-op0"
    assert [(known.operators, known.of_operators) for known in steps] == [(1, 1), (1, 1)]
