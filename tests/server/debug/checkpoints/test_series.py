"""Series of checkpoints, by the names that frameworks give."""

import pytest

from mindinsight.server.debug.checkpoints.series import find_series


@pytest.mark.parametrize(
    ("ids", "steps"),
    [
        (["./a-2_9.ckpt", "./a-1_9.ckpt", "./a-3_4.ckpt"], {"1_9": 9, "2_9": 18, "3_4": 22}),
        (["./gpt2-900.pt", "./gpt2-1000.pt"], {"900": 900, "1000": 1000}),
        (["./r/checkpoint-10/m.npz", "./r/checkpoint-5/m.npz"], {"5": 5, "10": 10}),
        (["./net.npz"], {"net.npz": None}),
    ],
)  # fmt: skip
def test_files_of_a_training_are_in_the_order_of_their_steps(
    ids: list[str], steps: dict[str, int | None]
) -> None:
    (series,) = find_series(ids)
    assert {saved.label: saved.step for saved in series.checkpoints} == steps
    assert list(steps) == [saved.label for saved in series.checkpoints]


def test_ranks_runs_and_shards_are_no_steps() -> None:
    ids = ["./run_0/net-1.ckpt", "./run_1/net-1.ckpt", "./model-00001-of-00002.safetensors"]
    ids += ["./model-00002-of-00002.safetensors", "./checkpoint-5/m-00001-of-00002.bin"]
    assert [len(series.checkpoints) for series in find_series(ids)] == [1] * 5
