"""In what two runs differ beside their curves."""

from typing import Any

import numpy as np

from mindinsight.server.api.run_differences import differences
from mindinsight.server.claims import sentence
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
