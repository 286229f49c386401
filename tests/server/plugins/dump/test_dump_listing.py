"""Routes that list dumps."""

from typing import Any


def test_dumps_are_listed_with_their_runs(ask: Any) -> None:
    assert ask("list")["dumps"] == [
        {"id": "./job/broken", "run": "./job"},
        {"id": "./job/healthy", "run": "./job"},
        {"id": "./torch", "run": "./"},
    ]


def test_a_dump_tells_who_wrote_it_and_what_it_holds(ask: Any) -> None:
    summary = ask("summary", dump="./job/broken")
    assert (summary["layout"], summary["framework"], summary["version"]) == ("sync", "mindspore", "2.0.0")
    assert [(rank["rank"], rank["steps"]) for rank in summary["ranks"]] == [(0, [0, 1])]
    assert summary["graphs"] == ["Net/0"]
    assert "input_output" in summary["config"]
