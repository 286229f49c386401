"""In what two runs differ beside their curves, and which earlier runs are known to be without a fault."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import mindinsight
from mindinsight.server.api.run_differences import differences, is_baseline, is_without_fault, runs_before
from mindinsight.server.claims import sentence
from mindinsight.writer import SummaryRecord
from tests.flight import unpack
from tests.server.plugins.answers.curves import run


def sentences(ours: dict[str, Any] | None, theirs: dict[str, Any] | None) -> list[str]:
    """Return the sentences about the settings of two runs, without those on what was not recorded."""
    claims, _ = differences(
        *(run(name, {"loss": np.ones(400)}, hyper) for name, hyper in (("b", ours), ("a", theirs)))
    )
    return [sentence(claim) for claim in claims]


def test_settings_that_differ_are_listed_with_the_seed_last_and_without_names_of_the_runs() -> None:
    (differ, naming) = sentences(
        {"seed": 2, "zeta": 0.2, "output_dir": "/out/b", "same": 1},
        {"seed": 1, "zeta": 0.1, "output_dir": "/out/a", "same": 1},
    )
    assert differ.index("zeta") < differ.index("seed")
    assert "output_dir" not in differ
    assert "output_dir" in naming


def test_runs_whose_names_alone_differ_have_the_same_settings() -> None:
    texts = sentences({"lr": 1, "run_name": "b"}, {"lr": 1, "run_name": "a"})
    assert texts == [
        "The only setting that both recorded is the same.",
        "One setting only names the runs: run_name.",
    ]
    assert sentences({"run_name": "b"}, {"run_name": "a"}) == ["One setting only names the runs: run_name."]
    assert sentences({"lr": 1}, None) == []


def test_what_one_of_the_runs_recorded_is_named() -> None:
    assert "warmup" in sentences({"lr": 1}, {"lr": 1, "warmup": 5})[-1]


def test_a_run_that_is_still_read_is_not_known_to_be_healthy(tmp_path: Path) -> None:
    unpack("dead_relu", tmp_path)
    assert not is_without_fault(mindinsight.open(tmp_path).run("./dead_relu"))  # it has a warning
    with SummaryRecord(str(tmp_path / "run")) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    first = mindinsight.open(tmp_path).run("./run")
    assert is_without_fault(first)
    assert not is_without_fault(replace(first, total=first.read + 1))
    assert not is_without_fault(replace(first, files=(replace(first.files[0], failure="KeyError"),)))
    later = replace(first, id="./later", job="./later", first_event=first.first_event + 9)
    assert runs_before(later, [first, later]) == [first]
    assert runs_before(first, [first, later]) == []
    assert not is_baseline(first, later, [first, later])  # it has one value


def test_settings_beyond_those_of_the_sentence_are_the_rest() -> None:
    ours, theirs = ({f"s{number:02}": number + by for number in range(12)} for by in (0, 1))
    claims, _ = differences(
        *(run(name, {"loss": np.ones(400)}, hyper) for name, hyper in (("b", ours), ("a", theirs)))
    )
    named = [part.values["name"] for part in claims[0].values["settings"][:-1]]
    rest = [part.values["name"] for part in claims[0].values["rest"]]
    assert claims[0].values["settings"][-1] == "…"
    assert [*named, *rest] == sorted(ours)
    assert (
        "rest"
        not in differences(*(run(name, {"loss": np.ones(400)}, {"a": name}) for name in "ba"))[0][0].values
    )
