"""Curves for a width, and what they have grown by."""

import json
from typing import Any

import numpy as np
import pytest

from mindinsight.server.http.responses import COLUMNS, decode
from mindinsight.server.plugins.scalar import chart_columns
from tests.server.plugins.scalar.runs import WALL, part, run


def series(client: Any, **params: Any) -> Any:
    answer = client.get("/series", params={"tag": "loss", "run": "./a", **params})
    assert answer.status_code == 200
    return answer.json()["series"]


def test_a_short_series_comes_whole_and_exact(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2, 5], [0.1, np.nan, -np.inf])]))
    (curve,) = series(client)
    assert decode(curve["step"]).tolist() == [1, 2, 5]
    np.testing.assert_array_equal(decode(curve["value"]), np.array([0.1, np.nan, -np.inf], np.float32))
    assert curve["count"] == curve["points"] == 3
    assert curve["non_finite"] == [["nan", 2, 2, 1], ["-inf", 5, 5, 1]]
    assert curve["last"] == [5, WALL + 1.0, "-inf"]


@pytest.mark.parametrize("accept", ["application/json", COLUMNS])
def test_several_tags_come_in_one_answer_as_each_comes_alone(ask: Any, accept: str) -> None:
    client = ask(run("./a", loss=[part([1, 2], [0.1, 0.2])], acc=[part([1, 2, 3], [7, 8, 9])]))
    tags, headers = ["loss", "acc", "none"], {"accept": accept}
    alone = [client.get("/series", params={"tag": tag, "run": "./a"}, headers=headers) for tag in tags]
    params = {"tag": tags[0], "also": tags[1:], "run": "./a"}
    answer = client.get("/series", params=params, headers=headers)
    if accept == COLUMNS:
        head, block = _unpacked(answer.content)
        bodies = [block[position["at"] :][: position["length"]] for position in head["answers"]]
        assert bodies == [response.content for response in alone]
        assert all(position["at"] % 8 == 0 for position in head["answers"])
    else:
        assert answer.json()["answers"] == [response.json() for response in alone]


def _unpacked(body: bytes) -> tuple[Any, bytes]:
    """Head and arrays of an answer in columns."""
    end = 4 + int.from_bytes(body[:4], "little")
    return json.loads(body[4:end]), body[end:]


def test_a_formula_is_a_curve_at_the_steps_that_its_scalars_share(ask: Any) -> None:
    client = ask(
        run("./a", loss=[part([1, 2, 4], [1, 2, 4])], acc=[part([2, 3, 4], [6, 0, 2])]),
        run("./b", loss=[part([1], [1])]),
        run("./c", loss=[part([1], [1])], acc=[part([2], [1])]),
    )
    (curve,) = series(client, tag="=acc / loss", run=["./a", "./b", "./c"])
    assert decode(curve["step"]).tolist() == [2, 4]
    assert decode(curve["value"]).tolist() == [3.0, 0.5]
    assert (curve["count"], curve["points"], curve["last"][0]) == (6, 2, 4)
    (along,) = series(client, x="tag:=acc / loss")
    assert decode(along["x"]).tolist() == [3.0, 0.5]
    known = {"tag": "=acc / loss", "run": "./a", "generation": curve["generation"]}
    tail = client.get("/tail", params={**known, "since": 6}).json()
    assert (tail["whole"], decode(tail["step"]).tolist()) == (False, [])
    assert client.get("/tail", params={**known, "since": 5}).json()["whole"]
    bad = client.get("/series", params={"tag": "=eval(loss)", "run": "./a"})
    assert (bad.status_code, bad.json()["error"]["code"]) == (422, "bad_formula")
    named = client.get("/formula", params={"formula": "acc - other", "run": ["./a", "./gone"]})
    assert named.json() == {"tags": ["acc", "other"], "missing": ["other"]}


def test_a_long_series_keeps_its_spike_and_says_how_many_points_there_are(ask: Any) -> None:
    values = np.zeros(100_000, np.float32)
    values[77_777] = 80.0
    client = ask(run("./a", loss=[part(np.arange(100_000), values)]))
    (curve,) = series(client, px=300)
    assert curve["points"] == 100_000
    assert len(decode(curve["step"])) <= 602
    assert 80.0 in decode(curve["value"])
    assert series(client, px=300) == [curve]
    assert len(decode(series(client, px=0)[0]["value"])) == 100_000


def test_zooming_fetches_finer_data(ask: Any) -> None:
    client = ask(run("./a", loss=[part(np.arange(100_000), np.sin(np.arange(100_000)))]))
    (curve,) = series(client, px=300, low=5000, high=5099)
    assert decode(curve["step"]).tolist() == list(range(4999, 5101))
    (nothing,) = series(client, px=300, low=200_000, high=300_000)
    assert len(decode(nothing["step"])) <= 2


def test_a_restart_is_merged_and_what_it_overwrote_comes_when_asked_for(ask: Any) -> None:
    first, second = part([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]), part([3, 4, 4], [30, 40, 41])
    client = ask(run("./a", loss=[first, second]))
    (curve,) = series(client, overwritten=True)
    assert decode(curve["step"]).tolist() == [1, 2, 3, 4]
    assert decode(curve["value"]).tolist() == [1, 2, 30, 41]
    assert (curve["count"], curve["points"], curve["overwritten_points"]) == (8, 4, 3)
    (stretch,) = curve["overwritten"]
    assert decode(stretch["step"]).tolist() == [3, 4, 5]
    assert decode(stretch["value"]).tolist() == [3, 4, 5]
    assert "overwritten" not in series(client)[0]


def test_records_out_of_order_are_sorted_and_are_no_restart(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2, 5, 3, 4, 6], [1, 2, 5, 3, 4, 6])]))
    (curve,) = series(client, overwritten=True)
    assert decode(curve["value"]).tolist() == [1, 2, 3, 4, 5, 6]
    assert (curve["points"], curve["overwritten_points"], curve["overwritten"]) == (6, 0, [])


def test_axes(ask: Any) -> None:
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


def test_smoothing_is_done_on_all_points_before_sampling(ask: Any) -> None:
    values = np.random.default_rng(0).standard_normal(20_000).astype(np.float32)
    client = ask(run("./a", loss=[part(np.arange(20_000), values)]))
    wide, narrow = (series(client, smooth=0.9, px=px)[0] for px in (0, 100))
    rows = decode(narrow["step"]).astype(int)
    np.testing.assert_array_equal(decode(narrow["smooth"]), decode(wide["smooth"])[rows])


def test_runs_without_the_tag_are_left_out_and_both_forms_say_the_same(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2, 3, 4], [1, 2, 3, 4])]), run("./b", acc=[part([1], [1])]))
    params = {"tag": "loss", "run": ["./b", "./a", "./gone"]}
    plain = client.get("/series", params=params).json()
    assert [curve["run"] for curve in plain["series"]] == ["./a"]
    packed = client.get("/series", params=params, headers={"Accept": COLUMNS})
    assert packed.headers["content-type"] == COLUMNS
    size = int.from_bytes(packed.content[:4], "little")
    head = json.loads(packed.content[4 : 4 + size])["series"][0]
    assert head["step"] == {"start": 1, "stride": 1, "length": 4}
    value = np.frombuffer(packed.content, "<f4", 4, 4 + size + head["value"]["at"])
    np.testing.assert_array_equal(value, decode(plain["series"][0]["value"]))


def tail(client: Any, since: Any, generation: int = 0, **params: Any) -> Any:
    return client.get(
        "/tail", params={"tag": "loss", "run": "./a", "since": since, "generation": generation, **params}
    ).json()


def test_a_tail_holds_only_what_is_new(ask: Any) -> None:
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


def test_a_tail_behind_a_restart_extends_the_merged_line(ask: Any) -> None:
    client = ask(run("./a", loss=[part(range(1, 10), range(9)), part([4, 5, 6], [40, 50, 60])]))
    new = tail(client, 10, smooth=0.5)
    assert not new["whole"]
    assert decode(new["step"]).tolist() == [5, 6]
    whole = series(client, smooth=0.5)[0]
    np.testing.assert_array_equal(decode(new["smooth"]), decode(whole["smooth"])[-2:])
    assert tail(client, 9)["whole"]


@pytest.mark.parametrize(("since", "generation"), [(0, 0), (3, 1), (9, 0), (2, 0), (6, 0)])
def test_a_tail_that_does_not_follow_asks_for_the_whole(ask: Any, since: int, generation: int) -> None:
    client = ask(run("./a", loss=[part([1, 2, 3, 1, 2, 3, 3], np.arange(7))]))
    assert tail(client, since, generation)["whole"]


@pytest.mark.parametrize("params", [{"run": "./gone", "tag": "loss"}, {"run": "./a", "tag": "gone"}])
def test_a_tail_of_what_is_gone_asks_for_the_whole(ask: Any, params: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2], [1, 2])]))
    tail = client.get("/tail", params={**params, "since": 1, "generation": 0}).json()
    assert tail["whole"]
    assert len(decode(tail["step"])) == 0


def test_many_points_are_drawn_beside_the_event_loop_and_few_in_it(
    ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def noted(work: Any, *arguments: Any) -> Any:
        threads.append(work)
        return work(*arguments)

    threads: list[Any] = []
    monkeypatch.setattr(chart_columns, "run_in_threadpool", noted)
    steps = np.arange(30_000)
    first, second = (run(name, loss=[part(steps, np.sin(steps))]) for name in ("./a", "./b"))
    client = ask(first, second)
    few = client.get("/series", params={"tag": "loss", "run": "./a", "smooth": 0.5}).json()
    client.get("/series", params={"tag": "loss", "run": ["./a", "./b"]})
    assert len(threads) == 0
    many = client.get("/series", params={"tag": "loss", "run": ["./a", "./b"], "smooth": 0.5}).json()
    assert len(threads) == 1
    assert many["series"][0] == few["series"][0]


def test_a_small_curve_needs_no_thread(samples: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("a thread costs as much as the answer")

    client = samples("lenet")
    client.get("/v2/scalar/series", params={"tag": "loss/auto", "run": "./lenet"})  # the routes are loaded
    monkeypatch.setattr("anyio.to_thread.run_sync", refuse)
    query = {"tag": "loss/auto", "run": "./lenet", "px": 300}  # not that of the answer that is cached
    assert client.get("/v2/scalar/series", params=query).status_code == 200


@pytest.mark.parametrize("accept", ["application/json", COLUMNS])
def test_new_points_of_many_series_come_in_one_answer(ask: Any, accept: str) -> None:
    client = ask(run("./a", loss=[part([1, 2, 3], [1, 2, 3])]), run("./b", loss=[part([5], [1])]))
    headers = {"accept": accept}
    known = [
        {"tag": "loss", "run": "./a", "since": 1, "generation": 0},
        {"tag": "loss", "run": "./b", "since": 1, "generation": 0},
        {"tag": "gone", "run": "./b", "since": 1, "generation": 0},
        {"tag": "loss", "run": "./gone", "since": 1, "generation": 0},
    ]
    known[0]["generation"] = series(client)[0]["generation"]
    known[1]["generation"] = series(client, run="./b")[0]["generation"]
    alone = [client.get("/tail", params=entry | {"smooth": 0.5}, headers=headers) for entry in known]
    answer = client.post("/tails", json={"smooth": 0.5, "series": known}, headers=headers)
    assert answer.status_code == 200
    if accept == COLUMNS:
        head, block = _unpacked(answer.content)
        bodies = [block[position["at"] :][: position["length"]] for position in head["answers"]]
        assert bodies == [response.content for response in alone]
    else:
        answers = answer.json()["answers"]
        assert answers == [response.json() for response in alone]
        assert [decode(rows["step"]).tolist() for rows in answers] == [[2, 3], [], [], []]
        assert [rows["whole"] for rows in answers] == [False, False, True, True]


def test_a_question_for_too_many_series_is_refused(ask: Any) -> None:
    known = {"tag": "loss", "run": "./a", "since": 1, "generation": 0}
    assert ask(run("./a")).post("/tails", json={"series": [known] * 1001}).status_code == 422
