"""Records whose checksums are right, the damage between them, and what is waited for at the end."""

from mindinsight.proto.framing import encode_record
from mindinsight.server.formats.events.records import verified_records
from mindinsight.server.types import Damage

FIRST, SECOND, THIRD = (encode_record(text) for text in (b"first", b"second one", b"3"))


def flipped(record: bytes) -> bytes:
    return record[:12] + bytes([record[12] ^ 1]) + record[13:]


def test_payloads_are_those_that_were_framed() -> None:
    data = FIRST + SECOND + THIRD
    records = verified_records(data, at_end=True)
    assert records.payloads(data) == [b"first", b"second one", b"3"]
    assert (records.damage, records.end) == ((), len(data))


def test_a_wrong_body_is_damage_and_its_neighbours_are_read() -> None:
    data = FIRST + flipped(SECOND) + THIRD
    records = verified_records(data, at_end=True)
    assert records.payloads(data) == [b"first", b"3"]
    assert records.damage == (Damage(len(FIRST), len(SECOND), "damage.body_crc"),)


def test_a_record_cut_short_is_waited_for() -> None:
    data = FIRST + SECOND[:-1]
    for at_end in (False, True):
        records = verified_records(data, at_end)
        assert (records.payloads(data), records.damage, records.end) == ([b"first"], (), len(FIRST))


def test_zeros_at_the_end_are_space_that_is_not_written_yet() -> None:
    data = FIRST + SECOND[:14] + bytes(100)
    records = verified_records(data, at_end=True)
    assert (records.payloads(data), records.damage, records.end) == ([b"first"], (), len(FIRST))


def test_the_last_records_can_be_left_for_later() -> None:
    data = FIRST + SECOND + flipped(THIRD)
    records = verified_records(data, at_end=False).without_last(1)
    assert records.payloads(data) == [b"first"]
    assert (records.damage, records.end) == ((), len(FIRST))
