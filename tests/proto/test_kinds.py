"""The table of kinds against the messages it describes."""

from pathlib import Path

import pytest

from mindinsight.proto.kinds import EXACT_SCALAR, KINDS, LINEAGE_FIELDS, DataKind
from mindinsight.proto.lineage_pb2 import LineageEvent
from mindinsight.proto.summary_pb2 import Event, Summary

MESSAGES = {"Summary.Value": Summary.Value.DESCRIPTOR, "Event": Event.DESCRIPTOR}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.number], ids=lambda kind: kind.name)
def test_a_kind_is_a_field_of_its_message(kind: DataKind) -> None:
    field = MESSAGES[kind.message].fields_by_number[kind.number]
    assert field.name == kind.field
    is_message = field.type == field.TYPE_MESSAGE
    assert kind.storage == ("payload" if is_message else "column")


def test_every_field_with_a_value_is_in_the_table() -> None:
    (values,) = MESSAGES["Summary.Value"].oneofs
    assert {field.name for field in values.fields} == {
        kind.field for kind in KINDS if kind.number and kind.message == "Summary.Value"
    }
    assert MESSAGES["Summary.Value"].fields_by_name["exact_scalar"].number == EXACT_SCALAR


def test_names_and_fields_occur_once() -> None:
    assert (
        len({kind.name for kind in KINDS})
        == len({(kind.message, kind.number) for kind in KINDS})
        == len(KINDS)
    )


def test_what_add_value_takes_is_said_in_the_documents() -> None:
    document = (Path(__file__).parents[2] / "docs" / "writer.md").read_text()
    for kind in KINDS:
        assert bool(kind.takes) == kind.in_add_value
        if kind.takes:
            (row,) = [
                line for line in document.splitlines() if line.startswith("| `") and f"`{kind.name}`" in line
            ]
            assert row.endswith(f"| {kind.takes} |")


def test_a_key_is_what_protobuf_writes() -> None:
    scalar = next(kind for kind in KINDS if kind.name == "scalar")
    assert Summary.Value(scalar_value=1.0).SerializeToString()[0] == scalar.key
    alert = next(kind for kind in KINDS if kind.name == "alert")
    first = Event(alert={"title": "a"}).SerializeToString()[:2]
    assert first[0] & 0x7F | first[1] << 7 == alert.key


def test_lineage_messages_are_fields_of_their_event() -> None:
    fields = {field.number: field.name for field in LineageEvent.DESCRIPTOR.fields}
    assert [fields[number] for number in LINEAGE_FIELDS.values()] == [
        "train_lineage",
        "evaluation_lineage",
        "dataset_graph",
        "user_defined_info",
    ]
