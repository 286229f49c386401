"""Messages of the hparams plugin as protobuf reads them."""

from typing import Any

from mindinsight.writer.encoding.tfevents import hparams
from tests.writer.tensorboard_messages import parse


def content(entry: bytes, tag: str) -> Any:
    value = parse("Value", entry)
    plugin = value.metadata.plugin_data
    assert (value.tag, plugin.plugin_name) == (f"_hparams_/{tag}", "hparams")
    return parse("HParams", plugin.content)


def test_an_experiment_declares_types_domains_and_metrics() -> None:
    message = hparams.experiment({"lr": 0.1, "bn": True, "opt": "sgd"}, ["acc"], {"opt": ["sgd", "adam"]})
    experiment = content(message, "experiment").experiment
    assert [(info.name, info.type) for info in experiment.hparam_infos] == [("lr", 3), ("bn", 2), ("opt", 1)]
    domains = [[choice.string for choice in info.domain.values] for info in experiment.hparam_infos]
    assert domains == [[], [], ["sgd", "adam"]]
    assert [info.name.tag for info in experiment.metric_infos] == ["acc"]


def test_a_session_has_its_values_and_ends_well() -> None:
    start = content(hparams.session_start({"n": 3, "bn": False, "opt": "sgd"}), "session_start_info")
    values = {entry.key: entry.value for entry in start.session_start_info.hparams}
    assert values["n"].number == 3.0
    assert values["bn"].HasField("bool") and not values["bn"].bool
    assert values["opt"].string == "sgd"
    assert content(hparams.session_end(), "session_end_info").session_end_info.status == 1
