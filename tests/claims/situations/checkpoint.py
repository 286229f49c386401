"""Situations of a series of checkpoints: tensors that break, stay or cannot be read."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from mindinsight.server.claims import Claim
from mindinsight.server.debug.checkpoint_weights import (
    WeightDifference,
    compare_weights,
    count_states,
    list_weights,
    non_finite_claims,
    weight_timeline,
)
from mindinsight.server.formats.weights.weight_files import open_weights
from tests.claims.situation import Question, Truth, exactly, situation, words
from tests.server.formats.weights.torch_archives import SIX, Described, Storage, tensor, write

ONES = np.ones(4, np.float32)
COUNT = np.arange(1, 4)
WEIGHTS = ("unchanged", "bits", "changed", "type", "shape", "reshaped", "first", "second", "unreadable")
CELLS = ("changed", "unchanged", "bits", "start", "absent", "type", "shape", "reshaped", "unreadable", "lost")
BROKEN = np.array([1, np.nan, 1, np.inf], np.float32)


def series(folder: Path, *checkpoints: Mapping[str, Any]) -> Question:
    """Write one file for each checkpoint, a mapping of tensors; ask for their timeline."""
    names = [f"net-{step}.npz" for step in range(1, len(checkpoints) + 1)]
    for name, tensors in zip(names, checkpoints, strict=True):
        np.savez(folder / name, **tensors)
    return timeline_of(folder, names)


def timeline_of(folder: Path, names: Sequence[str]) -> Question:
    params = {"file": [f"./{name}" for name in names]}

    def ask(client: TestClient) -> Any:
        deadline = time.monotonic() + 30
        while True:
            response = client.get("/v2/dump/checkpoint/timeline", params=params)
            if response.status_code == 200 and response.json()["done"]:
                return response.json()
            assert time.monotonic() < deadline, response.text
            time.sleep(0.1)

    return Question(base=folder, request=ask)


@situation(
    makes=["claim.checkpoint.non_finite"],
    never=["claim.checkpoint.finite", "claim.checkpoint.frozen", "claim.checkpoint.unreadable"],
)
def weight_that_breaks(folder: Path) -> Question:
    return series(
        folder, {"a": ONES, "b": ONES}, {"a": 2 * ONES, "b": 3 * ONES}, {"a": BROKEN, "b": 4 * ONES}
    )


@situation(
    makes=["claim.checkpoint.finite", "claim.checkpoint.frozen"],
    never=["claim.checkpoint.non_finite", "claim.checkpoint.no_common_tensor"],
)
def embedding_that_never_moves(folder: Path) -> Question:
    return series(folder, {"a": ONES, "b": ONES}, {"a": 2 * ONES, "b": ONES}, {"a": 3 * ONES, "b": ONES})


@situation(makes=["claim.checkpoint.finite"], never=["claim.checkpoint.frozen"])
def weight_that_moves_at_last(folder: Path) -> Question:
    """Unchanged between two checkpoints, and not in all of them."""
    return series(folder, {"a": ONES}, {"a": ONES}, {"a": 2 * ONES})


@situation(makes=["claim.checkpoint.finite"], never=["claim.checkpoint.frozen"])
def weight_that_came_later(folder: Path) -> Question:
    """A tensor of a single checkpoint was compared with nothing."""
    return series(folder, {"a": ONES}, {"a": 2 * ONES, "new": ONES})


HISTORY = tuple(f"claim.checkpoint.{name}" for name in ("shape_changed", "missing", "stopped", "stopped_all"))


def history(folder: Path, *values: Any) -> Question:
    """Two weights that change at all times, and one with these values, None where it is missing."""
    steps = []
    for number, value in enumerate(values, 1):
        known = {} if value is None else {"c.weight": np.asarray(value, np.float32)}
        steps.append({"a.weight": number * ONES, "b.weight": number**2 * ONES, **known})
    return series(folder, *steps)


@situation(makes=["claim.checkpoint.shape_changed"], never=[HISTORY[1], HISTORY[2]])
def weight_that_grows_by_a_row(folder: Path) -> Question:
    return history(folder, [1, 2], [2, 3], [3, 4, 5])


@situation(makes=["claim.checkpoint.missing"], never=[HISTORY[0], HISTORY[2]])
def weight_that_a_checkpoint_lacks(folder: Path) -> Question:
    return history(folder, [1, 2], None, [3, 4])


@situation(makes=["claim.checkpoint.stopped"], never=[HISTORY[0], HISTORY[1], "claim.checkpoint.frozen"])
def weight_that_stops(folder: Path) -> Question:
    return history(folder, [1, 2], [2, 3], [2, 3], [2, 3])


@situation(makes=["claim.checkpoint.finite"], never=HISTORY)
def weight_that_is_new_and_one_copy(folder: Path) -> Question:
    """It was not there at first, and its last two values may be of one step."""
    return history(folder, None, [1, 2], [2, 3], [2, 3])


@situation(makes=["claim.checkpoint.stopped_all"], never=[*HISTORY[:3], "claim.checkpoint.frozen"])
def weights_that_all_stop(folder: Path) -> Question:
    """The training may have ended, so this is no fault."""
    return series(folder, {"a": ONES}, *[{"a": 2 * ONES}] * 3)


@situation(makes=["claim.checkpoint.finite"], never=HISTORY)
def weights_of_a_training_that_waits_once(folder: Path) -> Question:
    return series(folder, {"a": ONES}, *[{"a": 2 * ONES}] * 3, {"a": 3 * ONES})


@situation(
    makes=["claim.checkpoint.no_common_tensor"],
    never=["claim.checkpoint.frozen", "claim.checkpoint.unreadable"],
)
def checkpoints_of_two_nets(folder: Path) -> Question:
    return series(folder, {"a": ONES}, {"b": ONES})


@situation(
    makes=["claim.checkpoint.unreadable"], never=["claim.checkpoint.finite", "claim.checkpoint.frozen"]
)
def tensor_that_was_cut(folder: Path) -> Question:
    """Of a tensor that cannot be read in one checkpoint it is not known whether it is finite."""
    question = series(folder, {"a": np.arange(4000.0)}, {})
    np.savez_compressed(folder / "net-2.npz", a=np.arange(4000.0))
    damaged = bytearray((folder / "net-2.npz").read_bytes())
    damaged[2000:2400] = bytes(400)
    (folder / "net-2.npz").write_bytes(damaged)
    return question


@situation(never=["claim.checkpoint.no_common_tensor", "claim.checkpoint.non_finite"])
def checkpoints_with_one_common_tensor(folder: Path) -> Question:
    return series(folder, {"a": ONES, "b": ONES}, {"b": 2 * ONES, "c": ONES})


@situation(makes=["claim.checkpoint.largest_step"], never=["claim.checkpoint.non_finite"])
def weight_that_jumps_once(folder: Path) -> Question:
    """The state of an optimizer and a counter change more."""
    steps = ((1.0, 1.0, 1.0, 1), (1.01, 1.01, 5.0, 9), (1.02, 3.0, 30.0, 99), (1.03, 3.01, 200.0, 999))
    return series(
        folder,
        *(
            {
                "a.weight": a * ONES,
                "b.weight": b * ONES,
                "moments.a.weight": state * ONES,
                "step": step * COUNT,
            }
            for a, b, state, step in steps
        ),
    )


def _growing(folder: Path, factor: float) -> Question:
    """A matrix changes by a factor in its second step. A bias, which began near zero, changes by more."""
    sizes = ((1.0, 1e-6), (1.01, 1.0), (factor, 1.1))
    return series(folder, *({"a.weight": a * np.ones((2, 2)), "a.bias": b * ONES} for a, b in sizes))


@situation(
    makes=["claim.checkpoint.grown", "claim.checkpoint.finite"], never=["claim.checkpoint.largest_step"]
)
def matrix_that_explodes(folder: Path) -> Question:
    return _growing(folder, 1000.0)


@situation(makes=["claim.checkpoint.largest_step"], never=["claim.checkpoint.grown"])
def matrix_that_grows_fiftyfold(folder: Path) -> Question:
    return _growing(folder, 50.0)


def _moved_once(folder: Path, size: float, all_sizes: Mapping[int, float] = {5: 0.3}) -> Question:
    """Four matrices tremble over twelve checkpoints. One changes more at the eighth, and all at others."""
    random = np.random.default_rng(1)
    weights = {f"{name}.weight": random.standard_normal((8, 8)) for name in "abcd"}
    weights["a.bias"] = 1e-6 * np.ones(8)
    saved = []
    for number in range(12):
        for name, values in weights.items():
            alone = size if (number, name) == (8, "b.weight") else 0.01
            share = all_sizes.get(number, alone)
            weights[name] = values * (1 + share * random.standard_normal(values.shape))
        weights["a.bias"] = weights["a.bias"] + 0.01 * number
        saved.append(dict(weights))
    return series(folder, *saved)


def _drawn_again(folder: Path, replaced: Mapping[int, str]) -> Question:
    """Three matrices that change by a hundredth, and those drawn again before a checkpoint, by its number."""
    random = np.random.default_rng(4)
    weights = {f"{name}.weight": random.standard_normal((16, 16)) for name in "abc"}
    saved = []
    for number in range(8):
        for name, values in weights.items():
            new = random.standard_normal(values.shape)
            weights[name] = new if name[0] in replaced.get(number, "") else values + 0.01 * new
        saved.append(dict(weights))
    return series(folder, *saved)


@situation(
    makes=["claim.checkpoint.replaced"],
    never=["claim.checkpoint.stands_out", "claim.checkpoint.all_stand_out"],
)
def a_network_that_was_initialized_again(folder: Path) -> Question:
    return _drawn_again(folder, {5: "abc"})


@situation(makes=["claim.checkpoint.replaced"], never=["claim.checkpoint.stands_out"])
def two_layers_that_were_initialized_again(folder: Path) -> Question:
    return _drawn_again(folder, {5: "ab"})


@situation(makes=["claim.checkpoint.finite"], never=["claim.checkpoint.replaced"])
def checkpoints_of_unrelated_networks(folder: Path) -> Question:
    """As of several seeds."""
    return _drawn_again(folder, dict.fromkeys(range(8), "abc"))


@situation(makes=["claim.checkpoint.finite"], never=["claim.checkpoint.replaced"])
def a_network_that_leaves_its_initial_weights_at_once(folder: Path) -> Question:
    return _drawn_again(folder, {1: "abc"})


@situation(makes=["claim.checkpoint.stands_out", "claim.checkpoint.largest_step"])
def matrix_that_changes_fifty_times_as_much_once(folder: Path) -> Question:
    return _moved_once(folder, 0.5)


@situation(makes=["claim.checkpoint.all_stand_out"], never=["claim.checkpoint.stands_out"])
def all_matrices_that_change_thirty_times_as_much_once(folder: Path) -> Question:
    return _moved_once(folder, 0.01)


@situation(makes=["claim.checkpoint.largest_step"], never=["claim.checkpoint.all_stand_out"])
def all_matrices_that_change_as_much_twice(folder: Path) -> Question:
    """A learning rate that restarts."""
    return _moved_once(folder, 0.01, {4: 0.3, 8: 0.3})


@situation(makes=["claim.checkpoint.largest_step"], never=["claim.checkpoint.all_stand_out"])
def all_matrices_that_change_five_times_as_much_once(folder: Path) -> Question:
    return _moved_once(folder, 0.01, {5: 0.05})


@situation(makes=["claim.checkpoint.largest_step"], never=["claim.checkpoint.stands_out"])
def matrix_that_changes_three_times_as_much_once(folder: Path) -> Question:
    return _moved_once(folder, 0.03)


@situation(
    makes=["claim.checkpoint.largest_step"],
    never=["claim.checkpoint.stands_out", "claim.checkpoint.all_stand_out"],
)
def matrix_beside_others_that_hardly_move_until_they_are_trained_too(folder: Path) -> Question:
    random = np.random.default_rng(1)
    weights = {f"{name}.weight": random.standard_normal((8, 8)) for name in "abcd"}
    saved = []
    for number in range(12):
        for name, values in weights.items():
            share = 0.08 if name == "a.weight" else 0.02 if number >= 6 else 1e-5
            weights[name] = values * (1 + share * random.standard_normal(values.shape))
        saved.append(dict(weights))
    return series(folder, *saved)


@situation(
    makes=["claim.checkpoint.largest_whole", "claim.checkpoint.largest_step"],
    never=["claim.checkpoint.frozen"],
)
def weight_that_moves_a_little_each_time(folder: Path) -> Question:
    """Another one jumped and came back."""
    moves = ((1.0, 1.0), (1.5, 1.01), (2.0, 3.0), (2.5, 1.02))
    return series(folder, *({"a.weight": a * ONES, "b.weight": b * ONES} for a, b in moves))


@situation(
    makes=["claim.checkpoint.largest_step"],
    never=["claim.checkpoint.largest_whole", "claim.checkpoint.frozen_all"],
)
def weight_that_jumps_and_comes_back(folder: Path) -> Question:
    """From the first to the last nothing changed."""
    return series(folder, *({"a.weight": a * ONES, "b.weight": ONES} for a in (1.0, 3.0, 1.0)))


@situation(
    makes=["claim.checkpoint.finite"],
    never=["claim.checkpoint.largest_step", "claim.checkpoint.largest_whole"],
)
def weights_that_double_each_time(folder: Path) -> Question:
    """No change is the largest."""
    return series(folder, *({"a": 2.0**step * ONES, "b": 2.0**step * ONES} for step in range(4)))


def difference(folder: Path, *checkpoints: Mapping[str, Any]) -> Question:
    """Write two files of PyTorch, a mapping of tensors each; ask for their difference."""
    for name, tensors in zip(("a.pt", "b.pt"), checkpoints, strict=True):
        write(folder / name, tensors, s0=SIX, s1=SIX[::-1])
    return difference_of(folder, "a.pt", "b.pt")


def difference_of(folder: Path, first: str, second: str) -> Question:
    def ask(client: TestClient) -> Any:
        deadline = time.monotonic() + 30
        while True:
            params = {"first": f"./{first}", "second": f"./{second}"}
            response = client.get("/v2/dump/checkpoint/difference", params=params)
            if response.status_code == 200 and response.json()["done"]:
                return response.json()
            assert time.monotonic() < deadline, response.text
            time.sleep(0.1)

    return Question(base=folder, request=ask)


WEIGHT = tensor(Storage("0", 6))
UNREAD = ("_rebuild_qtensor", "_rebuild_sparse_tensor", "_rebuild_meta_tensor_no_storage")


def unread(kind: str) -> Described:
    return Described("torch._utils", kind, Storage("1", 6), 0, (6,), (1,))


@situation(
    makes=["claim.checkpoint.not_read"],
    never=["claim.checkpoint.no_change", "claim.checkpoint.changed", "claim.checkpoint.no_common_tensor"],
)
def tensors_of_other_kinds(folder: Path) -> Question:
    """Quantized, sparse and meta tensors have no values that are read, and so they are not called equal."""
    tensors = {"w": WEIGHT, **{kind: unread(kind) for kind in UNREAD}}
    return difference(folder, tensors, tensors)


@situation(makes=["claim.checkpoint.not_read"], never=["claim.checkpoint.no_change"])
def array_of_numpy_in_a_file_of_torch(folder: Path) -> Question:
    array = Described("numpy._core.multiarray", "_reconstruct", 0)
    return difference(folder, {"w": WEIGHT, "rng": array}, {"w": WEIGHT, "rng": array})


@situation(
    makes=["claim.checkpoint.changed"], never=["claim.checkpoint.no_change", "claim.checkpoint.not_read"]
)
def weight_that_was_replaced(folder: Path) -> Question:
    return difference(folder, {"w": WEIGHT}, {"w": tensor(Storage("1", 6))})


@situation(
    makes=["claim.checkpoint.reshaped"], never=["claim.checkpoint.no_change", "claim.checkpoint.changed"]
)
def weight_with_its_values_in_another_shape(folder: Path) -> Question:
    files(folder, {"w": ONES}, {"w": ONES.reshape(2, 2)})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(
    makes=["claim.checkpoint.changed"], never=["claim.checkpoint.no_change", "claim.checkpoint.reshaped"]
)
def weight_with_other_values_in_another_shape(folder: Path) -> Question:
    files(folder, {"w": ONES}, {"w": 2 * ONES.reshape(2, 2)})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(
    makes=["claim.checkpoint.only_one"],
    never=["claim.checkpoint.changed", "claim.checkpoint.no_change", "claim.checkpoint.no_common_tensor"],
)
def tensor_in_one_file_alone(folder: Path) -> Question:
    """What both have is equal."""
    files(folder, {"w": ONES, "b": ONES}, {"w": ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(
    makes=["claim.checkpoint.only_one", "claim.checkpoint.no_common_tensor"],
    never=["claim.checkpoint.changed", "claim.checkpoint.no_change"],
)
def tensors_with_another_prefix(folder: Path) -> Question:
    """No tensor was compared, so that none differs."""
    files(folder, {"module.w": ONES}, {"w": ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(makes=["claim.checkpoint.largest"], never=["claim.checkpoint.no_change"])
def weight_that_changed_more_than_another(folder: Path) -> Question:
    """The state of an optimizer and a counter changed more, and a tensor of zeros has no share."""
    first = {"a.weight": ONES, "b.weight": ONES, "moments.a.weight": ONES, "zero": 0 * ONES, "step": COUNT}
    second = {
        "a.weight": 1.1 * ONES,
        "b.weight": 1.5 * ONES,
        "moments.a.weight": 9 * ONES,
        "zero": ONES,
        "step": 9 * COUNT,
    }
    files(folder, first, second)
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(makes=["claim.checkpoint.changed_all"], never=["claim.checkpoint.changed"])
def weights_that_all_changed(folder: Path) -> Question:
    """Each name says nothing, as after any training."""
    files(folder, dict.fromkeys("abcde", ONES), dict.fromkeys("abcde", 2 * ONES))
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(makes=["claim.checkpoint.changed"], never=["claim.checkpoint.changed_all"])
def weights_of_which_one_stays(folder: Path) -> Question:
    files(folder, dict.fromkeys("abcde", ONES), {**dict.fromkeys("abcd", 2 * ONES), "e": ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(makes=["claim.checkpoint.changed"], never=["claim.checkpoint.largest"])
def weights_that_changed_by_the_same_share(folder: Path) -> Question:
    files(folder, {"a": ONES, "b": 3 * ONES}, {"a": 2 * ONES, "b": 6 * ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(makes=["claim.checkpoint.changed"], never=["claim.checkpoint.only_one"])
def tensor_that_both_files_have(folder: Path) -> Question:
    files(folder, {"w": ONES}, {"w": 2 * ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(
    makes=["claim.checkpoint.no_change", "claim.checkpoint.other_values"],
    never=["claim.checkpoint.changed", "claim.checkpoint.not_read"],
)
def learning_rate_that_changed(folder: Path) -> Question:
    """No tensor changed, but a number beside them."""
    return difference(folder, {"w": WEIGHT, "lr": 0.1}, {"w": WEIGHT, "lr": 0.2})


@situation(
    makes=["claim.checkpoint.counters"], never=["claim.checkpoint.other_values", "claim.checkpoint.no_change"]
)
def checkpoints_of_two_steps(folder: Path) -> Question:
    """That a later file has counted more steps is no fault."""
    counted = [{"step": 1900, "last_epoch": 19}, {"step": 2000, "last_epoch": 20}]
    weights = (WEIGHT, tensor(Storage("1", 6)))
    return difference(
        folder, *({"w": weight, **counts} for weight, counts in zip(weights, counted, strict=True))
    )


@situation(
    makes=["claim.checkpoint.other_values"],
    never=["claim.checkpoint.counters", "claim.checkpoint.non_finite_both"],
)
def step_size_that_changed(folder: Path) -> Question:
    """It is no counter, and a number of steps that became a text is none."""
    return difference(
        folder, {"w": WEIGHT, "step_size": 3, "step": 1}, {"w": WEIGHT, "step_size": 4, "step": "1"}
    )


@situation(
    makes=["claim.checkpoint.non_finite_both", "claim.checkpoint.no_change"],
    never=["claim.checkpoint.apart", "claim.checkpoint.counters"],
)
def weight_that_is_broken_in_both_files(folder: Path) -> Question:
    """Its bytes are equal, and it is broken nevertheless."""
    files(folder, {"w": BROKEN, "v": ONES}, {"w": BROKEN, "v": ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(makes=["claim.checkpoint.apart"], never=["claim.checkpoint.non_finite_both"])
def weight_that_broke_between_two_files(folder: Path) -> Question:
    files(folder, {"w": ONES, "v": ONES}, {"w": BROKEN, "v": ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(makes=["claim.checkpoint.no_change"], never=["claim.checkpoint.other_values"])
def numbers_that_stay(folder: Path) -> Question:
    """NaN is the same value as NaN."""
    saved = {"w": WEIGHT, "epoch": 3, "loss": float("nan"), "name": "lr 0.1"}
    return difference(folder, saved, saved)


def complex_tensor(**bits: bool) -> Described:
    storage = Storage("0", 3, "ComplexFloatStorage")
    hooks: dict[str, Any] = {}
    return Described("torch._utils", "_rebuild_tensor_v2", storage, 0, (3,), (1,), False, hooks, bits)


@situation(makes=["claim.checkpoint.changed"], never=["claim.checkpoint.no_change"])
def conjugated_tensor(folder: Path) -> Question:
    """The stored bytes are equal, and one of the tensors is their conjugate."""
    return difference(folder, {"c": complex_tensor(conj=True)}, {"c": complex_tensor()})


@situation(makes=["claim.checkpoint.no_change"], never=["claim.checkpoint.changed"])
def tensors_conjugated_in_both(folder: Path) -> Question:
    return difference(folder, {"c": complex_tensor(conj=True)}, {"c": complex_tensor(conj=True)})


@situation(
    makes=["claim.checkpoint.damaged"],
    never=["claim.checkpoint.finite", "claim.checkpoint.frozen", "claim.checkpoint.non_finite"],
)
def tensor_whose_bytes_were_overwritten(folder: Path) -> Question:
    """The values of an uncompressed tensor are finite, and not those that were saved."""
    values = np.arange(40_000.0)
    question = series(folder, {"a": values, "b": ONES}, {"a": values + 1, "b": ONES})
    damaged = bytearray((folder / "net-2.npz").read_bytes())
    damaged[200_000:200_080] = damaged[100_000:100_080]
    (folder / "net-2.npz").write_bytes(damaged)
    return question


@situation(makes=["claim.checkpoint.finite", "claim.checkpoint.frozen"], never=["claim.checkpoint.damaged"])
def large_tensors_that_are_whole(folder: Path) -> Question:
    values = np.arange(40_000.0)
    return series(folder, {"a": values, "b": ONES}, {"a": values + 1, "b": ONES})


@situation(
    makes=["claim.checkpoint.finite", "claim.checkpoint.frozen_all"], never=["claim.checkpoint.frozen"]
)
def checkpoints_in_which_nothing_moves(folder: Path) -> Question:
    return series(folder, {"a": ONES, "b": ONES}, {"a": ONES, "b": ONES})


@situation(makes=["claim.checkpoint.frozen"], never=["claim.checkpoint.frozen_all"])
def one_of_two_tensors_moves(folder: Path) -> Question:
    return series(folder, {"a": ONES, "b": ONES}, {"a": ONES, "b": 2 * ONES})


@situation(
    makes=["claim.checkpoint.non_finite"], never=["claim.checkpoint.unreadable", "claim.checkpoint.finite"]
)
def a_scalar_that_breaks_beside_a_text(folder: Path) -> Question:
    return series(
        folder,
        {"a": np.array(1.0), "note": np.array(["x"])},
        {"a": np.array(np.nan), "note": np.array(["y"])},
    )


# Checkpoints: two files, and the cells of a timeline


def files(folder: Path, *checkpoints: Mapping[str, Any]) -> list[Path]:
    paths = [folder / f"net-{step}.npz" for step in range(len(checkpoints))]
    for path, tensors in zip(paths, checkpoints, strict=True):
        np.savez(path, **tensors)
    return paths


def differences(
    name: str, truth: str, first: Mapping[str, Any], second: Mapping[str, Any], *made: str
) -> None:
    def generate(folder: Path) -> Question:
        def ask() -> list[Claim]:
            sides = [open_weights(path) for path in files(folder, first, second)]
            return states_and_counts(list(compare_weights(sides[0], sides[1])))

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**weight_words(*made))(generate)


def weight_words(*states: str) -> Truth:
    """Return that tensors have these states and are counted in them, and in no others."""
    truths = [exactly(f"dump.weights.{group}", WEIGHTS, *states) for group in ("state", "count")]
    return {
        "makes": [*truths[0]["makes"], *truths[1]["makes"]],
        "never": [*truths[0]["never"], *truths[1]["never"]],
    }


def states_and_counts(rows: Sequence[WeightDifference]) -> list[Claim]:
    states = words("dump.weights.state", *(row.state for row in rows))
    return [*states, *words("dump.weights.count", *count_states(rows))]


differences("weights_that_are_equal", "Equal bytes.", {"a": ONES}, {"a": ONES}, "unchanged")
differences("weights_of_which_one_changed", "One.", {"a": ONES}, {"a": 2 * ONES}, "changed")
differences(
    "weight_with_the_other_zero",
    "Minus zero is equal and has other bytes.",
    {"a": 0 * ONES},
    {"a": -0.0 * ONES},
    "bits",
)
differences(
    "weight_with_the_same_nan", "Equal bytes.", {"a": ONES * np.nan}, {"a": ONES * np.nan}, "unchanged"
)
differences("weight_of_another_type", "Equal values.", {"a": ONES}, {"a": ONES.astype(np.float64)}, "type")
differences("weight_that_was_reshaped", "Equal values.", {"a": ONES}, {"a": ONES.reshape(2, 2)}, "reshaped")
differences("weight_of_another_shape", "Ones and twos.", {"a": ONES}, {"a": 2 * ONES.reshape(2, 2)}, "shape")
differences("weights_of_one_file_each", "No common name.", {"a": ONES}, {"b": ONES}, "first", "second")


def cells(
    name: str, truth: str, made: Sequence[str], *checkpoints: Mapping[str, Any], damage: bool = False
) -> None:
    """Declare a timeline whose cells have exactly these words."""

    def generate(folder: Path) -> Question:
        paths = files(folder, *checkpoints)
        if damage:
            content = bytearray(paths[-1].read_bytes())
            content[2000:2400] = bytes(400)
            paths[-1].write_bytes(content)

        def ask() -> list[Claim]:
            cells = [
                cell for row in weight_timeline([list_weights(path) for path in paths]) for cell in row.cells
            ]
            lost = ["lost" for cell in cells if cell.non_finite]
            return words("checkpoint.cell", *(cell.state for cell in cells), *lost)

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("checkpoint.cell", CELLS, *made))(generate)


cells("cells_of_a_weight_that_learns", "It moves.", ["start", "changed"], {"a": ONES}, {"a": 2 * ONES})
cells(
    "cells_of_a_weight_with_the_other_zero",
    "It is equal.",
    ["start", "bits"],
    {"a": 0 * ONES},
    {"a": -0.0 * ONES},
)
cells("cells_of_a_frozen_weight", "It stays.", ["start", "unchanged"], {"a": ONES}, {"a": ONES})
cells(
    "cells_of_a_weight_that_is_missing_for_a_while",
    "Compared with the last that has it.",
    ["start", "absent", "unchanged"],
    {"a": ONES},
    {},
    {"a": ONES},
)
cells("cells_of_a_weight_that_comes_later", "Not in the first.", ["absent", "start"], {}, {"a": ONES})
cells(
    "cells_of_a_weight_of_another_type",
    "It moved as well.",
    ["start", "type"],
    {"a": ONES},
    {"a": 2 * ONES.astype(np.float64)},
)
cells(
    "cells_of_a_weight_of_another_shape",
    "No change can be measured.",
    ["start", "shape"],
    {"a": ONES},
    {"a": np.ones(5)},
)
cells(
    "cells_of_a_weight_that_is_reshaped",
    "Equal values.",
    ["start", "reshaped"],
    {"a": ONES},
    {"a": ONES.reshape(2, 2)},
)
cells(
    "cells_of_a_weight_that_becomes_nan",
    "NaN from the second on.",
    ["start", "changed", "lost"],
    {"a": ONES},
    {"a": ONES * np.nan},
)


@situation(**weight_words("unreadable"))
def weight_that_cannot_be_read(folder: Path) -> Question:
    def ask() -> list[Claim]:
        sides = [open_weights(path) for path in damaged(folder)]
        return states_and_counts(list(compare_weights(sides[0], sides[1])))

    return Question(direct=ask)


@situation(**exactly("checkpoint.cell", CELLS, "start", "unreadable"))
def cells_of_a_weight_that_cannot_be_read(folder: Path) -> Question:
    def ask() -> list[Claim]:
        table = weight_timeline([list_weights(path) for path in damaged(folder)])
        return words("checkpoint.cell", *(cell.state for row in table for cell in row.cells))

    return Question(direct=ask)


def damaged(folder: Path) -> list[Path]:
    """Return two files with one tensor, which the second cannot be read of."""
    paths = files(folder, {"a": np.arange(4000.0)}, {"a": np.arange(4000.0)})
    np.savez_compressed(paths[1], a=np.arange(4000.0))
    content = bytearray(paths[1].read_bytes())
    content[2000:2400] = bytes(400)
    paths[1].write_bytes(content)
    return paths


@situation(**exactly("checkpoint.cell", CELLS, "unreadable"))
def cells_of_a_weight_that_the_first_checkpoint_cannot_give(folder: Path) -> Question:
    """Where the tensor starts is not known to be the second checkpoint."""

    def ask() -> list[Claim]:
        table = weight_timeline([list_weights(path) for path in reversed(damaged(folder))])
        return words("checkpoint.cell", *(cell.state for row in table for cell in row.cells))

    return Question(direct=ask)


ZEROS = ["claim.checkpoint.bits", "claim.checkpoint.no_change"]


@situation(makes=ZEROS, never=["claim.checkpoint.changed"])
def weight_of_which_only_the_sign_of_zero_changed(folder: Path) -> Question:
    files(folder, {"w": 0 * ONES, "v": ONES}, {"w": -0.0 * ONES, "v": ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


@situation(makes=["claim.checkpoint.changed"], never=ZEROS)
def weight_that_is_zero_and_then_tiny(folder: Path) -> Question:
    files(folder, {"w": 0 * ONES}, {"w": 1e-38 * ONES})
    return difference_of(folder, "net-0.npz", "net-1.npz")


def files_apart(folder: Path, first: Any, second: Any) -> Question:
    """Ask which tensors have non-finite values in one file where the other has another value."""
    for name, values in (("first", first), ("second", second)):
        np.savez(folder / f"{name}.npz", a=values, b=ONES)
    before, after = (open_weights(folder / f"{name}.npz") for name in ("first", "second"))
    return Question(direct=lambda: non_finite_claims(list(compare_weights(before, after))))


@situation(makes=["claim.checkpoint.apart"])
def infinity_of_the_other_sign(folder: Path) -> Question:
    return files_apart(folder, BROKEN, BROKEN * np.float32(-1))


@situation(never=["claim.checkpoint.apart"])
def non_finite_values_at_the_same_positions(folder: Path) -> Question:
    """The finite values differ."""
    return files_apart(folder, BROKEN, np.array([2, np.nan, 1, np.inf], np.float32))
