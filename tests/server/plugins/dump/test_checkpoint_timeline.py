"""Route of the timeline of a series of checkpoints."""

from typing import Any


def test_frozen_and_broken_weights_stand_out(ask: Any, finished: Any) -> None:
    files = [f"./weights/tinynet-{name}.ckpt" for name in ("1", "2", "nan")]
    timeline = finished("checkpoint/timeline", file=files)
    assert (timeline["total"], len(timeline["rows"]), timeline["error"]) == (20, 20, "")
    rows = {row["name"]: row for row in timeline["rows"]}
    assert rows["frozen"]["states"][:2] == ["start", "unchanged"]
    assert rows["head.weight"]["non_finite"][1] == 0 < rows["head.weight"]["non_finite"][2]
    assert rows["head.weight"]["changes"][1] > 0
    later = ask("checkpoint/timeline", file=files, offset=18)
    assert [row["name"] for row in later["rows"]] == [row["name"] for row in timeline["rows"]][18:]


def test_a_timeline_is_of_two_files_at_least_and_of_files_that_exist(client: Any) -> None:
    def status(*files: str) -> int:
        answer = client.get("/v2/dump/checkpoint/timeline", params={"file": files})
        return int(answer.status_code)

    assert status("./weights/tinynet-1.ckpt") == 422
    assert status("./weights/tinynet-1.ckpt", "./weights/gone.ckpt") == 404
