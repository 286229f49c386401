"""The scalar routes over a store made by hand: what a page and a script get."""

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from mindinsight.server.errors import ApiError
from mindinsight.server.http.column_encoding import decode
from mindinsight.server.http.responses import COLUMNS
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.scalar import PLUGIN, curves
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.store.series import ScalarPart, ScalarSeries

WALL = 1_700_000_000.0


def part(steps, values, dtype=np.float32):
    steps = np.asarray(steps, np.int64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(steps) < 0) + 1))
    return ScalarPart(steps, WALL + 0.5 * np.arange(len(steps)), np.asarray(values, dtype), starts)


def run(run_id, job=None, rank=None, **tags):
    scalars = {tag: ScalarSeries(tag, parts, version=1) for tag, parts in tags.items()}
    return Run(run_id, run_id[2:], "/x", job or run_id, rank, WALL, WALL, 1, scalars=scalars)


@pytest.fixture
def ask():
    """Returns ask(*runs) -> client over a snapshot of these runs."""

    def over(*runs):
        app = FastAPI()
        app.include_router(PLUGIN.router)
        snapshot = Snapshot(1, {one.id: one for one in runs}, 0, "/x", "polling", WALL)
        wanted = []
        store, loader = SimpleNamespace(snapshot=lambda: snapshot), SimpleNamespace(want=wanted.extend)
        app.state.service = Service(None, store, loader, None, None, started=WALL)

        @app.exception_handler(ApiError)
        def told(request, error):
            from starlette.responses import JSONResponse

            return JSONResponse(error.body(), error.status)

        return TestClient(app)

    return over


def series(client, **params):
    answer = client.get("/series", params={"tag": "loss", "run": "./a", **params})
    assert answer.status_code == 200
    return answer.json()["series"]


def test_a_short_series_comes_whole_and_exact(ask):
    client = ask(run("./a", loss=[part([1, 2, 5], [0.1, np.nan, -np.inf])]))
    (one,) = series(client)
    assert decode(one["step"]).tolist() == [1, 2, 5]
    np.testing.assert_array_equal(decode(one["value"]), np.array([0.1, np.nan, -np.inf], np.float32))
    assert one["count"] == one["points"] == 3
    assert one["non_finite"] == [["nan", 2, 2, 1], ["-inf", 5, 5, 1]]
    assert one["last"] == [5, WALL + 1.0, "-inf"]


def test_a_long_series_keeps_its_spike_and_says_how_many_points_there_are(ask):
    values = np.zeros(100_000, np.float32)
    values[77_777] = 80.0
    client = ask(run("./a", loss=[part(np.arange(100_000), values)]))
    (one,) = series(client, px=300)
    assert one["points"] == 100_000
    assert len(decode(one["step"])) <= 602
    assert 80.0 in decode(one["value"])
    assert series(client, px=300) == [one]
    assert len(decode(series(client, px=0)[0]["value"])) == 100_000


def test_zooming_fetches_finer_data(ask):
    client = ask(run("./a", loss=[part(np.arange(100_000), np.sin(np.arange(100_000)))]))
    (one,) = series(client, px=300, low=5000, high=5099)
    assert decode(one["step"]).tolist() == list(range(4999, 5101))
    (nothing,) = series(client, px=300, low=200_000, high=300_000)
    assert len(decode(nothing["step"])) <= 2


def test_a_restart_is_merged_and_what_it_overwrote_comes_when_asked_for(ask):
    first, second = part([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]), part([3, 4, 4], [30, 40, 41])
    client = ask(run("./a", loss=[first, second]))
    (one,) = series(client, overwritten=True)
    assert decode(one["step"]).tolist() == [1, 2, 3, 4]
    assert decode(one["value"]).tolist() == [1, 2, 30, 41]
    assert (one["count"], one["points"], one["overwritten_points"]) == (8, 4, 3)
    (stretch,) = one["overwritten"]
    assert decode(stretch["step"]).tolist() == [3, 4, 5]
    assert decode(stretch["value"]).tolist() == [3, 4, 5]
    assert "overwritten" not in series(client)[0]


def test_records_out_of_order_are_sorted_and_are_no_restart(ask):
    client = ask(run("./a", loss=[part([1, 2, 5, 3, 4, 6], [1, 2, 5, 3, 4, 6])]))
    (one,) = series(client, overwritten=True)
    assert decode(one["value"]).tolist() == [1, 2, 3, 4, 5, 6]
    assert (one["points"], one["overwritten_points"], one["overwritten"]) == (6, 0, [])


def test_axes(ask):
    tokens = [part([1, 2, 3], [100, 200, 300])]
    client = ask(run("./a", loss=[part([1, 2, 3, 4], [4, 3, 2, 1])], tokens=tokens))
    assert decode(series(client, x="relative")[0]["x"]).tolist() == [0, 0.5, 1, 1.5]
    other = series(client, x="tag:tokens")[0]
    assert decode(other["x"]).tolist() == [100, 200, 300]
    assert decode(other["value"]).tolist() == [4, 3, 2]
    assert len(decode(series(client, x="tag:nothing")[0]["value"])) == 0
    bad = client.get("/series", params={"tag": "loss", "run": "./a", "x": "colour"})
    assert bad.status_code == 422
    assert bad.json()["error"]["code"] == "bad_axis"


def test_smoothing_is_done_on_all_points_before_sampling(ask):
    values = np.random.default_rng(0).standard_normal(20_000).astype(np.float32)
    client = ask(run("./a", loss=[part(np.arange(20_000), values)]))
    wide, narrow = (series(client, smooth=0.9, px=px)[0] for px in (0, 100))
    rows = decode(narrow["step"]).astype(int)
    np.testing.assert_array_equal(decode(narrow["smooth"]), decode(wide["smooth"])[rows])


def test_runs_without_the_tag_are_left_out_and_both_forms_say_the_same(ask):
    client = ask(run("./a", loss=[part([1, 2, 3, 4], [1, 2, 3, 4])]), run("./b", acc=[part([1], [1])]))
    params = {"tag": "loss", "run": ["./b", "./a", "./gone"]}
    plain = client.get("/series", params=params).json()
    assert [one["run"] for one in plain["series"]] == ["./a"]
    packed = client.get("/series", params=params, headers={"Accept": COLUMNS})
    assert packed.headers["content-type"] == COLUMNS
    size = int.from_bytes(packed.content[:4], "little")
    head = json.loads(packed.content[4 : 4 + size])["series"][0]
    assert head["step"] == {"start": 1, "stride": 1, "length": 4}
    value = np.frombuffer(packed.content, "<f4", 4, 4 + size + head["value"]["at"])
    np.testing.assert_array_equal(value, decode(plain["series"][0]["value"]))


def tail(client, since, generation=0, **params):
    return client.get(
        "/tail", params={"tag": "loss", "run": "./a", "since": since, "generation": generation, **params}
    ).json()


def test_a_tail_holds_only_what_is_new(ask):
    client = ask(run("./a", loss=[part([1, 2, 3, 4, 5], [1, 2, 3, np.nan, 5])]))
    new = tail(client, 3, smooth=0.5)
    assert not new["whole"]
    assert decode(new["step"]).tolist() == [4, 5]
    assert new["non_finite"] == [["nan", 4, 4, 1]]
    assert new["count"] == 5
    whole = client.get("/series", params={"tag": "loss", "run": "./a", "smooth": 0.5}).json()["series"][0]
    np.testing.assert_array_equal(decode(new["smooth"]), decode(whole["smooth"])[3:])
    assert len(decode(tail(client, 5)["step"])) == 0
    assert not tail(client, 5)["whole"]


def test_a_tail_behind_a_restart_extends_the_merged_line(ask):
    client = ask(run("./a", loss=[part(range(1, 10), range(9)), part([4, 5, 6], [40, 50, 60])]))
    new = tail(client, 10, smooth=0.5)
    assert not new["whole"]
    assert decode(new["step"]).tolist() == [5, 6]
    whole = series(client, smooth=0.5)[0]
    np.testing.assert_array_equal(decode(new["smooth"]), decode(whole["smooth"])[-2:])
    assert tail(client, 9)["whole"]


@pytest.mark.parametrize(("since", "generation"), [(0, 0), (3, 1), (9, 0), (2, 0), (6, 0)])
def test_a_tail_that_does_not_follow_asks_for_the_whole(ask, since, generation):
    client = ask(run("./a", loss=[part([1, 2, 3, 1, 2, 3, 3], np.arange(7))]))
    assert tail(client, since, generation)["whole"]


def test_statistics_of_a_range(ask):
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
def test_statistics_of_a_range_on_any_axis(ask, x, low, high, steps):
    rate = part([1, 2, 3], [10, 20, 30])
    client = ask(run("./a", loss=[part([1, 2, 3, 4], [4, 3, 2, 1])], rate=[rate]))
    params = {"tag": "loss", "run": "./a", "x": x, "low": low, "high": high}
    given = {name: value for name, value in params.items() if value is not None}
    (row,) = client.get("/statistics", params=given).json()["rows"]
    ends = [row["first_step"], row["last_step"]] if row["count"] else []
    assert ends == ([steps[0], steps[-1]] if steps else [])


def test_statistics_of_a_restarted_run_count_time_from_its_first_start(ask):
    later = part([2, 3], [20, 30])
    again = later._replace(walls=later.walls + 9.5)
    client = ask(run("./a", loss=[part([1, 2, 3], np.arange(3)), again]))
    params = {"tag": "loss", "run": "./a", "x": "relative", "low": 9.9}
    (row,) = client.get("/statistics", params=params).json()["rows"]
    assert (row["count"], row["first_step"]) == (1, 3)


def test_an_axis_without_a_meaning_is_refused_for_statistics_too(ask):
    client = ask(run("./a", loss=[part([1, 2], [1, 2])]))
    params = {"tag": "loss", "run": "./a", "x": "colour", "low": 0}
    assert client.get("/statistics", params=params).status_code == 422


def test_a_run_that_is_gone_is_left_out_and_is_no_error(ask):
    client = ask(run("./a", loss=[part([1, 2], [1, 2])]), run("./b"))
    both = {"tag": "loss", "run": ["./gone", "./a", "./b"]}
    assert [row["run"] for row in client.get("/statistics", params=both).json()["rows"]] == ["./a"]
    answer = client.get("/compare", params={**both, "run": ["./gone", "./b"], "baseline": "./a"})
    assert (answer.status_code, answer.json()["series"]) == (200, [])
    answer = client.get("/compare", params={**both, "baseline": "./gone"})
    assert (answer.status_code, answer.json()["series"]) == (200, [])


@pytest.mark.parametrize("params", [{"run": "./gone", "tag": "loss"}, {"run": "./a", "tag": "gone"}])
def test_a_tail_of_what_is_gone_asks_for_the_whole(ask, params):
    client = ask(run("./a", loss=[part([1, 2], [1, 2])]))
    found = client.get("/tail", params={**params, "since": 1, "generation": 0}).json()
    assert found["whole"]
    assert len(decode(found["step"])) == 0


def test_runs_part_where_the_tolerance_is_exceeded(ask):
    steps = np.arange(100)
    client = ask(
        run("./a", loss=[part(steps, np.ones(100))]),
        run("./b", loss=[part(steps, 1 + 0.002 * (steps > 40))]),
        run("./c", loss=[part(steps, 1 + 0.0005 * (steps > 40))]),
    )
    params = {"tag": "loss", "run": ["./a", "./b", "./c"], "baseline": "./a"}
    b, c = client.get("/compare", params=params).json()["series"]
    assert (b["parted"], c["parted"]) == (41, None)
    assert b["largest"] == pytest.approx(0.002, rel=1e-3)
    assert client.get("/compare", params={**params, "tag": "none"}).json()["series"] == []


def test_a_tag_is_compared_with_one_of_another_name(ask):
    client = ask(
        run("./a", **{"loss/auto": [part(range(4), [1, 1, 1, 1])]}),
        run("./b", **{"train/loss": [part(range(4), [1, 1, 2, 1])]}),
    )
    params = {"tag": "loss/auto", "other": "train/loss", "run": ["./a", "./b"], "baseline": "./a"}
    answer = client.get("/compare", params=params).json()
    assert [(row["run"], row["parted"], row["shared"]) for row in answer["series"]] == [("./b", 2, 4)]
    assert (answer["tag"], answer["other"]) == ("loss/auto", "train/loss")


def test_ranks_of_a_job_in_their_order(ask):
    ranks = [
        run(f"./job/rank_{n}", "./job", n, loss=[part([1, 2, 3], [n, n, np.nan if n == 2 else n])])
        for n in (10, 2, 1, 3)
    ]
    client = ask(*ranks)
    grid = client.get("/ranks", params={"tag": "loss", "job": "./job"}).json()
    assert grid["ranks"] == [1, 2, 3, 10]
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


def test_a_download_holds_every_point(ask):
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


def test_many_points_are_drawn_beside_the_event_loop_and_few_in_it(ask, monkeypatch):
    async def noted(work):
        threads.append(work)
        return work()

    threads = []
    monkeypatch.setattr(curves, "run_in_threadpool", noted)
    steps = np.arange(30_000)
    one, two = (run(name, loss=[part(steps, np.sin(steps))]) for name in ("./a", "./b"))
    client = ask(one, two)
    few = client.get("/series", params={"tag": "loss", "run": "./a", "smooth": 0.5}).json()
    client.get("/series", params={"tag": "loss", "run": ["./a", "./b"]})
    assert len(threads) == 0
    many = client.get("/series", params={"tag": "loss", "run": ["./a", "./b"], "smooth": 0.5}).json()
    assert len(threads) == 1
    assert many["series"][0] == few["series"][0]


def test_a_small_curve_needs_no_thread(samples, monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a thread costs as much as the answer")

    client = samples("record_api/values")
    client.get("/v2/scalar/series", params={"tag": "loss", "run": "./values"})  # the interface is loaded
    monkeypatch.setattr("anyio.to_thread.run_sync", refuse)
    assert client.get("/v2/scalar/series", params={"tag": "loss", "run": "./values"}).status_code == 200
