"""Alignment of two runs: the order of their scalars, and names that other recorders give."""

import numpy as np

from tests.server.plugins.answers.curves import COURSE, STEPS, Ask, run


def test_tags_are_ranked_by_where_they_drift(ask: Ask) -> None:
    late = COURSE * (1 + 1e-4 * np.maximum(STEPS - 250, 0))
    early = COURSE * (1 + 1e-3 * np.maximum(STEPS - 150, 0))
    client = ask(
        run("gpu", {"loss": COURSE, "norm": COURSE, "lr": COURSE}),
        run("npu", {"loss": late, "norm": early, "lr": COURSE}),
    )
    answer = client.get("/alignment", params={"run": "./npu", "baseline": "./gpu"}).json()
    assert [(row["tag"], row["verdict"]) for row in answer["tags"]] == [
        ("norm", "drifts"),
        ("loss", "drifts"),
        ("lr", "identical"),
    ]
    main, first, differing, worse = answer["claims"]
    assert (worse["key"], worse["values"]["n"]) == ("claim.align.ends_worse", 1), "a norm has no better end"
    assert (main["values"]["tag"], main["verdict"]) == ("loss", "found")
    assert 250 < main["values"]["claim"]["values"]["agrees_to"] < 265
    assert (first["key"], first["values"]["tag"]) == ("claim.align.first", "norm")
    assert abs(first["values"]["step"] - 150) <= 8
    assert (differing["values"]["n"], differing["values"]["count"]) == (2, 3)


def test_what_diverges_comes_before_a_main_scalar_that_agrees(ask: Ask) -> None:
    early = COURSE * (1 + 1e-3 * np.maximum(STEPS - 150, 0))
    client = ask(run("gpu", {"loss": COURSE, "wer": COURSE}), run("npu", {"loss": COURSE, "wer": early}))
    claims = client.get("/alignment", params={"run": "./npu", "baseline": "./gpu"}).json()["claims"]
    assert [claim["key"] for claim in claims[:2]] == ["claim.align.first", "claim.part.align_scalar"]


def test_tags_of_other_recorders_are_paired_where_that_is_plain(ask: Ask) -> None:
    client = ask(
        run("mindspore", {"loss/auto": COURSE, "a": COURSE}),
        run("torch", {"train/loss": COURSE, "b": COURSE}),
    )
    answer = client.get("/alignment", params={"run": "./torch", "baseline": "./mindspore"}).json()
    assert [(row["tag"], row["other"], row["verdict"]) for row in answer["tags"]] == [
        ("loss/auto", "train/loss", "identical")
    ]
    ambiguous = ask(run("x", {"loss/auto": COURSE}), run("y", {"train/loss": COURSE, "Loss": COURSE}))
    assert ambiguous.get("/alignment", params={"run": "./y", "baseline": "./x"}).json()["tags"] == []
