"""Odd texts, numbers and names in every field of every format: the rows around them stay, all can be sent."""

import json
import os
import pickle
import struct
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mindinsight.server.formats.dumps import list_operators, list_tensors, open_dump
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.sanitizer import MAX_NAME, parse_integer, show_integer, show_name, show_text
from mindinsight.server.formats.text_files import parse_json
from mindinsight.server.formats.weights.weight_files import open_weights
from tests.thoroughness import amount

MANY = settings(
    max_examples=amount(40, 15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TEXTS = st.one_of(
    st.sampled_from(
        ["\ud800", "\udfff", "\udc80", "\0", "\x1b[31m", "\u202e", "a\nb", "x" * 65_536, "", "=1+1"]
    ),
    st.text(st.characters(exclude_categories=[]), max_size=20),
)
NUMBERS = st.one_of(
    st.sampled_from([10**400, -(10**400), 1 << 63, -(1 << 63) - 1, 10**18, float("nan"), float("inf"), -0.0]),
    st.integers(),
    st.floats(),
)
ODD = st.recursive(
    TEXTS | NUMBERS | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
HUGE = "9" * 5000
TENSOR = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.0, "Min": 0.0}


def sendable(values: Any) -> None:
    """Nothing in them stops an encoder, or a page."""
    json.dumps(values, ensure_ascii=False, default=str).encode()


def msprobe(folder: Any, **files: Any) -> tuple[Any, Any]:
    rank = folder / "step0" / "rank0"
    rank.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (rank / f"{name}.json").write_text(text)
    dump = open_dump(folder)
    listed, operators = list_tensors(dump, 0, 0), list_operators(dump, 0, 0)
    sendable([entry._asdict() for entry in listed])
    sendable([asdict(operator) for operator in operators])
    sendable([asdict(damage) for damage in (*dump.damage, *listed.damage, *operators.damage)])
    return {entry.operator for entry in listed}, {operator.name for operator in operators}


@MANY
@given(st.sampled_from([*TENSOR, "requires_grad", "md5", "Norm", "data_name", "other"]), ODD)
def test_any_value_in_any_field_of_a_tensor(tmp_path: Path, field: Any, value: Any) -> None:
    bad = {"input_args": [{**TENSOR, field: value}], "output": [TENSOR]}
    good = {"input_args": [TENSOR]}
    entries = {"Functional.bad.0.forward": bad, "Functional.good.0.forward": good}
    listed, _ = msprobe(tmp_path, dump={"task": "statistics", "level": "L1", "data": entries})
    assert "Functional.good.0.forward" in listed


@MANY
@given(TEXTS, ODD)
def test_any_name_and_value_among_calls_stacks_and_modules(tmp_path: Path, name: Any, value: Any) -> None:
    good = {"Functional.good.0.forward": {"input_args": [TENSOR]}}
    listed, operators = msprobe(
        tmp_path,
        dump={"task": value, "level": name, "data": {name: value, **good}},
        stack={
            "0": [[name, "Functional.good.0.forward"], [name, f"File a.py, line {HUGE}, in f"]],
            name: value,
        },
        construct={name: value, "Functional.good.0.forward": name},
    )
    assert "Functional.good.0.forward" in listed & operators


@pytest.mark.parametrize("number", [HUGE, "-" + HUGE, "1e999", "1" * 400, "123456789012345678901234567890"])
def test_numbers_of_any_length_in_a_dump(tmp_path: Path, number: Any) -> None:
    bad = json.dumps({**TENSOR, "Max": "here", "shape": ["here"]}).replace('"here"', number)
    good = json.dumps(TENSOR)
    text = f'{{"data": {{"A.a.0.forward": {{"output": [{bad}]}}, "A.b.0.forward": {{"output": [{good}]}}}}}}'
    assert msprobe(tmp_path, dump=text)[0] >= {"A.b.0.forward"}


def weights_of(path: Any) -> Any:
    """Names of the tensors of a file that can be read."""
    file = open_weights(path)
    sendable([(weight.name, weight.dtype, weight.shape, weight.size) for weight in file.weights])
    readable = set()
    for weight in file.weights:
        try:
            file.read(weight.name)
            readable.add(weight.name)
        except UnreadableError as error:
            sendable(str(error))
    return readable


@MANY
@given(TEXTS, ODD, st.sampled_from(["name", "entry", "dtype", "shape", "data_offsets", "metadata"]))
def test_any_value_in_a_safetensors_header(tmp_path: Path, name: Any, value: Any, field: Any) -> None:
    good = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    head = {"bad": {**good, field: value}} if field in good else {name: good} if field == "name" else {}
    head |= (
        {"bad": value} if field == "entry" else {"__metadata__": {name: value}} if field == "metadata" else {}
    )
    text = json.dumps({**head, "good": good}).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
    assert "good" in weights_of(tmp_path / "a.safetensors")


class Persistent(pickle.Pickler):
    """A pickler that writes storages and rebuilt tensors as PyTorch does, without PyTorch."""

    def persistent_id(self, value: Any) -> Any:
        return value[1] if isinstance(value, tuple) and value[:1] == ("pid",) else None


@MANY
@given(st.one_of(TEXTS.filter(str.isprintable), st.integers(), st.sampled_from([10**400, 1 << 70])), ODD)
def test_any_key_and_value_beside_the_tensors_of_a_checkpoint(tmp_path: Path, key: Any, value: Any) -> None:
    source = Path(__file__).parents[2] / "data" / "weights" / "state.pt"
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    description = next(name for name in members if name.endswith("/data.pkl"))
    before = weights_of(source)
    try:
        odd = pickle.dumps((key, value), 2)[2:-1]
    except UnicodeEncodeError:  # pickles hold no lone surrogates in this protocol
        odd = pickle.dumps((str(key).encode("utf-8", "replace"), 1), 2)[2:-1]
    members[description] = members[description][:-1] + odd + b"\x86."  # a pair of both
    with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert {name.removeprefix("0.") for name in weights_of(tmp_path / "a.pt")} >= before


@pytest.mark.parametrize("tag", [b"\xff\xfe", b"\0", b"a\nb", b"x" * 100_000, "\u202e".encode()])
def test_any_name_of_a_parameter(tmp_path: Path, tag: Any) -> None:
    def field(number: Any, content: Any) -> Any:
        return bytes([number << 3 | 2]) + varint(len(content)) + content

    def varint(value: Any) -> Any:
        return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)

    tensor = b"\x08\x01" + field(2, b"Float32") + field(3, bytes(4))
    values = [field(1, field(1, name) + field(2, tensor)) for name in (tag, b"good")]
    (tmp_path / "a.ckpt").write_bytes(b"".join(values))
    weights = weights_of(tmp_path / "a.ckpt")
    assert len(weights) == 2
    assert "good" in weights


@MANY
@given(st.integers(0, 11), st.one_of(TEXTS, NUMBERS.map(str), st.just(HUGE)))
def test_any_cell_of_a_table_of_statistics(tmp_path: Path, column: Any, value: Any) -> None:
    folder = tmp_path / "rank_0" / "Net" / "0" / "0"
    folder.mkdir(parents=True, exist_ok=True)
    heads = (
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Zero Count"
    )
    row = ["Add", "good-op1", "0", "0", "1700000000000000", "output", "0", "4", "float32", "(1)", "1.5", "0"]
    bad = ["Mul", "bad-op2", *row[2:]]
    bad[column] = '"' + value.encode("utf-8", "replace").decode().replace('"', '""') + '"'
    text = "\n".join([heads, ",".join(row), ",".join(bad), ",".join(row).replace("op1", "op3"), ""])
    (folder / "statistic.csv").write_text(text, encoding="utf-8", newline="")
    dump = open_dump(tmp_path)
    listed = list_tensors(dump, 0, 0)
    sendable([entry._asdict() for entry in listed])
    assert {"good-op1", "good-op3"} <= {entry.operator for entry in listed}


def test_names_of_files_that_are_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "rank_0" / "Net" / "0" / "0"
    folder.mkdir(parents=True)
    for name in (b"Add.\xff\xfe-op1", b"Add.a\nb-op2", b"Add.\xe2\x80\xae-op3", b"Add.good-op4"):
        path = os.fsencode(folder) + b"/" + name + b".0.0.1700000000000000.output.0.DefaultFormat.npy"
        with open(path, "wb") as file:  # noqa: PTH123
            np.save(file, np.ones(2))
    listed = list_tensors(open_dump(tmp_path), 0, 0)
    assert len(listed) == 4
    sendable([entry._replace(ref=None)._asdict() for entry in listed])
    assert any(damage.reason == "dump.name_not_text" for damage in listed.damage)


@given(st.one_of(TEXTS, st.binary()))
def test_shown_texts_can_be_encoded_and_names_are_one_line(value: Any) -> None:
    show_text(value).encode()
    shown = show_name(value)
    assert len(shown) <= 4 * MAX_NAME + 10
    assert len(shown.splitlines()) <= 1 or "\u2028" in shown or "\u2029" in shown
    assert show_name(shown) == shown or len(shown) > MAX_NAME


@given(st.integers())
def test_integers_keep_their_value_as_far_as_they_can(value: Any) -> None:
    shown = show_integer(value)
    assert shown == (value if -(1 << 63) <= value < 1 << 63 else float(value))
    assert parse_integer(str(value)) == shown


def test_integers_beyond_floats_are_told_by_their_digits() -> None:
    assert parse_integer("-" + HUGE) == "an integer of 5000 digits"
    assert show_integer(10**400) == "an integer of 1329 bits"


@given(ODD)
def test_json_comes_back_as_it_was_but_for_what_cannot_be_sent(value: Any) -> None:
    sendable(parse_json(json.dumps({"a": value, "b": 1})))
    assert parse_json(json.dumps([value, "b"]))[1] == "b"
