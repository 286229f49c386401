from mindinsight.server.api.lineage_values import hyper_of, metrics_of
from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage


def test_hyper_parameters_are_single_values() -> None:
    lineage = Lineage(
        TrainLineage(network="Net", learning_rate=0.1), user_defined={"v": "1.0", "all": [1, 2]}
    )
    assert hyper_of(lineage) == {"network": "Net", "learning_rate": 0.1, "v": "1.0"}
    assert hyper_of(None) == {}


def test_results_are_the_last_loss_and_the_metrics() -> None:
    lineage = Lineage(TrainLineage(loss=0.5), EvaluationLineage(metric={"acc": 0.9, "loss": 0.4, "odd": {}}))
    assert metrics_of(lineage) == {"loss": 0.5, "eval/loss": 0.4, "acc": 0.9}
    assert metrics_of(Lineage()) == {}
