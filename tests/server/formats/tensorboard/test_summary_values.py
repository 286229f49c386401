"""TensorBoard's event files through the whole index: sessions, damage, metadata that comes once."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindinsight
from mindinsight.proto.framing import encode_record, masked_crc
from mindinsight.server.formats.events import decode
from mindinsight.server.formats.payloads.histogram_payloads import histograms
from mindinsight.server.formats.payloads.media_payloads import Sound, image, sound
from mindinsight.server.formats.payloads.tensor_payloads import tensor
from mindinsight.server.formats.tensorboard import TENSORBOARD

RUNS = Path(__file__).parents[3] / "data" / "tfevents" / "runs"
NAME = "events.out.tfevents.1700000000.host.1.0"


def opened(folder: Path) -> Any:
    return mindinsight.open(folder.parent).run("./run")


def test_a_session_that_starts_overwrites_what_is_above_its_first_step(tf: Any, folder: Path) -> None:
    rows = [tf.record(step, tf.scalar("loss", step)) for step in range(10)]
    again = [tf.record(step, tf.scalar("loss", 100 + step)) for step in (4, 5)]
    other = tf.record(3, tf.scalar("other", 1))
    (folder / NAME).write_bytes(b"".join([*rows, other, tf.session(4), *again]))
    run = opened(folder)
    loss = run.scalars["loss"]
    assert loss.line().steps.tolist() == [0, 1, 2, 3, 4, 5]
    assert loss.line().values.tolist() == [0, 1, 2, 3, 104, 105]
    assert (loss.last_step, loss.last_value) == (5, 105)
    assert loss.recorded().overwritten.tolist() == [False] * 4 + [True] * 6 + [False] * 2
    assert run.scalars["other"].line().steps.tolist() == [3]


def test_steps_that_go_back_without_a_session_take_their_place_in_the_order(tf: Any, folder: Path) -> None:
    rows = [tf.record(step, tf.scalar("loss", number)) for number, step in enumerate([0, 5, 9, 3, 5])]
    (folder / NAME).write_bytes(b"".join(rows))
    line = opened(folder).scalars["loss"].line()
    assert (line.steps.tolist(), line.values.tolist()) == ([0, 3, 5, 9], [0, 3, 4, 2])


@pytest.mark.parametrize("step", [0, -1, -(2**63), 2**63 - 1, None])
def test_any_step_is_kept(tf: Any, folder: Path, step: int) -> None:
    (folder / NAME).write_bytes(tf.record(step, tf.scalar("loss", 1)))
    assert opened(folder).scalars["loss"].line().steps.tolist() == [step or 0]


def test_a_damaged_record_costs_itself_only(tf: Any, folder: Path) -> None:
    records = [tf.record(step, tf.scalar("loss", step)) for step in range(200)]
    flipped = bytearray(records[50])
    flipped[20] ^= 1
    records[50] = bytes(flipped)
    length = struct.pack("<Q", 1 << 40)
    records[60] = length + struct.pack("<I", masked_crc(length)) + b"?" * 40
    records[70] = encode_record(b"\x0a\xff")
    (folder / NAME).write_bytes(b"".join(records))
    run = opened(folder)
    assert run.scalars["loss"].line().steps.tolist() == [n for n in range(200) if n not in (50, 60, 70)]
    assert [part.reason for part in run.files[0].damage] == [
        "damage.body_crc",
        "damage.length",
        "damage.unparsable",
    ]


def test_a_tag_that_is_not_text_is_shown_as_text(tf: Any, folder: Path) -> None:
    value = tf.field(1, b"l\xffss") + b"\x15" + struct.pack("<f", 1)
    (folder / NAME).write_bytes(tf.record(1, value))
    assert list(opened(folder).scalars) == ["l\\xffss"]


def test_files_of_both_formats_in_a_folder_are_one_run(tf: Any, folder: Path) -> None:
    (folder / NAME).write_bytes(tf.record(1, tf.scalar("theirs", 1)))
    with mindinsight_writer(folder) as record:
        record.add_value("scalar", "ours", np.float32(2))
        record.record(1)
    assert sorted(opened(folder).scalars) == ["ours", "theirs"]


def mindinsight_writer(folder: Path) -> Any:
    from mindinsight.writer.record import SummaryRecord

    return SummaryRecord(str(folder))


def test_what_a_tensor_is_stays_known_when_the_file_grows(tf: Any, folder: Path) -> Any:
    triples = np.array([[0, 1, 3], [1, 2, 5]], "<f8").tobytes()

    def value(plugin: Any) -> Any:
        return tf.tensor("weights", 2, (2, 3), tf.field(4, triples), plugin=plugin)

    (folder / NAME).write_bytes(tf.record(0, value(tf.plugin("histograms"))) + tf.record(1, value(b"")))
    summary = mindinsight.open(folder.parent)
    with (folder / NAME).open("ab") as file:
        file.write(tf.record(2, value(b"")))
    summary.refresh()
    series = summary.run("./run").references["histogram"]["weights"]
    assert series.steps.tolist() == [0, 1, 2]
    assert histograms([series.read(2)]).counts.tolist() == [3, 5]


@pytest.mark.parametrize(
    ("dtype", "content", "number"),
    [
        (1, struct.pack("<f", 1.5), 1.5),
        (2, struct.pack("<d", 1 / 3), 1 / 3),
        (3, struct.pack("<i", -7), -7),
        (9, struct.pack("<q", 1 << 40), 1 << 40),
        (10, b"\1", 1),
        (14, b"\xc0\x3f", 1.5),
        (19, struct.pack("<e", 0.5), 0.5),
    ],
)
def test_a_tensor_of_one_number_is_a_scalar_whatever_its_type(
    tf: Any, folder: Path, dtype: Any, content: Any, number: Any
) -> None:
    lists = {1: 5, 2: 6}
    values = [tf.tensor("loss", dtype, (), tf.field(4, content), plugin=tf.plugin("scalars"))]
    values += [tf.tensor("packed", dtype, (), tf.field(lists[dtype], content))] if dtype in lists else []
    (folder / NAME).write_bytes(tf.record(3, *values))
    for series in opened(folder).scalars.values():
        assert series.line().values.tolist() == [number]


def test_tensors_of_one_number_are_read_in_columns_as_one_by_one(tf: Any) -> None:
    """Records of one shape become a matrix; the few beside them do not."""
    rng = np.random.default_rng(1)
    numbers = rng.standard_normal(300).astype(np.float32)
    scalars = tf.plugin("scalars")
    data = b"".join(
        tf.record(
            step, tf.tensor("loss", 1, (), tf.field(4, number.tobytes()), plugin=b"" if step else scalars)
        )
        for step, number in enumerate(numbers)
    )
    stretch = decode(data, 0, True, TENSORBOARD)
    (block,) = stretch.blocks
    assert block.steps.tolist() == list(range(300))
    assert np.array_equal(block.values[0], numbers)


def test_an_absent_number_is_zero(tf: Any, folder: Path) -> None:
    (folder / NAME).write_bytes(tf.record(1, tf.tensor("loss", 1, (), plugin=tf.plugin("scalars"))))
    assert opened(folder).scalars["loss"].line().values.tolist() == [0]


def test_a_short_list_of_values_goes_on_with_its_last(tf: Any, folder: Path) -> None:
    value = tf.tensor("w", 1, (2, 2), tf.field(5, struct.pack("<ff", 1, 2)))
    (folder / NAME).write_bytes(tf.record(1, value))
    series = opened(folder).references["tensor"]["w"]
    assert tensor(series.read(0)).values.tolist() == [[1, 2], [2, 2]]


def test_pictures_without_metadata_are_pictures(tf: Any, folder: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 7, 9)
    strings = [tf.field(8, text) for text in (b"7", b"9", png)]
    (folder / NAME).write_bytes(tf.record(1, tf.tensor("cat", 7, (3,), *strings)))
    picture = image(opened(folder).references["image"]["cat"].read(0))
    assert (picture.width, picture.height, picture.encoded) == (7, 9, png)


def test_a_session_log_of_a_stop_and_a_session_end_close_a_run(tf: Any, folder: Path) -> None:
    end = tf.field(1, b"_hparams_/session_end_info")
    for content, finished, failure in ((1, True, ""), (2, True, "STATUS_FAILURE"), (3, False, "")):
        plugin = tf.plugin("hparams", tf.field(4, tf.field(1, content)))
        (folder / NAME).write_bytes(tf.record(1, tf.scalar("loss", 1)) + tf.record(0, end + plugin))
        run = opened(folder)
        assert (run.finished, run.failure) == (finished, failure)
    (folder / NAME).write_bytes(tf.record(1, tf.scalar("loss", 1)) + tf.session(2, status=2))
    assert opened(folder).finished


def test_values_that_are_not_shown_are_counted_by_names_we_know(tf: Any, folder: Path) -> None:
    values = [tf.field(1, b"a") + tf.plugin(name) for name in ("mesh", "x" * 100, "")]
    (folder / NAME).write_bytes(tf.record(1, *values))
    assert dict(opened(folder).files[0].skipped) == {"mesh": 1, "plugin": 1, "unknown": 1}


@pytest.mark.parametrize("dtype", [0, 24, 1 << 62])
def test_a_number_of_a_type_we_do_not_know_is_counted(tf: Any, folder: Path, dtype: Any) -> None:
    value = tf.tensor("loss", dtype, (), tf.field(4, b"\x38"), plugin=tf.plugin("scalars"))
    (folder / NAME).write_bytes(tf.record(1, value, tf.scalar("other", 1)))
    run = opened(folder)
    assert list(run.scalars) == ["other"]
    assert dict(run.files[0].skipped) == {"unknown": 1}
    assert run.files[0].damage == ()


def test_what_no_page_draws_is_kept_apart() -> None:
    """A mesh is no tensor to look at, and a layout is one."""
    run = mindinsight.open(RUNS).run("./torch")
    assert run.references["other"].keys() == {"mesh_VERTEX"}
    assert run.references["layout"].keys() == {"custom_scalars__config__"}
    assert dict(run.files[0].skipped) == {}


def test_the_first_event_says_that_a_tag_is_not_drawn(tf: Any, folder: Path) -> None:
    first = tf.tensor("m", 1, (2,), tf.field(4, b"\0" * 8), plugin=tf.plugin("mesh"))
    later = tf.tensor("m", 1, (2,), tf.field(4, b"\0" * 8))
    words = tf.tensor("w", 7, (), tf.field(8, b"words"), plugin=tf.plugin("somebody's"))
    (folder / NAME).write_bytes(tf.record(0, first, words) + tf.record(1, later))
    references = opened(folder).references
    assert {tag: series.count for tag, series in references["other"].items()} == {"m": 2, "w": 1}
    assert "tensor" not in references


def test_sounds_keep_their_labels_and_several_of_one_step_are_tags(tf: Any, folder: Path) -> None:
    wave = b"RIFF\x04\0\0\0WAVE"
    strings = b"".join(tf.field(8, text) for text in (wave, b"*one*", wave + b"2" * 200, b""))
    value = tf.tensor("s", 7, (2, 2), strings, plugin=tf.plugin("audio"))
    legacy = tf.field(1, b"old") + tf.field(6, tf.field(2, 1) + tf.field(4, wave))
    (folder / NAME).write_bytes(tf.record(0, value, legacy))
    sounds = {tag: sound(series.read(0)) for tag, series in opened(folder).references["audio"].items()}
    assert sounds == {"s/0": Sound(wave, "*one*"), "s/1": Sound(wave + b"2" * 200), "old": Sound(wave)}


def test_a_scalar_of_shape_one_stays_in_the_line(tf: Any, folder: Path) -> None:
    number = tf.field(5, struct.pack("<f", 2.5))
    rows = [
        tf.record(0, tf.tensor("loss", 1, [], number, plugin=tf.plugin("scalars"))),
        *(
            tf.record(step, tf.tensor("loss", 1, shape, number))
            for step, shape in enumerate(([], [1], [1, 1], []), 1)
        ),
    ]
    (folder / NAME).write_bytes(b"".join(rows))
    run = opened(folder)
    assert run.scalars["loss"].line().steps.tolist() == [0, 1, 2, 3, 4]
    assert "tensor" not in run.references


def test_a_value_without_a_tag_has_the_name_of_its_node(tf: Any, folder: Path) -> None:
    def named(node: bytes, number: float) -> bytes:
        return tf.field(7, node) + b"\x15" + struct.pack("<f", number)

    rows = [tf.record(step, named(b"loss", step), named(b"lr", -step)) for step in range(40)]
    (folder / NAME).write_bytes(b"".join(rows))
    scalars = opened(folder).scalars
    assert sorted(scalars) == ["loss", "lr"]
    assert scalars["lr"].line().values.tolist() == [-step for step in range(40)]


@pytest.mark.parametrize(("number", "rounded"), [(2**53, 0), (2**53 + 1, 1), (2**62, 0), (-(2**53) - 1, 1)])
def test_an_integer_that_no_float_holds_is_counted(tf: Any, folder: Path, number: int, rounded: int) -> None:
    value = tf.tensor("tokens", 9, [], tf.field(10, number), plugin=tf.plugin("scalars"))
    (folder / NAME).write_bytes(tf.record(1, value))
    run = opened(folder)
    assert run.scalars["tokens"].last_value == float(number)
    assert dict(run.files[0].skipped).get("rounded_integer", 0) == rounded
