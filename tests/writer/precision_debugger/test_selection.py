"""Which entries scope and list select, in the order in which a step asks."""

from mindinsight.writer.precision_debugger.selection import Selection

CALLS = [f"{name}.forward" for name in ("Functional.linear.0", "Functional.relu.0", "Torch.add.0")]


def test_everything_is_selected_without_scope_and_list() -> None:
    assert all(map(Selection(), CALLS))


def test_a_scope_runs_from_the_first_call_to_the_last() -> None:
    selection = Selection(scope=(CALLS[1], CALLS[1]))
    assert [selection(name) for name in CALLS] == [False, True, False]


def test_a_list_holds_parts_of_names() -> None:
    assert [Selection(names=("relu", "Torch"))(name) for name in CALLS] == [False, True, True]


def test_a_scope_of_modules_holds_what_runs_in_them() -> None:
    first, last = "Module.fc1.Linear.forward.0", "Module.act.ReLU.forward.0"
    selection = Selection(scope=(first, last), level="mix")
    assert not selection(CALLS[0])
    selection.begin(first)
    assert selection(first) and selection(CALLS[0])
    selection.end(first)
    selection.begin(last)
    assert selection(CALLS[1])
    selection.end(last)
    assert not selection(CALLS[2])


def test_a_listed_module_selects_the_calls_within_with_level_mix() -> None:
    module = "Module.fc1.Linear.forward.0"
    selection = Selection(names=("fc1",), level="mix")
    selection.begin(module)
    assert selection(CALLS[0])
    selection.end(module)
    assert not selection(CALLS[0])
