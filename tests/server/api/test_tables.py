import numpy as np
import pytest

from mindinsight.server.api.run_metadata import finite, hyper_of, metrics_of
from mindinsight.server.api.tables import lowest, thinned
from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage


def test_the_lowest_value_is_a_number_when_there_is_one():
    assert lowest(np.array([3.0, np.nan, -1.0, -np.inf])) == -1.0
    assert np.isnan(lowest(np.array([np.nan, np.inf])))


@pytest.mark.parametrize("count", [1, 2, 47, 48, 49, 10_000])
def test_thinning_keeps_both_ends_and_order(count):
    values = thinned(np.arange(count, dtype=np.float32))
    assert len(values) == min(count, 48)
    assert values[0] == 0
    assert values[-1] == count - 1
    assert (np.diff(values) > 0).all()


def test_hyper_parameters_are_single_values():
    lineage = Lineage(
        TrainLineage(network="Net", learning_rate=0.1), user_defined={"v": "1.0", "all": [1, 2]}
    )
    assert hyper_of(lineage) == {"network": "Net", "learning_rate": 0.1, "v": "1.0"}
    assert hyper_of(None) == {}


def test_results_are_the_last_loss_and_the_metrics():
    lineage = Lineage(TrainLineage(loss=0.5), EvaluationLineage(metric={"acc": 0.9, "loss": 0.4, "odd": {}}))
    assert metrics_of(lineage) == {"loss": 0.5, "eval/loss": 0.4, "acc": 0.9}
    assert metrics_of(Lineage()) == {}


def test_what_json_cannot_hold_goes_as_text():
    assert finite({"a": float("nan"), "b": float("-inf"), "c": 1.0, "d": "x"}) == {
        "a": "nan",
        "b": "-inf",
        "c": 1.0,
        "d": "x",
    }
