"""Runs against a baseline."""

from typing import Any

import numpy as np
import pytest

from .runs import part, run


def test_a_run_that_is_gone_is_left_out_and_is_no_error(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2], [1, 2])]), run("./b"))
    both = {"tag": "loss", "run": ["./gone", "./a", "./b"]}
    assert [row["run"] for row in client.get("/statistics", params=both).json()["rows"]] == ["./a"]
    answer = client.get("/compare", params={**both, "run": ["./gone", "./b"], "baseline": "./a"})
    assert (answer.status_code, answer.json()["series"]) == (200, [])
    answer = client.get("/compare", params={**both, "baseline": "./gone"})
    assert (answer.status_code, answer.json()["series"]) == (200, [])


def test_runs_part_where_the_tolerance_is_exceeded(ask: Any) -> None:
    steps = np.arange(100)
    client = ask(
        run("./a", loss=[part(steps, np.ones(100))]),
        run("./b", loss=[part(steps, 1 + 0.002 * (steps > 40))]),
        run("./c", loss=[part(steps, 1 + 0.0005 * (steps > 40))]),
    )
    params = {"tag": "loss", "run": ["./a", "./b", "./c"], "baseline": "./a"}
    b, c = client.get("/compare", params=params).json()["series"]
    assert (b["parted"], c["parted"]) == (41, None)
    assert (b["not_finite"], c["not_finite"]) == (None, None)
    assert b["largest"] == pytest.approx(0.002, rel=1e-3)
    assert client.get("/compare", params={**params, "tag": "none"}).json()["series"] == []


def test_the_step_is_told_at_which_a_run_alone_is_not_finite(ask: Any) -> None:
    client = ask(
        run("./a", loss=[part(range(4), [1, 1, np.nan, 1])]),
        run("./b", loss=[part(range(4), [1, 1, np.nan, np.inf])]),
    )
    params = {"tag": "loss", "run": ["./a", "./b"], "baseline": "./a"}
    [b] = client.get("/compare", params=params).json()["series"]
    assert (b["parted"], b["not_finite"], b["largest"]) == (3, 3, 0)


def test_a_tag_is_compared_with_one_of_another_name(ask: Any) -> None:
    client = ask(
        run("./a", **{"loss/auto": [part(range(4), [1, 1, 1, 1])]}),
        run("./b", **{"train/loss": [part(range(4), [1, 1, 2, 1])]}),
    )
    params = {"tag": "loss/auto", "other": "train/loss", "run": ["./a", "./b"], "baseline": "./a"}
    answer = client.get("/compare", params=params).json()
    assert [(row["run"], row["parted"], row["shared"]) for row in answer["series"]] == [("./b", 2, 4)]
    assert (answer["tag"], answer["other"]) == ("loss/auto", "train/loss")
