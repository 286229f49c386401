"""Loss landscapes against what the samples' other reader found in the same files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.http.responses import decode

EVENTS = Path(__file__).parents[2] / "data" / "events"


def recorded(sample: Any, run: Any) -> dict[Any, Any]:
    files = json.loads((EVENTS / sample / "expected.json").read_text())["runs"][run]["files"].values()
    return {
        entry["tag"]: entry["last"] for file in files for entry in file.get("tags", {}).get("landscape", ())
    }


def ask(client: Any, *runs: Any) -> dict[Any, Any]:
    answer = client.get("/v2/landscape/all", params={"run": runs})
    assert answer.status_code == 200, answer.text
    return {(entry["run"], entry["tag"]): entry for entry in answer.json()["landscapes"]}


@pytest.mark.parametrize(
    ("sample", "run", "within"),
    [
        ("landscape", "landscape", "."),
        ("record_api/lineage_and_graph", "lineage_and_graph", "lineage_and_graph"),
    ],
)
def test_a_grid_is_as_recorded(shared_samples: Any, sample: str, run: str, within: str) -> None:
    known = recorded(sample.split("/", maxsplit=1)[0], within)
    answers = ask(shared_samples(sample), f"./{run}")
    with_grid = {tag: entry for tag, entry in known.items() if entry["landscape"]}
    assert {tag for _, tag in answers} == set(with_grid)
    for tag, entry in with_grid.items():
        shown = answers[f"./{run}", tag]
        for axis in "xyz":
            column = decode(shown[axis])
            assert len(column) == entry["landscape"][axis]["float_data_len"]
            assert column.sum() == pytest.approx(entry["landscape"][axis]["finite_sum"])
            first = entry["landscape"][axis]["first"]
            np.testing.assert_allclose(column[: len(first)], first)
        assert len(decode(shown["z"])) == len(decode(shown["x"])) * len(decode(shown["y"]))
        assert shown["intervals"] == entry.get("loss_path", {}).get("intervals", [])


def test_the_path_of_a_training_has_a_loss_at_each_interval(shared_samples: Any) -> None:
    known = recorded("landscape", ".")
    answers = {tag: entry for (_, tag), entry in ask(shared_samples("landscape"), "./landscape").items()}
    taken = {tag for tag, entry in known.items() if entry.get("loss_path", {}).get("points")}
    assert {tag for tag, entry in answers.items() if entry["path"]} == taken
    assert taken
    for tag in taken:
        for axis in "xyz":
            column = decode(answers[tag]["path"][axis])
            assert len(column) == len(answers[tag]["intervals"])
            assert column.sum() == pytest.approx(known[tag]["loss_path"]["points"][axis]["finite_sum"])
        assert answers[tag]["decomposition"] == known[tag]["metadata"]["decomposition"]


def test_runs_without_landscapes_and_unknown_runs_add_nothing(shared_samples: Any) -> None:
    client = shared_samples("landscape", "record_api/values")
    assert set(ask(client, "./values", "./none", "../base")) == set()
    assert {run for run, _ in ask(client, "./values", "./landscape")} == {"./landscape"}
    assert client.get("/v2/landscape/all").status_code == 422
