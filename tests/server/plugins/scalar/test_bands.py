"""The ranks of a job and the runs of a group as bands and pictures."""

from typing import Any

import numpy as np

from mindinsight.server.curves.smoothing import SmoothingKind, smooth
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
