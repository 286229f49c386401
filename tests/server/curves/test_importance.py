"""Importance of settings in searches with and without an effect."""

import math
from typing import Any

import numpy as np
import pytest

from mindinsight.server.curves.importance import (
    FEWEST,
    Importance,
    better_end,
    importance,
)


def runs(count: int = 60) -> dict[str, list[Any]]:
    chance = np.random.default_rng(3)
    return {
        "user:bend": chance.uniform(-1, 1, count).tolist(),
        "user:rate": (10 ** chance.uniform(-5, -1, count)).tolist(),
        "user:optimizer": chance.choice(["adam", "sgd"], count).tolist(),
        "user:noise": chance.normal(size=count).tolist(),
        "user:constant": [1] * count,
    }


def keys(answer: Importance) -> list[str]:
    """Return the claims without the note on the constant setting of all runs."""
    named = [claim.key.removeprefix("claim.lineage.") for claim in answer.claims]
    return [key for key in named if key != "fixed"]


def test_nan_is_no_value_that_a_run_carries() -> None:
    columns = runs()
    columns["user:rate"] = [float("nan")] * 7 + columns["user:rate"][7:]
    result = importance("metric:loss", columns, [value**2 for value in columns["user:bend"]])
    assert {column.key: column.carried for column in result.columns}["user:rate"] == 53
    (fixed,) = [claim for claim in result.claims if claim.key == "claim.lineage.fixed"]
    assert fixed.values["settings"] == ["constant"]


def test_an_optimum_inside_the_range_is_found_and_has_no_arrow() -> None:
    columns = runs()
    result = importance("metric:loss", columns, [value**2 for value in columns["user:bend"]])
    assert [column.key for column in result.columns if column.matters] == ["user:bend"]
    assert result.columns[0].sign == 0
    assert keys(result) == ["lowest", "matters"]
    region = result.claims[0].values["region"].values
    assert -0.3 < region["low"] < 0 < region["high"] < 0.3


def test_a_monotone_relation_has_an_arrow_and_a_text_has_its_best_values() -> None:
    columns = runs()
    pairs = zip(columns["user:rate"], columns["user:optimizer"], strict=True)
    result = importance(
        "metric:acc", columns, [-math.log10(rate) + 1.5 * (name == "sgd") for rate, name in pairs]
    )
    signs = {column.key: column.sign for column in result.columns if column.matters}
    assert signs == {"user:rate": -1, "user:optimizer": 0}
    assert keys(result).count("highest") == 2
    assert "lowest" not in keys(result)


@pytest.mark.parametrize("seed", range(8))
def test_pure_noise_names_no_setting(seed: int) -> None:
    objective = np.random.default_rng(seed).normal(size=60).tolist()
    assert keys(importance("metric:loss", runs(), objective)) in (["nothing"], ["weak"])  # 2 % are weak


def test_the_best_runs_are_all_that_are_as_good() -> None:
    columns = runs()
    reached = [float(rate > 1e-3) for rate in columns["user:rate"]]
    result = importance("metric:accuracy", columns, reached)
    (best,) = [claim for claim in result.claims if claim.key == "claim.lineage.highest"]
    assert best.values["n"] == sum(reached)
    assert best.values["region"].values["high"] == max(columns["user:rate"])


def test_settings_that_change_together_cannot_be_told_apart() -> None:
    columns = runs()
    columns["user:double"] = [2 * value for value in columns["user:bend"]]
    result = importance("metric:loss", columns, [value**2 for value in columns["user:bend"]])
    assert "together" in keys(result)


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ([math.nan] * 60, ["too_few", "left_out"]),
        ([2.0] * 60, ["constant"]),
        ([*range(FEWEST - 1), *[None] * 49], ["too_few", "unrecorded"]),
    ],
)
def test_what_cannot_be_known_is_said(objective: list[Any], expected: list[str]) -> None:
    assert keys(importance("metric:loss", runs(), objective)) == expected


@pytest.mark.parametrize(("carried", "least"), [(29, 30), (30, None)])
def test_the_least_number_of_runs_with_a_setting_is_said(carried: int, least: int | None) -> None:
    columns = {**runs(), "user:half": [*range(carried), *[None] * (60 - carried)]}
    result = importance("metric:loss", columns, columns["user:bend"])
    rare = [claim.values for claim in result.claims if claim.key == "claim.lineage.rare"]
    assert [(values["least"], values["runs"]) for values in rare] == ([(least, 60)] if least else [])
    assert ("user:half" in {column.key for column in result.columns}) == (least is None)


def test_missing_values_are_a_value_where_half_of_the_runs_have_one() -> None:
    columns = {"dropout": [None, 0.5] * 20, "noise": np.random.default_rng(1).normal(size=40).tolist()}
    result = importance("loss", columns, [1.0, 2.0] * 20)
    assert (result.columns[0].key, result.columns[0].carried) == ("dropout", 20)


def test_the_same_runs_give_the_same_numbers() -> None:
    objective = runs()["user:bend"]
    assert importance("a", runs(), objective) == importance("a", runs(), objective)


def test_a_name_says_which_end_is_better_or_nothing_does() -> None:
    ends = [better_end(name) for name in ("val/loss", "accuracy", "perplexity", "error_rate", "x")]
    assert ends == ["lowest", "highest", "lowest", "lowest", None]
    plain = ("TotalLoss", "metric:loss", "loss/auto", "val/acc_loss", "accuracy_error")
    assert [better_end(name) for name in plain] == ["lowest"] * 5
    high = ("no_loss_accuracy", "mAP", "valAcc", "tokens_per_sec", "mIoU")
    assert [better_end(name) for name in high] == ["highest"] * 5
    reached = ("eval/return", "hit@10", "ELBO", "log_prob", "logLikelihood", "MRR", "success_rate")
    assert [better_end(name) for name in reached] == ["highest"] * 7
    scores = ("kappa", "val/mcc", "chrF", "exact_match", "top1", "验证/准确率", "测试得分")
    assert [better_end(name) for name in scores] == ["highest"] * 7
    assert [better_end(name) for name in ("训练损失", "词错误率", "top1_err")] == ["lowest"] * 3
    assert better_end("neg_log_likelihood") == "lowest"
    other = ("loss_scale", "lossScale", "lossless_ratio", "timestamp", "learning_rate", "accumulated_cost")
    assert [better_end(name) for name in other] == [None] * 6
    turned = ("accuracy_drop", "error_free_rate", "non_accuracy", "1-accuracy", "metric:1 - acc", "f1_gap")
    assert [better_end(name) for name in turned] == [None] * 6
    assert better_end("top-1-accuracy") == "highest"
    negated = [better_end(name) for name in ("neg_loss", "eval/negative_mse", "neg_acc", "neg_log_loss")]
    assert negated == ["highest", "highest", "lowest", "lowest"]
