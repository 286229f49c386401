"""All scalars of two runs, ranked by where they drift."""

from tests.server.plugins.answers.curves import COURSE, Ask, noisy, run


def test_a_tolerance_is_a_share_above_zero_and_groups_are_needed(ask: Ask) -> None:
    client = ask(run("a", {"loss": COURSE}))
    both = {"run": "./a", "baseline": "./a"}
    assert client.get("/alignment", params={**both, "tolerance": 0}).status_code == 422
    assert client.get("/alignment", params=both).json()["claims"][0]["text"] == "loss: equal at all 400 steps"
    assert client.get("/why", params={"good": ["./a"]}).status_code == 422
    gone = client.get("/why", params={"good": ["./a"], "bad": ["./gone"]}).json()
    assert (gone["bad"], gone["settings"], gone["metrics"]) == ([], [], [])


def test_why_ranks_settings_by_effect_and_scalars_by_onset(ask: Ask) -> None:
    good = [{"loss": noisy(seed), "norm": noisy(seed + 4), "lr": COURSE} for seed in (1, 2)]
    bad = [{"loss": noisy(seed, 1, 250), "norm": noisy(seed + 4, 2, 150), "lr": COURSE} for seed in (3, 4)]
    client = ask(
        run("g1", good[0], {"lr": 0.01, "seed": 1, "net": "a"}),
        run("g2", good[1], {"lr": 0.02, "seed": 4, "net": "a"}),
        run("b1", bad[0], {"lr": 0.5, "seed": 2, "net": "a"}),
        run("b2", bad[1], {"lr": 0.4, "seed": 3, "net": "a"}),
    )
    params = {"good": ["./g1", "./g2", "./gone"], "bad": ["./b1", "./b2"]}
    answer = client.get("/why", params=params).json()
    assert answer["good"] == ["./g1", "./g2"]
    assert answer["unknown"] == ["./gone"]
    assert [(row["name"], row["effect"]) for row in answer["settings"]] == [("lr", 1.0)]  # a seed is none
    assert answer["settings"][0]["good"] == [0.01, 0.02]
    kinds = [(row["tag"], row["kind"]) for row in answer["metrics"]]
    assert kinds == [("norm", "parts"), ("loss", "parts"), ("lr", "together")]
    assert abs(answer["metrics"][0]["onset"] - 150) <= 12
    assert abs(answer["metrics"][1]["onset"] - 250) <= 12
