"""The ranks of a job and the runs of a group as bands and pictures."""

import asyncio
import csv
import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from mindinsight.server.curves.smoothing import SmoothingKind, smooth
from mindinsight.server.http.responses import decode
from mindinsight.server.plugins.scalar import chart_columns, scalar_routes
from mindinsight.server.plugins.scalar.scalar_routes import layer_tags
from tests.server.plugins.scalar.runs import WALL, part, run


def test_ranks_of_a_job_in_their_order(ask: Any) -> None:
    ranks = [
        run(f"./job/rank_{n}", "./job", n, loss=[part([1, 2, 3], [n, n, np.nan if n == 2 else n])])
        for n in (10, 2, 1, 3)
    ]
    client = ask(*ranks)
    grid = client.get("/ranks", params={"tag": "loss", "job": "./job"}).json()
    assert grid["ranks"] == [1, 2, 3, 10]
    assert (grid["points"], grid["fewest"]) == (3, 16), "only what is not finite or silent is told"
    assert [(stray["row"], stray["kind"], stray["step"]) for stray in grid["strays"]] == [
        (1, "not_finite", 3)
    ]
    assert decode(grid["not_finite"]).tolist() == [5]
    mean = decode(grid["mean"]).reshape(4, 3)
    np.testing.assert_array_equal(mean[3], [10, 10, 10])
    assert np.isnan(mean[1, 2])
    band = client.get("/band", params={"tag": "loss", "job": "./job"}).json()
    assert decode(band["mean"]).tolist()[0] == 4.0
    assert client.get("/band", params={"tag": "loss", "run": ["./job/rank_1", "./none"]}).json()["runs"] == [
        "./job/rank_1"
    ]


def test_the_curves_of_a_band_are_smoothed_as_they_are_alone(ask: Any) -> None:
    steps = np.arange(40)
    noise = np.random.default_rng(1).normal(0, 1, (2, 40))
    client = ask(
        *(run(f"./{name}", loss=[part(steps, values)]) for name, values in zip("ab", noise, strict=True))
    )
    params = {"tag": "loss", "run": ["./a", "./b"], "px": 400}
    kinds: tuple[SmoothingKind, ...] = ("debiased", "gaussian")
    for kind in kinds:
        smoothed = np.array([smooth(steps, values.astype(np.float32), 0.8, kind) for values in noise])
        band = client.get("/band", params={**params, "smooth": 0.8, "kind": kind}).json()
        for name, expected in (
            ("mean", smoothed.mean(0)),
            ("low", smoothed.min(0)),
            ("high", smoothed.max(0)),
        ):
            np.testing.assert_allclose(decode(band[name]), expected, rtol=1e-5)
    short = client.get("/band", params={**params, "smooth": 0.8, "least": 50}).json()
    np.testing.assert_allclose(decode(short["low"]), noise.min(0), rtol=1e-6)


def test_a_run_that_has_ended_counts_with_its_last_value_only_if_it_is_kept(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2, 3], [1, 1, 1])]), run("./b", loss=[part([1, 2], [3, 3])]))
    params = {"tag": "loss", "run": ["./a", "./b"]}
    for ended, counted, mean in (("hold", [2, 2, 2], [2, 2, 2]), ("drop", [2, 2, 1], [2, 2, 1])):
        band = client.get("/band", params={**params, "ended": ended}).json()
        assert decode(band["curves"]).tolist() == [2, 2, 1]
        assert decode(band["counted"]).tolist() == counted
        assert decode(band["mean"]).tolist() == mean


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


def test_a_download_holds_every_point(ask: Any) -> None:
    values = np.random.default_rng(3).standard_normal(45_000).astype(np.float32)
    values[7] = np.nan
    steps = np.concatenate((np.arange(30_000), np.arange(15_000)))
    client = ask(
        run("./a", loss=[part(steps, values)], **{'t,"x"': [part([1], [2])], "=cmd()": [part([1], [2])]})
    )
    whole = {"run": "./a", "tag": ["loss", 't,"x"', "=cmd()"], "overwritten": True}
    answer = client.get("/download", params=whole)
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 45_002
    np.testing.assert_array_equal(np.array([row["value"] for row in rows[:45_000]], np.float32), values)
    assert [row["overwritten"] for row in rows].count("1") == 15_000
    assert (rows[14_999]["overwritten"], rows[15_000]["overwritten"]) == ("1", "0")
    assert float(rows[1]["wall_time"]) == WALL + 0.5
    assert rows[-2]["tag"] == 't,"x"'
    assert rows[-1]["tag"] == "'=cmd()"
    line = list(
        csv.DictReader(io.StringIO(client.get("/download", params={**whole, "overwritten": False}).text))
    )
    assert [int(row["step"]) for row in line] == [*range(30_000), 1, 1]
    stream = client.get("/download", params={**whole, "tag": ["loss", "=cmd()"], "format": "arrow"})
    table = pa.ipc.open_stream(stream.content).read_all()
    assert table.num_rows == 45_001
    assert table.column("overwritten").to_pylist().count(True) == 15_000
    assert table.column("tag")[-1].as_py() == "=cmd()"
    np.testing.assert_array_equal(table.column("value").to_numpy()[:45_000], values.astype(np.float64))


def test_layers_are_rows_in_the_order_of_their_numbers(ask: Any) -> None:
    tags = {f"layers.{layer}/norm": [part([0, 1], [layer, np.nan])] for layer in (10, 2, 0)}
    client = ask(run("./a", **tags, **{"layers.x/norm": [part([0], [1])], "loss": [part([0], [1])]}))
    answer = client.get("/layers", params={"run": "./a", "stem": "layers.*/norm"}).json()
    assert (answer["layers"], answer["tags"][1]) == ([0, 2, 10], "layers.2/norm")
    assert decode(answer["step"]).tolist() == [0, 1]
    np.testing.assert_array_equal(decode(answer["mean"]), [0, np.nan, 2, np.nan, 10, np.nan])
    assert decode(answer["not_finite"]).tolist() == [1, 3, 5]
    assert client.get("/layers", params={"run": "./gone", "stem": "*"}).status_code == 404


def test_a_stem_is_no_pattern_but_for_its_star() -> None:
    assert layer_tags(["a1b", "axb", "a1c"], "a*b") == [(1, "a1b")]
    assert layer_tags(["h.1.x", "hx1yx"], "h.*.x") == [(1, "h.1.x")]
    assert layer_tags(["a1"], "a1") == []


def test_statistics_of_a_range(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2, 3, 4], [4, 3, 2, 1])]))
    answer = client.get("/statistics", params={"tag": "loss", "run": "./a", "low": 2, "high": 3}).json()
    assert answer["rows"][0]["count"] == 2
    assert answer["rows"][0]["max"] == 3


@pytest.mark.parametrize(("x", "low", "high", "steps"), [
    ("relative", 0.5, 1.0, [2, 3]),
    ("relative", None, 0.0, [1]),
    ("wall", WALL + 1.5, None, [4, 4]),
    ("tag:rate", 20, 30, [2, 3]),
    ("tag:rate", None, None, [1, 4]),
    ("tag:none", 0, 1, []),
    ("step", 9, 10, []),
])  # fmt: skip
def test_statistics_of_a_range_on_any_axis(ask: Any, x: str, low: Any, high: Any, steps: Any) -> None:
    rate = part([1, 2, 3], [10, 20, 30])
    client = ask(run("./a", loss=[part([1, 2, 3, 4], [4, 3, 2, 1])], rate=[rate]))
    params = {"tag": "loss", "run": "./a", "x": x, "low": low, "high": high}
    given = {name: value for name, value in params.items() if value is not None}
    (row,) = client.get("/statistics", params=given).json()["rows"]
    ends = [row["first_step"], row["last_step"]] if row["count"] else []
    assert ends == ([steps[0], steps[-1]] if steps else [])


def test_statistics_of_a_restarted_run_count_time_from_its_first_start(ask: Any) -> None:
    later = part([2, 3], [20, 30])
    again = later._replace(walls=later.walls + 9.5)
    client = ask(run("./a", loss=[part([1, 2, 3], np.arange(3)), again]))
    params = {"tag": "loss", "run": "./a", "x": "relative", "low": 9.9}
    (row,) = client.get("/statistics", params=params).json()["rows"]
    assert (row["count"], row["first_step"]) == (1, 3)


def test_an_axis_without_a_meaning_is_refused_for_statistics_too(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2], [1, 2])]))
    params = {"tag": "loss", "run": "./a", "x": "colour", "low": 0}
    assert client.get("/statistics", params=params).status_code == 422


def test_what_takes_whole_lines_leaves_the_event_loop(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it is in a thread others are answered: a thousand long runs take many seconds."""
    done = []

    def watched(module: Any, name: str) -> None:
        function = getattr(module, name)

        def call(*values: Any) -> Any:
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            done.append(name)
            return function(*values)

        monkeypatch.setattr(module, name, call)

    watched(chart_columns, "smooth")
    watched(scalar_routes, "difference")
    watched(scalar_routes, "range_statistics")
    line = part(list(range(100)), [float(value) for value in range(100)])
    client = ask(run("./a", loss=[line]), run("./b", loss=[line]))
    known = {"tag": "loss", "run": "./a", "since": 50, "generation": 0}
    body = {"smooth": 0.5, "series": [known]}
    assert client.post("/tails", json=body).json()["answers"][0]["smooth"]
    assert client.get("/tail", params={**known, "smooth": 0.5}).json()["smooth"]
    assert client.get("/compare", params={"tag": "loss", "run": "./b", "baseline": "./a"}).json()["series"]
    assert client.get("/statistics", params={"tag": "loss", "run": "./a"}).json()["rows"]
    assert done == ["smooth", "smooth", "difference", "range_statistics"]
