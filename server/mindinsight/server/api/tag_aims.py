"""Class of a scalar by its name: a loss, a norm, an accuracy or score, or an error rate."""

import re
from typing import Final, Literal, TypeAlias

Aim: TypeAlias = Literal["loss", "norm", "accuracy", "error"]

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
# What a schedule or a loss scaler sets, such as loss/kl_weight, is not what a training makes.
_SET: Final = {
    *("weight", "weights", "coef", "coeff", "coefficient", "scale", "scaler", "scaled", "scaling", "factor"),
    *("lambda", "beta", "lr", "rate", "ratio", "temperature", "anneal", "schedule"),
}
# Losses that need not fall: of nets against each other, of agents, and terms that hold another loss back.
PLAYED: Final = {
    *("g", "d", "gen", "generator", "disc", "discriminator", "adv", "adversarial", "gan", "fake", "real"),
    *("gloss", "dloss", "policy", "entropy", "actor", "critic", "value", "q", "reg", "regularization"),
    *("regularizer", "kl", "kld", "aux", "balance", "balancing", "z", "commit", "commitment", "attack"),
    *("forget", "unlearn", "unlearning", "domain", "td"),
}
# Accuracies that are to fall or to stay: of adversaries, of what a training is compared with, and spreads.
_ADVERSE: Final = {
    *("domain", "disc", "discriminator", "adv", "adversarial", "adversary", "fake", "baseline", "std", "var"),
}
REWARDED: Final = {"reward", "rewards", "rew", "return", "returns"}  # of a run whose losses need not fall
_ACCURACY: Final = {
    *("acc", "accuracy", "f1", "auc", "auroc", "iou", "miou", "dice", "precision", "recall", "top1", "top5"),
    *("bleu", "rouge", "chrf", "meteor", "cider", "ndcg", "mrr", "psnr", "ssim", "kappa", "mcc", "spearman"),
    *("pearson", "em", "ap", "ap50", "ap75", "mmlu", "gsm8k", "humaneval", "solved"),
}
# What a run is rewarded with, but not what a reward model gives to answers, and not the spread of rewards.
REWARDS: Final = {*REWARDED, "r2"}
_OTHER_REWARDS: Final = {
    *("chosen", "rejected", "margin", "margins", "std", "min", "max", "model", "intrinsic", "penalty", "kl"),
}
_ERROR_RATES: Final = {
    *(
        "wer",
        "cer",
        "ter",
        "eer",
        "mse",
        "rmse",
        "mae",
        "mape",
        "smape",
        "fid",
        "lpips",
        "brier",
        "ece",
        "epe",
    ),
}
# Scores that no word alone names: not feature_map, cache_hit_rate or forward_pass_rate.
_SCORE: Final = re.compile(
    r"mAP|(?<![A-Za-z])map[_@]?\d|(?i:(?<![a-z])pass(?:@|_?at_?)\w|exact_?match|success_?rate|solve_?rate"
    r"|(?:fraction|percent|share)_correct|(?<!cache_)(?<!cache/)(?<!cache)hit(?:s@|@|_?rate|_?ratio))"
)
_ERRORS: Final = {"err", "error", "errors", "minus"}  # one minus an accuracy, which has to fall
# What is counted, timed, set or subtracted, though its name holds "loss", "norm" or "accuracy".
_OTHER: Final = {
    *("num", "number", "count", "counts", "counter", "samples", "batches", "tokens", "games", "episodes"),
    *("time", "ms", "sec", "secs", "seconds", "duration", "gain", "gap", "delta", "diff", "difference"),
    *("improvement", "improvements", "cumulative", "codebook", "vq", "threshold", "momentum", "patience"),
    "steps",
    *("clip", "clipped", "clipping", "std", "stdev", "variance"),
}
_CHINESE: Final = {
    "损失": "loss", "困惑度": "perplexity", "准确率": "accuracy", "精确率": "precision", "召回率": "recall",
    "错误率": "error_rate", "范数": "norm", "训练": "train", "验证": "val",
    "测试": "test", "缩放": "scale", "系数": "coef", "权重": "weight",
}  # fmt: skip
_LOSS: Final = re.compile(  # not lossy
    r"loss(?:es)?(?![a-z])|perplexity|crossentropy|bits_per_"
    r"|(?<![a-z])(?:nll|ppl|ce|bce|xent|bpc|bpb|bpd)(?![a-z])"
)
_OF_DATA: Final = {"train", "training", "val", "valid", "validation", "eval", "evaluation", "test", "dev"}
_CROSS_ENTROPY: Final = re.compile(r"(?i:cross_?entropy)")  # whose entropy is no word of its own
_NORM: Final = re.compile(r"norms?(?![a-z])")  # not normalized
_WEIGHTS: Final = {"weight", "weights", "scale", "beta", "lambda"}  # names of weights that have norms
_LAYER: Final = re.compile(r"(?:batch|layer|group|instance|rms)_?norm")  # whose statistics are no norms


def aim_of(tag: str) -> Aim | None:
    """Return the class of a scalar by its name: a loss, a norm, an accuracy or score, an error
    rate, or None for any other."""
    words, text = words_of(tag), "_".join(_WORD.findall(_translated(tag))).lower()
    if words & _OTHER:
        return None
    if _LOSS.search(text):
        # "episode/losses" is the number of games that were lost, "losses/mask" is a loss.
        return None if words & _SET or text.endswith("losses") else "loss"
    if _NORM.search(_LAYER.sub("", text)):
        return None if words & (_SET - _WEIGHTS) else "norm"
    if words & _ERROR_RATES or text.endswith("error_rate"):
        return None if words & (_SET - {"rate"}) else "error"
    if words & REWARDS:
        return None if words & (_SET | _OTHER_REWARDS) else "accuracy"
    if words & _OF_DATA and words - _OF_DATA <= {"", "error", "err"}:
        return "error"
    alone = bool(words & _OF_DATA) and words - _OF_DATA <= {"", "score"}
    scored = alone or _SCORE.search(tag) is not None
    if words & ((_SET - {"rate", "ratio"} if scored else _SET) | _ADVERSE) or not (
        words & _ACCURACY or scored
    ):
        return None
    return "error" if words & _ERRORS or "1-" in tag else "accuracy"


def _translated(tag: str) -> str:
    for chinese, english in _CHINESE.items():
        tag = tag.replace(chinese, f"_{english}_")
    return _CROSS_ENTROPY.sub("crossentropy", tag)


def words_of(tag: str) -> set[str]:
    """Return the words in the name of a scalar, in lower case, Chinese ones in English."""
    tag = _translated(tag)
    return {word.lower() for word in _WORD.findall(tag)} | set(re.split(r"[^a-z0-9]+", tag.lower()))
