"""Lineage files: everything that is in them, whatever is damaged beside it."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.json_format import ParseDict

from mindinsight.proto.framing import encode_record
from mindinsight.proto.lineage_pb2 import DatasetGraph, LineageEvent
from mindinsight.server.formats.lineage import (
    MAX_BYTES,
    MAX_ITEMS,
    MAX_METRICS,
    EvaluationLineage,
    Lineage,
    TrainLineage,
    dataset_graph,
    decode_lineage,
    merge_lineages,
    read_lineage_file,
    shortest,
)
from mindinsight.server.types import Damage
from mindinsight.writer.encoding.lineage import user_defined_info
from tests.narrowing import require

SAMPLES = Path(__file__).parents[2] / "data" / "events"
RECORDED = {  # field -> message and field of TrainLineage
    "network": ("algorithm", "network"),
    "loss": ("algorithm", "loss"),
    "train_dataset_path": ("train_dataset", "train_dataset_path"),
    "train_dataset_size": ("train_dataset", "train_dataset_size"),
    "model_path": ("model", "path"),
    "model_size": ("model", "size"),
}
HYPER_PARAMETERS = ["optimizer", "learning_rate", "loss_function", "epoch", "batch_size"]
HYPER_PARAMETERS += ["parallel_mode", "device_num"]
RECORDED |= {name: ("hyper_parameters", name) for name in HYPER_PARAMETERS}


def _files() -> list[Any]:
    cases = []
    for source in sorted(SAMPLES.glob("*/expected.json")):
        for run, content in json.loads(source.read_text()).get("runs", {}).items():
            for name, expected in content["files"].items():
                if name.endswith("_lineage") and not expected["problems"]:
                    path = source.parent / run / name
                    cases.append(pytest.param(path, expected, id=f"{source.parent.name}/{run}"))
    return cases


@pytest.mark.parametrize(("path", "expected"), _files())
def test_sample(path: Path, expected: dict[str, Any]) -> None:
    lineage = decode_lineage(path.read_bytes())
    wanted = dict(expected["lineage"])
    assert (lineage.damage, lineage.pending) == ((), 0)
    check_train(lineage.train, wanted.get("train_lineage"))
    check_evaluation(lineage.evaluation, wanted.get("evaluation_lineage"))
    assert lineage.user_defined == {name: value for _, name, value in wanted.get("user_defined_info", [])}
    assert (lineage.dataset_graph is None) == ("dataset_graph" not in wanted)
    if lineage.dataset_graph is not None:
        check_graph(lineage.dataset_graph, wanted["dataset_graph"])


def check_train(train: TrainLineage | None, wanted: dict[str, Any] | None) -> None:
    assert (train is None) == (wanted is None)
    for name, (message, field) in RECORDED.items() if wanted else ():
        recorded = require(wanted).get(message, {}).get(field)
        result = getattr(train, name)
        if name == "model_path" and recorded is not None:
            recorded = json.loads(recorded)["ckpt"]
        if name in ("learning_rate", "loss") and result is not None:
            assert len(str(result)) <= len(str(recorded))
            result, recorded = np.float32(result), np.float32(recorded)
        assert result == recorded


def check_evaluation(evaluation: EvaluationLineage | None, wanted: dict[str, Any] | None) -> None:
    assert (evaluation is None) == (wanted is None)
    if evaluation is not None:
        dataset = require(wanted).get("valid_dataset", {})
        assert evaluation.metric == json.loads(require(wanted)["metric"])
        assert evaluation.valid_dataset_path == dataset.get("valid_dataset_path")
        assert evaluation.valid_dataset_size == dataset.get("valid_dataset_size")


def check_graph(graph: dict[str, Any], wanted: dict[str, Any]) -> None:
    rest = dict(graph)
    children, wanted_children = rest.pop("children"), wanted.get("children", [])
    assert len(children) == len(wanted_children)
    for child, wanted_child in zip(children, wanted_children, strict=True):
        check_graph(child, wanted_child)
    operations = [flat(operation) for operation in wanted.get("operations", [])]
    assert rest.pop("operations", []) == operations
    assert rest.pop("sampler", None) == (flat(wanted["sampler"]) if "sampler" in wanted else None)
    assert rest == nulls(wanted["parameter"])


def flat(operation: dict[str, Any]) -> dict[str, Any]:
    lists: dict[str, Any] = {name: operation[name] for name in ("size", "weights") if name in operation}
    return {**nulls(operation["param"]), **lists}


def nulls(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value == "None" else value for name, value in parameters.items()}


def record(**parts: object) -> bytes:
    event = ParseDict({"wall_time": 1.0, **parts}, LineageEvent())  # protobuf 4.21 takes no maps of dicts
    return encode_record(event.SerializeToString())


SET_UP = {"learning_rate": 0.01, "epoch": 3}
TRAIN = record(train_lineage={"hyper_parameters": SET_UP, "algorithm": {"loss": 1e-7}})
EVALUATION = record(evaluation_lineage={"metric": '{"acc": 0.5}', "valid_dataset": {"valid_dataset_size": 9}})
DATA = record(dataset_graph={"parameter": {"mapStr": {"op_type": "Batch", "filter": "None"}}})


def user(**values: int) -> bytes:
    infos = [{"map_int32": {name: value}} for name, value in values.items()]
    return record(user_defined_info={"user_info": infos})


def test_float32_is_told_in_its_shortest_form() -> None:
    train = require(decode_lineage(TRAIN).train)
    assert (train.learning_rate, train.loss, train.epoch, train.optimizer) == (0.01, 1e-7, 3, None)


def test_text_none_and_empty_list_entries_become_null() -> None:
    lists = {"c": {"strValue": ["a", ""]}}
    graph = {"parameter": {"mapStr": {"op_type": "Map", "f": "None"}, "mapStrList": lists}}
    assert decode_lineage(record(dataset_graph=graph)).dataset_graph == {
        "op_type": "Map", "f": None, "c": ["a", None], "children": [],
    }  # fmt: skip


def test_nested_user_defined_values() -> None:
    info = {"user_info": [{"map_dict": {"data": {"map_str": {"set": "mnist"}, "map_double": {"p": 0.1}}}}]}
    result = decode_lineage(record(user_defined_info=info) + user(seed=5)).user_defined
    assert result == {"data": {"set": "mnist", "p": 0.1}, "seed": 5}


def test_later_message_of_a_kind_wins_and_custom_data_merge() -> None:
    later = record(train_lineage={"hyper_parameters": {"epoch": 5}})
    result = decode_lineage(TRAIN + user(a=1, b=1) + later + user(b=2))
    assert result.train == TrainLineage(epoch=5)
    assert result.user_defined == {"a": 1, "b": 2}


@pytest.mark.parametrize("cut", range(1, len(TRAIN)))
def test_cut_record_takes_nothing_from_those_before(cut: int) -> None:
    result = decode_lineage(DATA + user(a=1) + TRAIN[:cut])
    assert (result.train, result.user_defined, result.pending) == (None, {"a": 1}, cut)
    assert result.dataset_graph == {"op_type": "Batch", "filter": None, "children": []}


def test_flipped_byte_costs_its_record_only() -> None:
    wounded = bytearray(TRAIN)
    wounded[20] ^= 1
    result = decode_lineage(DATA + bytes(wounded) + EVALUATION)
    assert result.damage == (Damage(len(DATA), len(TRAIN), "damage.body_crc"),)
    assert (result.train, result.evaluation) == (None, EvaluationLineage({"acc": 0.5}, None, 9))


@pytest.mark.parametrize("metric", ["not json", "[1]", "[" * 100_000])
def test_metrics_that_are_no_object_are_listed(metric: str) -> None:
    result = decode_lineage(DATA + record(evaluation_lineage={"metric": metric}) + TRAIN)
    assert [(damage.offset, damage.reason) for damage in result.damage] == [(len(DATA), "damage.unparsable")]
    assert result.evaluation is None and result.train is not None


@pytest.mark.parametrize(("name", "parts"), [("lineage_cut", 2), ("lineage_flip", 2), ("lineage_text", 0)])
def test_damaged_samples(name: str, parts: int) -> None:
    lineage = decode_lineage(next((SAMPLES / "damaged" / name).glob("*_lineage")).read_bytes())
    assert sum(bool(part) for part in (lineage.train, lineage.dataset_graph, lineage.user_defined)) == parts
    assert lineage.damage or lineage.pending


def test_file_with_training_starts_afresh() -> None:
    first = decode_lineage(TRAIN + DATA + EVALUATION + user(a=1))
    merged = merge_lineages([first, decode_lineage(record(train_lineage={"hyper_parameters": {"epoch": 9}}))])
    assert merged == Lineage(train=TrainLineage(epoch=9))


def test_file_with_evaluation_alone_adds_to_what_is_known() -> None:
    first = decode_lineage(TRAIN + DATA + user(a=1))
    merged = merge_lineages([first, decode_lineage(EVALUATION + user(b=2))])
    assert merged.train == first.train and merged.dataset_graph == first.dataset_graph
    assert merged.evaluation == EvaluationLineage({"acc": 0.5}, None, 9)
    assert merged.user_defined == {"a": 1, "b": 2}


def test_nothing_to_merge() -> None:
    assert merge_lineages([]) == Lineage() == decode_lineage(b"")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"ckpt": "/runs/net-1_4.ckpt"}', "/runs/net-1_4.ckpt"),
        ('{"ckpt": null}', None),
        ("{}", None),
        ('{"ckpt": 3}', None),
        ("/runs/net.ckpt", "/runs/net.ckpt"),
        ("2026", "2026"),
        ("", None),
    ],
)
def test_the_path_of_the_model_is_a_path_and_no_json(tmp_path: Path, text: str, path: str | None) -> None:
    event = ParseDict({"train_lineage": {"model": {"path": text}}, "wall_time": 0}, LineageEvent())
    file = tmp_path / "events.summary.1_lineage"
    file.write_bytes(encode_record(event.SerializePartialToString()))
    lineage = decode_lineage(file.read_bytes())
    assert lineage.damage == ()
    assert lineage.train is not None
    assert lineage.train.model_path == path


def metrics_record(text: str | bytes) -> bytes:
    """A record with an evaluation; ``text`` stands where the JSON of its metrics does, whatever it is."""
    data = text.encode() if isinstance(text, str) else text
    metric = ParseDict({"evaluation_lineage": {"metric": "@" * len(data)}}, LineageEvent(wall_time=1.0))
    return encode_record(metric.SerializeToString().replace(b"@" * len(data), data))


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        (r'{"\ud800": "\udfff"}', {"\\ud800": "\\udfff"}),
        ('{"big": 1' + "0" * 399 + "}", {"big": "an integer of 400 digits"}),
        ('{"big": ' + "9" * 5000 + "}", {"big": "an integer of 5000 digits"}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
    ],
)
def test_odd_metrics_are_shown_as_what_they_are(text: str | bytes, metrics: dict[str, Any]) -> None:
    lineage = decode_lineage(metrics_record(text))
    assert lineage.metrics == metrics
    assert lineage.damage == ()
    assert json.dumps(lineage.metrics, ensure_ascii=False).encode()


def test_text_that_is_not_utf8_is_escaped() -> None:
    record = ParseDict({"train_lineage": {"algorithm": {"network": "@@"}}}, LineageEvent(wall_time=1.0))
    data = record.SerializeToString().replace(b"@@", b"\xff\xfe")
    assert require(decode_lineage(encode_record(data)).train).network == "\\xff\\xfe"


def test_more_values_than_the_budget_are_damage() -> None:
    many = json.dumps({str(number): number for number in range(MAX_ITEMS + 1)})
    result = decode_lineage(metrics_record(many) + metrics_record('{"a": 1}'))
    assert [stretch.reason for stretch in result.damage] == ["damage.unparsable"]
    assert result.metrics == {"a": 1}
    assert decode_lineage(metrics_record('{"a": "' + "x" * MAX_METRICS + '"}')).metrics == {}


def test_a_huge_file_is_read_up_to_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "summary.1_lineage"
    path.write_bytes(metrics_record('{"a": 1}'))
    os.truncate(path, 3 << 30)
    tracemalloc.start()
    with path.open("rb") as file:
        lineage = read_lineage_file(file.fileno())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lineage.metrics == {"a": 1}
    assert lineage.damage[-1].reason == "damage.too_large"
    assert lineage.damage[-1].offset + lineage.damage[-1].size == 3 << 30
    assert (lineage.end, lineage.pending) == (3 << 30, 0)
    assert peak < 8 * MAX_BYTES


def test_a_pipeline_is_its_last_step_with_those_before_it_inside() -> None:
    batch = DatasetGraph()
    batch.parameter.mapStr["op_type"] = "BatchDataset"
    batch.parameter.mapStr["num_parallel_workers"] = "None"
    batch.parameter.mapInt["batch_size"] = 32
    batch.parameter.mapBool["drop_remainder"] = True
    batch.parameter.mapDouble["share"] = 0.5
    batch.parameter.mapStrList["columns"].strValue.extend(["image", ""])
    source = batch.children.add()
    source.parameter.mapStr["op_type"] = "MnistDataset"
    assert dataset_graph(batch) == {
        "op_type": "BatchDataset",
        "num_parallel_workers": None,
        "batch_size": 32,
        "drop_remainder": True,
        "share": 0.5,
        "columns": ["image", None],
        "children": [{"op_type": "MnistDataset", "children": []}],
    }


def test_operations_and_samplers_have_sizes_and_weights() -> None:
    graph = DatasetGraph()
    operation = graph.operations.add()
    operation.operationParam.mapStr["tensor_op_name"] = "Resize"
    operation.size.extend([32, 32])
    graph.sampler.operationParam.mapStr["sampler_name"] = "WeightedRandomSampler"
    graph.sampler.weights.extend([0.1, 0.9])
    settings = dataset_graph(graph)
    assert settings["operations"] == [{"tensor_op_name": "Resize", "size": [32, 32]}]
    assert settings["sampler"] == {"sampler_name": "WeightedRandomSampler", "weights": [0.1, 0.9]}


@pytest.mark.parametrize("value", [0.1, 0.001, 1e-20, 3.0, 16777216.0])
def test_the_shortest_decimal_denotes_the_same_float32(value: float) -> None:
    stored = struct.unpack("<f", struct.pack("<f", value))[0]
    assert shortest(stored) == value
    assert struct.pack("<f", shortest(stored)) == struct.pack("<f", value)


@pytest.mark.parametrize("value", [2**53 + 1, -(2**62) - 1, 2**63 - 1, 2**53 - 1, 5])
def test_integers_of_64_bits_come_back_as_they_were_set(value: int) -> None:
    info = user_defined_info({"offset": value, "name": "0" * 18})
    event = encode_record(LineageEvent(user_defined_info=info).SerializeToString())
    assert decode_lineage(event).user_defined == {"offset": value, "name": "0" * 18}
