"""Metrics of an evaluation, with the names and results of MindSpore's."""

from typing import Any

from mindinsight.writer.metrics.accuracy import Accuracy, Loss
from mindinsight.writer.metrics.base import Metric, rearrange_inputs
from mindinsight.writer.metrics.counts import F1, Fbeta, Precision, Recall

__all__ = [
    "F1",
    "Accuracy",
    "Fbeta",
    "Loss",
    "Metric",
    "Precision",
    "Recall",
    "get_metric_fn",
    "rearrange_inputs",
]


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Metric:
    """A new metric by its name: accuracy (or acc), loss, precision, recall, F1, fbeta.

    Further arguments go to the metric. Raises KeyError for another name.
    """
    metrics: dict[str, type[Metric]] = {
        "F1": F1,
        "acc": Accuracy,
        "accuracy": Accuracy,
        "fbeta": Fbeta,
        "loss": Loss,
        "precision": Precision,
        "recall": Recall,
    }
    if name not in metrics:
        raise KeyError(f"no metric {name!r}; there are {', '.join(metrics)}")
    return metrics[name](*args, **kwargs)
