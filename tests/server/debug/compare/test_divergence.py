"""First difference between two dumps of real trainings."""

from typing import Any

from mindinsight.server.claims import exit_code, sentence
from mindinsight.server.debug.compare.divergence import decide
from mindinsight.server.debug.compare.dump_comparison import Side, compare
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.formats.dumps import open_dump
from tests.narrowing import require
from tests.server.debug.conftest import DUMPS, spoil

LENET = DUMPS / "ms_sync_v2_0_names"


def decided(path: Any, reference: Any = LENET, step: int = 0) -> Any:
    sides = Side(open_dump(path), 0, step), Side(open_dump(reference), 0, step)
    return decide(compare(sides[0].entries(), sides[1].entries()))


def test_an_operator_that_was_perturbed_introduces_the_difference(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    step = path / "rank_0" / "Net" / "0" / "0"
    for pattern in ("MatMul.MatMul-op59.*.output.0.*", "ReluGrad.ReluGrad-op63.*.input.0.*"):
        spoil(step, pattern, 1.5)
    outcome = decided(path)
    assert [claim.key for claim in outcome.claims] == ["claim.dump.introduced", "claim.dump.rest_follows"]
    (row,) = outcome.first
    assert require(row.compared.pair.target).recorded == "MatMul-op59"
    assert outcome.counts["differ"] == 2
    assert sum(outcome.counts.values()) == outcome.counts["agree"] + 2
    assert exit_code(outcome.claims) == 1


def test_a_perturbed_weight_is_the_first_difference_with_its_place(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "0", "Conv2D.*.input.1.*", 1.5)
    spoil(path / "rank_0" / "Net" / "0" / "0", "Conv2D.*.output.0.*", 1.5)
    first = decided(path).claims[0]
    assert first.key == "claim.dump.input_differs"
    assert "Conv2D-op51 input 1 differs first, in 1 of " in sentence(first)
    assert first.evidence[0]["slot"] == "1"


def test_a_dump_equals_itself_value_for_value() -> None:
    outcome = decided(LENET)
    assert [claim.key for claim in outcome.claims] == ["claim.dump.identical"]
    assert (outcome.first, outcome.counts["differ"]) == ((), 0)


def test_the_tolerance_is_that_of_the_coarser_type_and_integers_are_equal() -> None:
    tolerance = Tolerance()
    assert tolerance.limit("float32", "bfloat16") == 5e-2
    assert tolerance.limit("int32", "int64") == 0
    assert tolerance.limit("bool", "float16") == 1e-2
    assert Tolerance(relative=0.5).limit("float32") == 0.5
    assert Tolerance(relative=0.5).limit("int8", "int8") == 0
