"""Checkpoints in the folder of a run: which files are searched, and what is said of them."""

from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.api import checkpoint_faults
from mindinsight.server.api.checkpoint_faults import search_checkpoints


def save(path: Path, value: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{"fc.weight": np.full((2, 2), value)})  # type: ignore[arg-type]


def test_files_of_other_runs_and_dumps_are_left_out(tmp_path: Path) -> None:
    save(tmp_path / "net-1.npz", 1.0)
    save(tmp_path / "saved" / "net-2.npz", np.inf)
    save(tmp_path / "other" / "net-3.npz", np.nan)
    search = search_checkpoints("./run", tmp_path, {"./run/other"})
    assert (search.count, search.file) == (2, "./run/saved/net-2.npz")
    assert [claim.key for claim in search.claims] == ["claim.explain.checkpoint_non_finite"]
    assert search.claims[0].evidence == ({"file": "./run/saved/net-2.npz", "step": 2},)


def test_growth_is_counted_from_the_lowest_norm(tmp_path: Path) -> None:
    for number, value in enumerate((50.0, 1.0, 150.0), 1):
        save(tmp_path / f"net-{number}.npz", value)
    (claim,) = search_checkpoints("./run", tmp_path, ()).claims
    assert claim.key == "claim.explain.checkpoint_grown"
    assert (claim.values["before"], claim.values["factor"]) == ("net-2.npz", 150)


def test_weights_that_all_grew_are_counted_and_the_one_that_did_most_is_named(tmp_path: Path) -> None:
    for number, value in enumerate((1.0, 200.0), 1):
        weights = {"a.weight": np.full((2, 2), value), "b.weight": np.full((2, 2), value**2)}
        np.savez(tmp_path / f"net-{number}.npz", **weights, **{"c.weight": np.full((2, 2), number)})  # type: ignore[arg-type]
    (claim,) = search_checkpoints("./run", tmp_path, ()).claims
    assert (claim.values["n"], claim.values["name"], claim.values["factor"]) == (2, "b.weight", 40_000)


def test_the_scale_of_a_normalization_counts_and_the_state_of_an_optimizer_does_not(tmp_path: Path) -> None:
    for number, value in enumerate((1.0, 200.0), 1):
        weights = {"norm.bias": np.full(4, value), "adam_v.fc.weight": np.full((2, 2), value)}
        np.savez(tmp_path / f"net-{number}.npz", **weights, **{"fc.weight": np.full((2, 2), number)})  # type: ignore[arg-type]
    assert search_checkpoints("./run", tmp_path, ()).claims == ()
    for number, value in enumerate((1.0, 200.0), 1):
        np.savez(tmp_path / f"net-{number}.npz", **{"norm.weight": np.full(4, value)})  # type: ignore[arg-type]
    assert len(search_checkpoints("./run", tmp_path, ()).claims) == 1


@pytest.mark.parametrize(
    ("step", "last", "expected"),
    [
        ("compare_weights", np.nan, "claim.explain.checkpoint_non_finite"),
        ("weight_timeline", 1.0, "claim.explain.checkpoint_frozen"),
    ],
)
def test_a_checkpoint_removed_in_the_middle_of_a_search_leaves_the_rest(
    step: str, last: float, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a training does that keeps its newest ones."""
    for number, value in enumerate((1.0, 1.0, last), 1):
        save(tmp_path / f"net-{number}.npz", value)
    followed = getattr(checkpoint_faults, step)

    def removed(*arguments: object) -> object:
        (tmp_path / "net-1.npz").unlink()
        monkeypatch.setattr(checkpoint_faults, step, followed)
        raise FileNotFoundError

    monkeypatch.setattr(checkpoint_faults, step, removed)
    search = search_checkpoints("./run", tmp_path, ())
    assert not (tmp_path / "net-1.npz").exists()
    assert [claim.key for claim in search.claims] == [expected]
    assert search.count == 3


def test_files_of_one_name_are_named_with_their_folders(tmp_path: Path) -> None:
    """As libraries save model.safetensors in a folder for each step."""
    for step, value in ((100, 1.0), (200, 150.0)):
        save(tmp_path / f"checkpoint-{step}" / "model.npz", value)
    (claim,) = search_checkpoints("./run", tmp_path, ()).claims
    names = "checkpoint-100/model.npz", "checkpoint-200/model.npz"
    assert (claim.values["before"], claim.values["file"]) == names
