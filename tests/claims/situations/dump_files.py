"""Dumps whose files are damaged, or disagree with the statistics beside them; and the inputs of a fault."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situation import Question, situation
from tests.claims.situations.dump_compare import compared
from tests.claims.situations.fault import INF, NAN, Array, Call, ask, floats, write

TENSORS = ("step0", "rank0", "dump_tensor_data")
SUM: Call = ("Torch.add.0.forward", [floats(1, 2), floats(3, 4)], floats(4, 6))


def product(folder: Path, x: Array, weight: Array, out: Array) -> Question:
    """A product of the batch, which is no parameter of the dump, and a weight."""
    graph = GraphBuilder("Net")
    given = [graph.parameter("x", (2,), role="input"), graph.parameter("fc.weight", (2,), role="weight")]
    graph.output(graph.node("Mul", given, shape=(2,)))
    step = Dump(folder / "dump", net_name="Net", graph=graph).iteration(0)
    for slot, value in enumerate((x, weight)):
        step.input("Default/Mul-op0", value, slot)
    step.output("Default/Mul-op0", out)
    step.parameter("fc.weight", weight)
    return ask(folder)


@situation(
    makes=["claim.fault.met.weight"],
    never=["claim.fault.met.also", "claim.fault.met.data", "claim.fault.made"],
    exit_code=1,
)
def not_a_number_in_the_weight_alone(folder: Path) -> Question:
    return product(folder, floats(1, 2), floats(NAN, 1), floats(NAN, 2))


@situation(
    makes=["claim.fault.met.data", "claim.fault.met.also"],
    never=["claim.fault.met.weight", "claim.fault.made"],
    exit_code=1,
)
def infinity_in_the_batch_and_not_a_number_in_the_weight(folder: Path) -> Question:
    return product(folder, floats(INF, 2), floats(1, NAN), floats(INF, NAN))


@situation(makes=["claim.fault.met.input", "claim.fault.met.also"], never=["claim.fault.made"], exit_code=1)
def infinity_in_both_terms_of_a_sum(folder: Path) -> Question:
    write(folder / "dump", [("Torch.add.0.forward", [floats(INF, 1), floats(1, INF)], floats(INF, INF))])
    return ask(folder)


def changed(folder: Path, content: Any, calls: Sequence[Call] = (SUM,), name: str = "output.0") -> Question:
    """Replace a tensor's file after its statistics were recorded, with an array or with bytes."""
    write(folder / "dump", calls)
    path = folder.joinpath("dump", *TENSORS, f"Torch.add.0.forward.{name}.npy")
    path.write_bytes(content) if isinstance(content, bytes) else np.save(path, content)
    return ask(folder)


@situation(
    makes=["claim.fault.contradicted", "claim.fault.made"],
    never=["claim.fault.none", "claim.fault.some", "claim.fault.by_statistics"],
    exit_code=1,
)
def a_file_became_non_finite_after_its_statistics(folder: Path) -> Question:
    return changed(folder, floats(NAN, 6))


@situation(
    makes=["claim.fault.contradicted", "claim.fault.none"], never=["claim.check.non_finite"], exit_code=0
)
def a_file_became_finite_after_its_statistics(folder: Path) -> Question:
    return changed(folder, floats(4, 6), [("Torch.add.0.forward", [floats(1, 2)], floats(NAN, 6))])


@situation(makes=["claim.fault.none"], never=["claim.fault.contradicted"], exit_code=0)
def a_file_with_other_finite_values_than_its_statistics(folder: Path) -> Question:
    return changed(folder, floats(5, 7))


@situation(
    makes=["claim.fault.some", "claim.fault.unread"],
    never=["claim.fault.none", "claim.fault.unlisted", "claim.fault.contradicted"],
    exit_code=2,
)
def a_truncated_output_with_statistics(folder: Path) -> Question:
    return changed(folder, b"\x93NUMPY")


@situation(
    makes=["claim.fault.some", "claim.fault.unread"],
    never=["claim.fault.none", "claim.check.unread"],
    exit_code=2,
)
def a_truncated_input_which_no_condition_checks(folder: Path) -> Question:
    return changed(folder, b"\x93NUMPY", name="input.0")


@situation(
    makes=["claim.check.unread", "claim.fault.unread", "claim.check.none"],
    never=["claim.fault.none", "claim.check.unknown"],
    exit_code=2,
)
def a_check_with_a_truncated_output(folder: Path) -> Question:
    """The output of another operator can be read."""
    tanh: Call = ("Torch.tanh.0.forward", [floats(1, 2)], floats(0.7, 0.9))
    return Question(command=changed(folder, b"\x93NUMPY", [SUM, tanh]).command)


@situation(
    makes=["claim.fault.unlisted"], never=["claim.fault.unread", "claim.fault.contradicted"], exit_code=2
)
def a_row_of_statistics_that_is_no_row(folder: Path) -> Question:
    step = Dump(folder / "dump", net_name="Net").iteration(0)
    step.output("Default/Neg-op0", floats(1, 2))
    (rows,) = (folder / "dump").rglob("statistic.csv")
    rows.write_text(rows.read_text() + "Neg,Default/Neg-op1\n")
    return ask(folder)


@situation(
    makes=["claim.dump.unread", "claim.dump.by_checksum"],
    never=["claim.dump.same_checksums", "claim.dump.partly_agree", "claim.dump.agree"],
    exit_code=2,
)
def equal_checksums_and_a_truncated_file(folder: Path) -> Question:
    for side in ("target", "reference"):
        step = Dump(folder / side, net_name="Net").iteration(0)
        step.output("Default/Neg-op0", floats(1, 2))
        step.output("Default/Abs-op1", floats(3, 4))
    file = next(folder.joinpath("target").rglob("Neg*.npy"))
    file.write_bytes(file.read_bytes()[:-4])
    return compared(folder)
