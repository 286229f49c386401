"""What is wrong with the ranks of a job."""

from dataclasses import replace

import numpy as np

from mindinsight.server.claims import sentence
from mindinsight.server.formats.lineage import Lineage, TrainLineage
from mindinsight.server.plugins.answers.rank_health import HealthCache, telling_tags
from mindinsight.server.store.run import Run
from mindinsight.server.types import Doubles
from tests.server.plugins.answers.curves import Ask, run


def job() -> list[Run]:
    """Four ranks: the second is slower from step 200 on, the last has a NaN."""

    def times(rank: int) -> Doubles:
        noise = np.random.default_rng(rank).standard_normal(400)
        return np.asarray(
            0.25 * np.exp(0.03 * noise) * (1 + (rank == 1) * (np.arange(400) >= 200)), np.float64
        )

    def losses(rank: int) -> Doubles:
        values = 1 + 0.01 * np.random.default_rng(rank + 9).standard_normal(400)
        return np.where((np.arange(400) == 30) & (rank == 3), np.nan, values)

    runs = [run(f"job/rank_{rank}", {"step_time": times(rank), "loss": losses(rank)}) for rank in range(4)]
    return [replace(member, job="./job", rank=rank) for rank, member in enumerate(runs)]


def test_each_rank_is_named_with_its_fault(ask: Ask) -> None:
    client = ask(*reversed(job()), run("single", {"loss": np.ones(400)}))
    answer = client.get("/health", params={"job": ["./job", "./single", "./gone"]}).json()["jobs"]
    assert list(answer) == ["./job"]
    health = answer["./job"]
    assert (health["ranks"], health["tags"]) == ([0, 1, 2, 3], ["step_time", "loss"])
    strays = [(stray["row"], stray["tag"], stray["kind"]) for stray in health["strays"]]
    assert strays == [(1, "step_time", "lasting"), (3, "loss", "not_finite")]
    assert abs(health["strays"][0]["step"] - 200) <= 4


def test_a_job_is_judged_again_when_it_has_grown_or_has_other_ranks() -> None:
    cache, ranks = HealthCache(), job()
    first = cache.of(ranks)
    assert cache.of(ranks) is first
    assert [stray.tag for stray in cache.of(ranks[:3]).strays] == ["step_time"]
    assert cache.of(ranks) == first


def test_times_of_steps_are_looked_at_before_others() -> None:
    names = ["a", "b", "c", "loss", "grad_norm", "acc", "step_time", "z"]
    values = {name: np.ones(400) for name in names}
    ranks = [run("a", values), run("b", values), run("c", {"rare": np.ones(400)})]
    assert telling_tags(ranks) == ("step_time", "loss", "grad_norm", "acc", "a", "b")


def test_missing_ranks_are_named_up_to_the_number_that_was_recorded() -> None:
    ranks = [replace(member, rank=rank) for member, rank in zip(job()[:3], (0, 1, 5), strict=False)]
    ranks[0] = replace(ranks[0], lineage=Lineage(train=TrainLineage(device_num=8)))
    texts = [sentence(claim) for claim in HealthCache().of(ranks).claims]
    assert "5 of 8 ranks are missing: 2–4, 6–7." in texts
