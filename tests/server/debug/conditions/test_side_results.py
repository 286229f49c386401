"""Operators whose results a training does not use. What a search says of them is in tests/claims."""

from mindinsight.server.debug.conditions.side_results import side_results
from mindinsight.server.formats.dumps.dump_types import Operator


def operator(name: str, *sources: str, module: str = "") -> Operator:
    """Return an operator whose type is its name without the number."""
    scope = (
        ("Gradients", "Default")
        if name.startswith("Gradients")
        else ("Default", *([module] if module else []))
    )
    kind = name.rpartition("/")[2].partition("-op")[0]
    return Operator(name, name.replace("/", "_"), kind, scope, "", 0, 0, sources=sources)


STEP = [
    Operator("fc.weight", "fc_weight", "Parameter", (), "", 0, 0),
    operator("Default/fc/mm-op0", "fc.weight", module="fc-Linear"),
    operator("Default/mean-op0", "Default/fc/mm-op0"),
    operator("Default/ones_like-op0", "Default/mean-op0"),
    operator("Gradients/Default/mul-op0", "Default/ones_like-op0"),
    operator("Default/argmax-op0", "Default/fc/mm-op0"),
    operator("Default/div-op0", "Default/argmax-op0"),
]
ASIDE = {"Default_argmax-op0", "Default_div-op0"}


def aside(*more: Operator) -> set[str]:
    return {recorded for _, recorded in side_results([*STEP, *more])}


def test_what_no_module_gradient_or_weight_receives_is_aside() -> None:
    assert aside() == ASIDE
    assert side_results([known for known in STEP if not known.name.startswith("Gradients")]) == frozenset()


def test_what_is_written_to_memory_from_before_the_step_is_used() -> None:
    assert aside(operator("Default/add_-op0", "fc.weight", "Default/div-op0")) == set()
    assert aside(operator("Default/add_-op0", "inputs0", "Default/div-op0")) == set()


def test_what_is_written_to_a_result_is_used_as_that_is() -> None:
    zeros, added = (
        operator("Default/zeros-op0"),
        operator("Default/add_-op0", "Default/zeros-op0", "Default/div-op0"),
    )
    assert aside(zeros, added) == {*ASIDE, "Default_zeros-op0", "Default_add_-op0"}
    reader = operator("Default/fc/mm-op1", "Default/zeros-op0", module="fc-Linear")
    assert aside(zeros, added, reader) == set()


def test_what_follows_from_a_gradient_is_used_but_not_what_follows_from_a_trained_weight() -> None:
    ratio = operator("Default/div-op1", "Gradients/Default/mul-op0")
    assert aside(ratio) == ASIDE
    update = operator("Default/add_-op0", "fc.weight", "Gradients/Default/mul-op0")
    after = operator("Default/norm-op0", "Default/add_-op0")
    assert aside(update, after) == {*ASIDE, "Default_norm-op0"}
