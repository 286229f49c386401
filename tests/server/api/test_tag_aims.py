"""Classes of scalars by their names, in English and Chinese."""

import pytest

from mindinsight.server.api.tag_aims import Aim, aim_of, words_of


@pytest.mark.parametrize(
    ("tag", "aim"),
    [
        ("loss", "loss"),
        ("train/lossD", "loss"),
        ("perplexity", "loss"),
        ("loss_scale", None),
        ("lossScale", None),
        ("loss/kl_weight", None),
        ("weighted_loss", "loss"),
        ("scaler/loss", None),
        ("grad_norm", "norm"),
        ("grad_norm/fc.weight", "norm"),
        ("val/accuracy", "accuracy"),
        ("valAcc", "accuracy"),
        ("acceleration", None),
        ("losses/mask", "loss"),
        ("loss_per_token", "loss"),
        ("episode/losses", None),
        ("num_lossy_batches", None),
        ("loss/num_samples", None),
        ("loss_time_ms", None),
        ("score_loss_gain", None),
        ("layer_norm/grad_norm", "norm"),
        ("normalized_score", None),
        ("batch_norm/momentum", None),
        ("grad_norm_clip_value", None),
        ("lr_norm", None),
        ("accuracy_threshold", None),
        ("top1_err", "error"),
        ("1-acc", "error"),
        ("val/WER", "error"),
        ("word_error_rate", "error"),
        ("wer_weight", None),
        ("td_error", None),
        ("bleu", "accuracy"),
        ("val/mAP", "accuracy"),
        ("map50", "accuracy"),
        ("feature_map", None),
        ("eval/success_rate", "accuracy"),
        ("pass@1", "accuracy"),
        ("eval/pass_at_k", "accuracy"),
        ("exact_match", "accuracy"),
        ("hit_rate", "accuracy"),
        ("Hits@10", "accuracy"),
        ("cache_hit_rate", None),
        ("time/forward_pass", None),
        ("success_rate_threshold", None),
        ("rmse", "error"),
        ("FID", "error"),
        ("train/nll", "loss"),
        ("训练/损失", "loss"),
        ("验证准确率", "accuracy"),
        ("词错误率", "error"),
        ("损失缩放", None),
        ("reward", "accuracy"),
        ("val/R2", "accuracy"),
        ("rewards/chosen", None),
        ("reward_scale", None),
        ("r2d2/steps", None),
        ("vq/perplexity", None),
        ("cumulative_loss", None),
        ("domain_classifier/accuracy", None),
        ("cross_domain_loss", "loss"),
    ],
)
def test_a_name_says_what_a_scalar_is(tag: str, aim: Aim | None) -> None:
    assert aim_of(tag) == aim


def test_words_are_those_of_a_name_however_it_is_spelt() -> None:
    assert {"grad", "norm"} <= words_of("train/gradNorm") & words_of("grad_norm")
    assert {"val", "loss"} <= words_of("验证损失")
