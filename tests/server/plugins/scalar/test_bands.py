"""The ranks of a job and the runs of a group as bands and pictures."""

from typing import Any

import numpy as np

from mindinsight.server.http.column_encoding import decode

from .runs import part, run


def test_ranks_of_a_job_in_their_order(ask: Any) -> None:
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
