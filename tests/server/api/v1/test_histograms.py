"""Histograms of real runs."""

from typing import Any

LENET = {"train_id": "./lenet"}


def test_histograms_share_their_edges(v1: Any) -> None:
    tag = v1.ok("datavisual/plugins", **LENET)["plugins"]["histogram"][0]
    answer = v1.ok("datavisual/histograms", **LENET, tag=tag)
    assert (answer["train_id"], answer["tag"]) == ("./lenet", tag)
    edges = {tuple(left for left, _, _ in histogram["buckets"]) for histogram in answer["histograms"]}
    assert len(edges) == 1
    whole = v1.ok("datavisual/histograms", **LENET, tag=tag, full="true")["histograms"]
    assert len(answer["histograms"]) == min(50, len(whole))
