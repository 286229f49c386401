"""What is asked wrongly has an answer that says so."""

from .curves import COURSE, Ask, run


def test_a_tolerance_is_a_share_above_zero_and_groups_are_needed(ask: Ask) -> None:
    client = ask(run("a", {"loss": COURSE}))
    both = {"run": "./a", "baseline": "./a"}
    assert client.get("/alignment", params={**both, "tolerance": 0}).status_code == 422
    assert client.get("/alignment", params=both).json()["claims"][0]["text"] == "loss: equal at all 400 steps"
    assert client.get("/why", params={"good": ["./a"]}).status_code == 422
    gone = client.get("/why", params={"good": ["./a"], "bad": ["./gone"]}).json()
    assert (gone["bad"], gone["settings"], gone["metrics"]) == ([], [], [])
