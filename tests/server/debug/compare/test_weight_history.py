"""Weights of a series of checkpoints that change shape, are missing, or stop changing."""

from mindinsight.server.debug.checkpoint_weights import CellState, TimelineCell, TimelineRow
from mindinsight.server.debug.compare.weight_history import history_claims

COLUMNS = ("net-1", "net-2", "net-3", "net-4")


def row(name: str, *states: CellState, dtype: str = "float32") -> TimelineRow:
    return TimelineRow(name, (4,), tuple(map(TimelineCell, states)), dtype)


MOVING = [row(f"{name}.weight", "start", "changed", "changed", "changed") for name in "abc"]


def claimed(*rows: TimelineRow) -> dict[str, object]:
    """Return the evidence of the claims by the last part of their key."""
    claims = history_claims([*MOVING, *rows], COLUMNS)
    return {claim.key.rpartition(".")[2]: claim.evidence[0]["checkpoint"] for claim in claims}


def test_the_first_column_of_each_is_named() -> None:
    assert claimed(row("d.weight", "start", "changed", "shape", "changed")) == {"shape_changed": "net-3"}
    assert claimed(row("d.weight", "start", "absent", "changed", "changed")) == {"missing": "net-2"}
    assert claimed(row("d.weight", "start", "changed", "unchanged", "unchanged")) == {"stopped": "net-2"}


def test_new_weights_copies_and_unreadable_tensors_are_no_such_history() -> None:
    assert claimed(row("d.weight", "absent", "start", "changed", "changed")) == {}
    assert claimed(row("d.weight", "start", "changed", "changed", "unchanged")) == {}
    assert claimed(row("d.weight", "start", "unchanged", "unchanged", "unchanged")) == {}
    assert claimed(row("d.weight", "start", "unreadable", "unchanged", "unchanged")) == {}
    assert claimed(row("moments.a.weight", "start", "absent", "shape", "changed")) == {}
    assert claimed(row("step", "start", "absent", "absent", "absent", dtype="int64")) == {}


def test_nothing_is_said_to_stop_in_a_training_that_ended() -> None:
    still = [row(f"{name}.weight", "start", "changed", "unchanged", "unchanged") for name in "defg"]
    assert claimed(*still) == {}
