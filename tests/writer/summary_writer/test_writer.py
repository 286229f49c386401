"""SummaryWriter in TensorBoard's format beside what TensorBoard reads of torch's files; calls of both."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import GraphBuilder, SummaryWriter
from mindinsight.writer.summary_writer.writer import (
    check_trial,
    picture_batch,
    pictures_of_figures,
    video_frames,
    with_boxes,
)
from tests.writer.summary_writer.calls import calls, record_tensors
from tests.writer.tensorboard_messages import events, parse, read

# Made by tests/interop/summary_writer_in_torch.py: torch 2.13 wrote, tensorboard 2.21 read.
TORCH = Path(__file__).parents[2] / "data/writer/summary_writer/torch_reading.json"


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_files_hold_what_tensorboard_reads_of_torchs(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        calls(writer, np.asarray)
        record_tensors(writer, np.asarray)
    expected, written = json.loads(TORCH.read_text()), plain(read(tmp_path))
    assert written.keys() == expected.keys()
    for run, tags in expected.items():
        assert written[run] == tags, run


def test_a_restart_is_marked_once(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, purge_step=7, format="tensorboard") as writer:
        writer.add_scalar("loss", 1, 7)
        writer.close()
        writer.add_scalar("loss", 2, 8)
    marked = [
        (event.step, event.session_log.status) for event in events(tmp_path) if event.HasField("session_log")
    ]
    assert marked == [(7, 1)]
    assert read(tmp_path)["."]["loss"] == [[7, "scalar", 1.0], [8, "scalar", 2.0]]


@pytest.mark.parametrize(("error", "marks"), [(None, [2]), (RuntimeError("out of memory"), [])])
def test_a_session_stops_unless_an_error_ended_it(
    tmp_path: Path, records_of: Any, error: Any, marks: Any
) -> None:
    with suppress(RuntimeError), SummaryWriter(tmp_path, format="tensorboard") as writer:
        writer.add_scalar("loss", 1, 1)
        if error:
            raise error
    (path,) = tmp_path.iterdir()
    messages = [parse("Event", record) for record in records_of(path)[0]]
    assert [event.session_log.status for event in messages if event.HasField("session_log")] == marks


def test_a_graph_is_drawn_with_its_scopes(tmp_path: Path) -> None:
    builder = GraphBuilder("net")
    weight = builder.parameter("layer.weight", [3, 4], "float32")
    with builder.scope("layer-Linear"):
        node = builder.node("MatMul", [weight], [2, 4], "float32", {"transpose": True})
    builder.output(node)
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        writer.add_graph(builder)
    (event,) = events(tmp_path)
    nodes = {node.name: node for node in parse("GraphDef", event.graph_def).node}
    (name,) = nodes.keys() - {"layer/weight"}
    assert "layer-Linear" in name.split("/")
    assert list(nodes[name].input) == ["layer/weight"]
    attributes = {entry.key: entry.value for entry in nodes[name].attr}
    assert [dim.size for dim in attributes["_output_shapes"].list.shape[0].dim] == [2, 4]
    assert attributes["attr"].s == b"transpose: True"


def test_the_directory_has_a_default_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_small") as writer:
        writer.add_scalar("loss", 1)
        assert Path(writer.get_logdir()).parent == Path("runs")
        assert writer.log_dir.endswith("_small")
    assert list(Path(writer.log_dir).iterdir())


@pytest.mark.parametrize("chosen", ["mindinsight", "tensorboard"])
def test_a_later_value_opens_new_files(tmp_path: Path, chosen: Any) -> None:
    writer = SummaryWriter(tmp_path, format=chosen)
    writer.add_scalar("loss", 1, 1)
    writer.close()
    writer.flush()
    writer.add_scalar("loss", 2, 2)
    writer.close()
    writer.close()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("chosen", ["mindinsight", "tensorboard"])
def test_files_end_in_the_suffix(tmp_path: Path, chosen: Any) -> None:
    with SummaryWriter(tmp_path, filename_suffix=".worker-3", format=chosen) as writer:
        writer.add_scalar("loss", 1, 1)
    (path,) = tmp_path.iterdir()
    assert "worker" in path.name.rpartition(".")[2] or path.name.endswith(".worker-3")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"format": "onnx"}, ValueError, "mindinsight, tensorboard"),
        ({"purge_step": "5"}, TypeError, "step must be an int"),
        ({"flush_secs": 0}, ValueError, "flush_secs must be above zero"),
        ({"filename_suffix": "a/b"}, ValueError, "filename_suffix"),
        ({"filename_suffix": 3}, TypeError, "filename_suffix must be a str"),
    ],
)
def test_wrong_arguments_are_named(tmp_path: Path, arguments: Any, error: Any, words: Any) -> None:
    with pytest.raises(error, match=words):
        SummaryWriter(tmp_path, **arguments)


CURVE = [[1.0, 2.0]] * 6
WRONG = [
    ("add_scalar", ("", 1.0), ValueError, "not empty"),
    ("add_scalar", ("a", "one"), TypeError, "numbers"),
    ("add_scalar", ("a", [1.0, 2.0]), ValueError, "one element"),
    ("add_scalar", ("a", 1.0, "x"), ValueError, "global_step must be a number"),
    ("add_scalar", ("a", 1.0, float("nan")), ValueError, "global_step must be a number"),
    ("add_scalar", ("a", 1.0, 1 << 63), ValueError, "64 bits"),
    ("add_scalars", ("a", {"b": None}), TypeError, "numbers"),
    ("add_histogram", ("a", []), ValueError, "no element"),
    ("add_histogram", ("a", [1j]), TypeError, "complex"),
    ("add_histogram", ("a", [1.0], 0, "nonsense"), ValueError, "nonsense"),
    ("add_histogram_raw", ("a", 0, 1, 1, 1, 1, [1, 2], [1]), ValueError, "equally long"),
    ("add_histogram_raw", ("a", 0, 1, 1, 1, 1, [2, 1], [1, 1]), ValueError, "increase"),
    ("add_image", ("a", np.ones((2, 2))), ValueError, "does not fit"),
    ("add_image", ("a", np.ones((3, 2, 2)), 0, None, "CHH"), ValueError, "letters of NCHW"),
    ("add_image", ("a", np.ones((5, 2, 2))), ValueError, "1 to 4"),
    ("add_images", ("a", np.ones((0, 3, 2, 2))), ValueError, "none zero"),
    ("add_image", ("a", np.ones((3, 2, 2), complex)), TypeError, "complex"),
    ("add_image_with_boxes", ("a", np.ones((3, 9, 9)), [[1, 2, 3]]), ValueError, r"\[n, 4\]"),
    ("add_figure", ("a", "figure"), TypeError, "figure of matplotlib"),
    ("add_video", ("a", np.ones((3, 2, 2))), ValueError, r"\(N, T, C, H, W\)"),
    ("add_audio", ("a", np.ones((2, 5))), ValueError, "one row of samples"),
    ("add_audio", ("a", np.ones(5), 0, 0.5), ValueError, "sample_rate"),
    ("add_text", ("a", 3), TypeError, "must be a str"),
    ("add_pr_curve", ("a", [0, 1], [0.5]), ValueError, "equal lengths"),
    ("add_pr_curve", ("a", [0, 1], [0.5, 1.5]), ValueError, "within 0..1"),
    ("add_pr_curve", ("a", [0, 1], [0.5, 1.0], 0, 1), ValueError, "num_thresholds"),
    ("add_pr_curve_raw", ("a", *CURVE[:5], [1.0]), ValueError, "equal length"),
    ("add_custom_scalars", ([],), TypeError, "dict of categories"),
    ("add_custom_scalars", ({"a": {"b": ["Pie", ["x"]]}},), ValueError, "Multiline"),
    ("add_custom_scalars_marginchart", (["x"],), ValueError, "three tags"),
    ("add_hparams", ([], {}), TypeError, "hparam_dict must be a dict"),
    ("add_hparams", ({"a": object()}, {}), TypeError, "a number, a bool or text"),
    ("add_hparams", ({"a": 1}, {}, {"b": [1]}), ValueError, "unknown"),
]


@pytest.mark.parametrize("chosen", ["mindinsight", "tensorboard"])
def test_wrong_values_are_refused_in_words_and_nothing_is_lost(tmp_path: Path, chosen: Any) -> None:
    with SummaryWriter(tmp_path, format=chosen) as writer:
        writer.add_scalar("loss", 0.5, 1)
        for method, arguments, error, words in WRONG:
            with pytest.raises(error, match=words):
                getattr(writer, method)(*arguments)
        writer.add_scalar("loss", 0.25, 2)
        writer.flush()
        (path,) = tmp_path.iterdir()
        assert path.stat().st_size > 100


def test_what_has_no_page_is_left_out_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        for _ in range(2):
            writer.add_embedding(np.ones((3, 2)), metadata=["a", "b", "c"])
            writer.add_mesh("a", np.ones((1, 3, 3)))
            writer.add_onnx_graph("net.onnx")
        writer.add_scalar("loss", 0.25, 2)
    assert list(read(tmp_path)["."]) == ["loss"]
    advice = [record.getMessage().partition("; ")[2] for record in caplog.records]
    assert [text.split(" ")[-3:] for text in advice] == [
        ["add", "torch's", "writer"],
        ["add", "torch's", "writer"],
        ["itself", "with", "add_graph"],
    ]


def test_steps_may_be_any_number(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        for step in (np.int32(3), 4.0, np.array(5), None):
            writer.add_scalar("loss", 1, step)
    assert [step for step, *_ in read(tmp_path)["."]["loss"]] == [3, 4, 5, 0]


def test_what_lies_beyond_all_edges_is_counted(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        writer.add_histogram("large", np.array([1.0, 1e30, -1e30, np.inf, -np.inf, np.nan]), 1)
        writer.add_histogram("nothing finite", np.array([np.nan, np.nan]), 1)
    tags = read(tmp_path)["."]
    (large,) = tags["large"]
    assert sum(large[-1]) == 5
    assert large[4] == 6.0, "NaN counts as an element"
    assert sum(tags["nothing finite"][0][-1]) == 0


def test_types_keep_their_bits(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        writer.add_tensor("half", np.arange(4, dtype=np.float16), 1)
        writer.add_tensor("byte", np.arange(4, dtype=np.uint8), 1)
        writer.add_tensor("number", np.float32(3), 1)
    (half,), (byte,), (number,) = (
        [event.summary.value[0].tensor for event in events(tmp_path) if event.summary.value[0].tag == tag]
        for tag in ("half", "byte", "number")
    )
    assert (half.dtype, half.content) == (19, np.arange(4, dtype="<f2").tobytes())
    assert (byte.dtype, byte.content) == (4, bytes(range(4)))
    assert not number.shape.dim and number.content == np.float32(3).tobytes()


def test_booleans_are_booleans(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        writer.add_hparams({"shuffle": True}, {"m": 1.0}, run_name="trial", global_step=1)
    ((_, _, content),) = read(tmp_path)["trial"]["_hparams_/session_start_info"]
    assert content[2] == {"shuffle": True}


def test_frames_of_a_video_are_one_picture(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        writer.add_video("v", np.zeros((2, 10, 3, 4, 5)), 1)
    ((_, kind, width, height, *_),) = read(tmp_path)["."]["v"]
    assert (kind, width, height) == ("image", 8 * 2 * 5, 2 * 4)


def test_the_array_may_be_changed_at_once(tmp_path: Path) -> None:
    values = np.zeros((3, 4, 4), np.uint8)
    with SummaryWriter(tmp_path, format="tensorboard") as writer:
        writer.add_image("i", values, 1)
        writer.add_image("j", values.copy(), 1)
        values[:] = 255
    tags = read(tmp_path)["."]
    assert tags["i"] == tags["j"]


def test_values_are_plain_and_none_is_left_out() -> None:
    parameters = {"lr": np.float32(0.5), "n": np.array([3]), "bn": np.bool_(True), "opt": "sgd", "x": None}
    result = check_trial(parameters, {"acc": np.array(0.75)}, {"n": [1, np.int64(3)]}, "run")
    assert result.parameters == {"lr": 0.5, "n": 3, "bn": True, "opt": "sgd"}
    assert [type(value) for value in result.parameters.values()] == [float, int, bool, str]
    assert (dict(result.metrics), dict(result.domains)) == ({"acc": 0.75}, {"n": [1, 3]})


@pytest.mark.parametrize(
    ("parameters", "metrics", "domains", "error", "words"),
    [
        ([], {}, None, TypeError, "hparam_dict must be a dict"),
        ({}, 1, None, TypeError, "metric_dict must be a dict"),
        ({"layers": [1, 2]}, {}, None, TypeError, "'layers' must be a number"),
        ({"z": np.complex64(1)}, {}, None, TypeError, "'z' must be a number"),
        ({"a": 1}, {}, {"a": [1], "b": [1]}, ValueError, "unknown hyper-parameters: b"),
    ],
)
def test_what_is_no_value_is_named(
    parameters: Any, metrics: Any, domains: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        check_trial(parameters, metrics, domains, None)


@pytest.mark.parametrize("layout", ["CHW", "HWC", "hwc", "NHWC", "WHNC", "HW"])
def test_axes_are_put_in_order(layout: str) -> None:
    sizes = {"N": 2, "C": 3, "H": 4, "W": 5}
    letters = layout.upper()
    values = np.arange(np.prod([sizes[axis] for axis in letters]), dtype=np.uint8)
    array = values.reshape([sizes[axis] for axis in letters])
    result = picture_batch(array, layout)
    assert result.shape == tuple(sizes[axis] if axis in letters else 1 for axis in "NCHW")
    index = {axis: size - 1 for axis, size in sizes.items()}
    assert result[-1, -1, -1, 0] == array[tuple(0 if axis == "W" else index[axis] for axis in letters)]


def test_bytes_stay_and_all_else_is_scaled_and_cut() -> None:
    values = np.array([[0.0, 0.5, 1.0, 2.0, -1.0, np.nan, np.inf]])
    assert picture_batch(values, "HW").ravel().tolist() == [0, 127, 255, 255, 0, 0, 255]
    assert picture_batch(np.array([[0, 128]], np.uint8), "HW").ravel().tolist() == [0, 128]


@pytest.mark.parametrize(
    ("array", "layout", "error"),
    [
        (np.zeros((2, 2)), "CHW", ValueError),
        (np.zeros((2, 2)), "HH", ValueError),
        (np.zeros((2, 2)), "NC", ValueError),
        (np.zeros((2, 2, 2)), "HWX", ValueError),
        (np.zeros((2, 2), complex), "HW", TypeError),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(array: Any, layout: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        picture_batch(array, layout)


def test_videos_lie_side_by_side_in_each_frame() -> None:
    video = np.zeros((2, 3, 1, 4, 5), np.uint8)  # (N, T, C, H, W)
    video[1] = 9
    pictures = video_frames(video)
    assert pictures.shape == (3, 1, 4, 10)
    assert (pictures[..., :5].max(), pictures[..., 5:].min()) == (0, 9)
    for shape in ((3, 1, 4, 5), (1, 0, 1, 4, 5)):
        with pytest.raises(ValueError, match="a video is an array"):
            video_frames(np.zeros(shape))


def test_boxes_are_red_and_the_picture_is_scaled() -> None:
    black = np.zeros((1, 1, 20, 30), np.uint8)
    picture = with_boxes(black, np.array([[5, 5, 15, 15]]), None, 1)[0]
    assert picture.shape == (3, 20, 30)
    assert picture[:, 5, 10].tolist() == [255, 0, 0]
    assert picture[:, 10, 10].tolist() == [0, 0, 0]
    assert with_boxes(black, np.zeros((0, 4)), None, 0.5).shape == (1, 3, 10, 15)
    with pytest.raises(ValueError, match="leaves nothing"):
        with_boxes(black, np.zeros((0, 4)), None, 0.01)
    with pytest.raises(ValueError, match="boxes are an array"):
        with_boxes(black, np.zeros(4), None, 1)


def test_no_figures_and_what_is_no_figure_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        pictures_of_figures([], close=False)
    with pytest.raises(TypeError, match="got int"):
        pictures_of_figures([1], close=False)
