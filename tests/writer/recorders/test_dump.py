"""What a loop dumps is what our debugger's reader finds."""

import io
import json
import stat
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.proto import graph_pb2
from mindinsight.server.formats import dumps
from mindinsight.writer.arrays import HostArray
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import (
    Dump,
    DumpMetadata,
    Gap,
    Origin,
    cells,
    dump_settings,
    header,
    iteration_filter,
    origin_of,
)
from tests.narrowing import require

MATMUL = "Default/fc1-Dense/MatMul-op0"
RELU = "Default/fc1-Dense/ReLU-op0"


def graph() -> Any:
    built = GraphBuilder("MLP")
    with built.scope("fc1-Dense"):
        inputs = [built.parameter("x", (2, 3)), built.parameter("fc1.weight", (3, 3))]
        built.output(built.node("ReLU", [built.node("MatMul", inputs, (2, 3))], (2, 3)))
    return built


def write(path: Any, steps: Any, **options: Any) -> Any:
    """Two operators and a weight in each step; values tell step and place."""
    dump = Dump(path, net_name="MLP", **options)
    for number in range(steps):
        step = dump.iteration(number)
        x, weight = np.full((2, 3), number, np.float32), np.eye(3) * 2
        step.input(MATMUL, x)
        step.input(MATMUL, weight, 1)
        step.output(MATMUL, x @ weight)
        step.output(RELU, np.maximum(x @ weight, 0))
        step.parameter("fc1.weight", weight)
    return dumps.open_dump(path)


def test_the_reader_finds_every_tensor(tmp_path: Path) -> None:
    dump = write(tmp_path / "dump", 3, graph=graph())
    assert require(dumps.find_layout(tmp_path / "dump")).name == "sync"
    assert (dump.device, dump.task, dump.damage) == ("CPU", "full", ())
    assert [folder.step for folder in dump.folders] == [0, 1, 2]
    tensors = dumps.list_tensors(dump, 0, 2)
    assert tensors.damage == ()
    assert len(tensors.items) == 5
    read = [dumps.read_tensor(require(entry.ref)) for entry in tensors.items]
    assert read[0].tolist() == np.full((2, 3), 2).tolist()
    assert read[2].tolist() == np.full((2, 3), 4).tolist()


def test_operators_have_their_full_names_and_order(tmp_path: Path) -> None:
    dump = write(tmp_path / "dump", 1, graph=graph().serialised())
    operators = dumps.list_operators(dump, 0, 0)
    assert operators.damage == ()
    assert [operator.name for operator in operators.items][:2] == [MATMUL, RELU]


def test_only_the_iterations_asked_for_are_written(tmp_path: Path) -> None:
    dump = write(tmp_path / "dump", 8, iterations="0|3-5", rank=2)
    assert [(folder.rank, folder.step) for folder in dump.folders] == [(2, 0), (2, 3), (2, 4), (2, 5)]
    order = tmp_path / "dump" / "rank_2" / "execution_order" / "ms_global_execution_order_graph_0.csv"
    assert order.read_text() == "0\n3\n4\n5\n"


def test_a_row_of_statistics_belongs_to_each_file(tmp_path: Path) -> None:
    write(tmp_path, 1)
    folder = tmp_path / "rank_0" / "MLP" / "0" / "0"
    _, *rows = (folder / "statistic.csv").read_text().splitlines()
    starts = sorted(".".join(row.split(",")[:7]) for row in rows)
    files = sorted(path.name.partition(".DefaultFormat")[0] for path in folder.glob("*.npy"))
    assert starts == files
    assert {path.name.split(".")[-2] for path in folder.glob("*.npy")} == {"Float32", "Float64"}


def test_files_can_be_read_by_their_owner_alone(tmp_path: Path) -> None:
    write(tmp_path, 1)
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.rglob("*.npy")}
    assert modes == {0o400}
    assert (tmp_path / "rank_0" / "MLP").stat().st_mode & 0o777 == 0o700


def test_the_settings_are_those_of_a_run_of_mindspore(tmp_path: Path) -> None:
    write(tmp_path, 1, iterations="0-2")
    settings = json.loads((tmp_path / "rank_0" / ".dump_metadata" / "data_dump.json").read_text())
    common = settings["common_dump_settings"]
    assert (common["net_name"], common["iteration"], common["path"]) == ("MLP", "0-2", str(tmp_path))


def test_a_dump_says_which_framework_and_device_its_tensors_come_from(tmp_path: Path) -> None:
    numpy = write(tmp_path / "numpy", 1)
    assert (numpy.framework, numpy.version, numpy.device) == ("numpy", np.__version__, "CPU")
    tensor = type("Tensor", (TorchTensor,), {"__module__": "torch"})
    Dump(tmp_path / "torch").iteration(0).output(RELU, tensor())
    torch = dumps.open_dump(tmp_path / "torch")
    assert (torch.framework, torch.device) == ("pytorch", "GPU")


class TorchTensor:
    device, dtype, layout = SimpleNamespace(type="cuda"), "torch.float32", "torch.strided"

    def detach(self) -> Any:
        return self

    def numpy(self, force: Any) -> Any:
        return np.ones(2, np.float32)


def test_writing_again_adds_to_what_is_there(tmp_path: Path) -> None:
    write(tmp_path, 1)
    dump = write(tmp_path, 1)
    assert len(dumps.list_tensors(dump, 0, 0).items) == 10


def test_names_too_long_for_a_file_are_mapped(tmp_path: Path) -> None:
    name = "Default/" + "long-Scope/" * 40 + "MatMul-op0"
    step = Dump(tmp_path).iteration(0)
    step.output(name, np.ones(3))
    folder = tmp_path / "rank_0" / "Net" / "0" / "0"
    short, _, full = (folder / "mapping.csv").read_text().strip().partition(",")
    assert np.load(folder / short).tolist() == [1, 1, 1]
    assert full.startswith("MatMul.Default_long-Scope_")
    (entry,) = dumps.list_tensors(dumps.open_dump(tmp_path), 0, 0).items
    assert entry.type == "MatMul"


@pytest.mark.parametrize(
    "value", [np.arange(6, dtype=np.int32).reshape(2, 3).T, np.array(True), np.float16(0.5), [[1.5]]]
)
def test_any_shape_and_type_comes_back(tmp_path: Path, value: Any) -> None:
    Dump(tmp_path).iteration(0).output("Default/Op-op0", value)
    (entry,) = dumps.list_tensors(dumps.open_dump(tmp_path), 0, 0).items
    read = dumps.read_tensor(require(entry.ref))
    assert read.dtype == np.asarray(value).dtype
    assert np.array_equal(read, value)


def test_empty_tensors_have_no_place(tmp_path: Path) -> None:
    Dump(tmp_path).iteration(0).output("Default/Op-op0", np.zeros((0, 3)))
    assert list(tmp_path.rglob("*.npy")) == []


def test_complex_tensors_have_a_file_and_no_statistics(tmp_path: Path) -> None:
    Dump(tmp_path / "both").iteration(0).output("Default/Op-op0", np.array([1j]))
    (file,) = (tmp_path / "both").rglob("*.npy")
    assert np.load(file).tolist() == [1j]
    assert list(tmp_path.rglob("statistic.csv")) == []
    step = Dump(tmp_path / "statistics", saved_data="statistic").iteration(0)
    with pytest.raises(TypeError, match=r"'Default/Op-op0' holds complex numbers"):
        step.output("Default/Op-op0", np.array([1j]))


def test_files_or_rows_or_both_are_saved(tmp_path: Path) -> None:
    cases: list[tuple[Any, int, int]] = [("tensor", 1, 0), ("statistic", 0, 1), ("full", 1, 1)]
    for saved, files, rows in cases:
        dump = Dump(tmp_path / saved, saved_data=saved, statistic_category=["l2norm", "max"])
        dump.iteration(0).output("Default/Op-op0", np.array([3.0, 4.0]))
        assert len(list((tmp_path / saved).rglob("*.npy"))) == files
        tables = list((tmp_path / saved).rglob("statistic.csv"))
        assert len(tables) == rows
        for table in tables:
            head, row, _ = table.read_text().split("\n")
            assert head.endswith(",Shape,L2Norm Value,Max Value")
            assert row.endswith(',"[2]",5,4,')


def test_the_settings_given_are_kept_as_they_are(tmp_path: Path) -> None:
    Dump(tmp_path, settings='{"common_dump_settings": {}}\n')
    text = (tmp_path / "rank_0" / ".dump_metadata" / "data_dump.json").read_text()
    assert text == '{"common_dump_settings": {}}\n'


@pytest.mark.parametrize(
    "options", [{"iterations": "1,2"}, {"iterations": ""}, {"iterations": "5-3"}, {"net_name": "a/b"}]
)
def test_what_the_layout_cannot_have_is_refused(tmp_path: Path, options: Any) -> None:
    with pytest.raises(ValueError, match="iterations|net_name" if "net_name" not in options else "a/b"):
        Dump(tmp_path, **options)


@pytest.mark.parametrize(
    ("text", "meant"), [("all", range(12)), ("3", [3]), ("0|10-11", [0, 10, 11]), ("4-4", [4])]
)
def test_iterations_are_numbers_and_ranges(text: str, meant: Any) -> None:
    assert [number for number in range(12) if iteration_filter(text)(number)] == list(meant)


@pytest.mark.parametrize("text", ["5-3", "0|9-8", "1,2", "", "-3", "three"])
def test_a_text_that_selects_nothing_or_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="iterations"):
        iteration_filter(text)


def test_settings_name_the_network_and_the_iterations(tmp_path: Path) -> None:
    settings = dump_settings(tmp_path, "Net-1_a", "0|3")["common_dump_settings"]
    assert (settings["path"], settings["net_name"], settings["iteration"]) == (
        str(tmp_path),
        "Net-1_a",
        "0|3",
    )


@pytest.mark.parametrize("name", ["", "a/b", "..", "网", "a b"])
def test_a_name_that_could_leave_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="net_name"):
        dump_settings(tmp_path, name, "all")


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (Origin("mindspore", "2.3.1", "CPU"), {"device_target": "CPU", "ms_version": "2.3.1"}),
        (
            Origin("pytorch", "2.9.0", "GPU"),
            {"device_target": "GPU", "framework": "pytorch", "framework_version": "2.9.0"},
        ),
    ],
)
def test_an_origin_is_written_once_and_for_reading(
    tmp_path: Path, origin: Origin, expected: dict[str, str]
) -> None:
    metadata = DumpMetadata(tmp_path, 0)
    metadata.origin(origin)
    metadata.origin(Origin("jax", "1", "TPU"))
    path = tmp_path / ".dump_metadata" / "config.json"
    assert json.loads(path.read_text()) == expected
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


def test_a_graph_has_the_order_of_its_operators_and_iterations_are_added(tmp_path: Path) -> None:
    model = graph_pb2.ModelProto(ir_version=3)
    for name in ("Default/a-op0", "", "Default/b-op1"):
        model.graph.node.add(full_name=name)
    metadata = DumpMetadata(tmp_path, 2)
    metadata.graph(model.SerializeToString())
    metadata.add_iteration(0)
    metadata.add_iteration(7)
    written = graph_pb2.ModelProto.FromString(
        (tmp_path / "graphs" / "ms_output_trace_code_graph_2.pb").read_bytes()
    )
    assert written.graph == model.graph and not written.HasField("ir_version")
    order = tmp_path / "execution_order"
    assert (order / "ms_execution_order_graph_2.csv").read_text().splitlines()[1:] == [
        "Default/a-op0",
        "Default/b-op1",
    ]
    assert (order / "ms_global_execution_order_graph_2.csv").read_text() == "0\n7\n"


def test_a_graph_that_changes_is_written_beside_the_first(tmp_path: Path) -> None:
    first, other = (
        graph_pb2.ModelProto(graph=graph_pb2.GraphProto(node=[graph_pb2.NodeProto(full_name=name)]))
        for name in ("Default/a-op0", "Default/b-op0")
    )
    metadata = DumpMetadata(tmp_path, 0)
    for iteration, model in enumerate((first, first, other, other, first)):
        metadata.graph(model.SerializeToString(), iteration)
    DumpMetadata(tmp_path, 0).graph(first.SerializeToString())  # a later dump without iterations
    written = {
        path.name.removeprefix("ms_execution_order_graph_0"): path.read_text().splitlines()[1:]
        for path in (tmp_path / "execution_order").iterdir()
    }
    assert written == {
        ".csv": ["Default/a-op0"],
        "_iteration_2.csv": ["Default/b-op0"],
        "_iteration_4.csv": ["Default/a-op0"],
    }


def test_a_step_says_which_parameters_require_a_gradient(tmp_path: Path) -> None:
    step = Dump(tmp_path / "dump").iteration(4)
    step.parameter("fc.weight", np.ones(2))
    step.parameter("fc.bias", np.ones(2))
    step.requires_grad({"fc.weight": False})
    dump = dumps.open_dump(tmp_path / "dump")
    arguments = {operator.recorded: operator.arguments for operator in dumps.list_operators(dump, 0, 4).items}
    assert arguments == {"fc_weight": (("requires_grad", "False"),), "fc_bias": ()}
    assert not dumps.list_tensors(dump, 0, 4).damage
    Dump(tmp_path / "none", iterations="5").iteration(4).requires_grad({"fc.weight": True})
    assert not (tmp_path / "none" / "rank_0" / "Net").exists()


def test_what_is_missing_in_a_dump_is_added_once(tmp_path: Path) -> None:
    metadata = DumpMetadata(tmp_path, 0)
    metadata.not_recorded([])
    path = tmp_path / ".dump_metadata" / "not_recorded.json"
    assert not path.exists()
    for _ in range(2):
        metadata.not_recorded([Gap("compiled", ("conv1",))])
    metadata.not_recorded([Gap("limit", count=3, iterations=(5,))])
    compiled, limit = json.loads(path.read_text())
    assert (compiled["kind"], compiled["names"], compiled["iterations"]) == ("compiled", ["conv1"], [])
    assert (limit["kind"], limit["count"], limit["iterations"]) == ("limit", 3, [5])


def tensor_of(module: Any, **attributes: Any) -> Any:
    return type("Tensor", (), {"__module__": module, **attributes})()


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def load(name: Any, version: Any, **attributes: Any) -> None:
        module = ModuleType(name)
        vars(module).update(attributes, __version__=version)
        monkeypatch.setitem(sys.modules, name, module)

    return load


@pytest.mark.parametrize(
    ("type_", "device"), [("cpu", "CPU"), ("cuda", "GPU"), ("npu", "Ascend"), ("xpu", "XPU")]
)
def test_a_pytorch_tensor_knows_its_device(loaded: Callable[..., Any], type_: str, device: str) -> None:
    loaded("torch", "2.13.0+cpu")
    value = tensor_of("torch", device=SimpleNamespace(type=type_))
    assert origin_of(value) == Origin("pytorch", "2.13.0", device)


def test_a_parameter_of_a_users_class_counts_for_what_it_derives_from(loaded: Callable[..., Any]) -> None:
    loaded("torch", "2.13.0")
    base = type("Tensor", (), {"__module__": "torch", "device": SimpleNamespace(type="cpu")})
    assert origin_of(type("Mine", (base,), {"__module__": "mine"})()).framework == "pytorch"


def test_a_mindspore_tensor_is_on_the_device_of_the_context(loaded: Callable[..., Any]) -> None:
    loaded("mindspore", "2.10.0", get_context={"device_target": "Ascend"}.get)
    assert origin_of(tensor_of("mindspore.common.tensor")) == Origin("mindspore", "2.10.0", "Ascend")


def test_a_jax_array_knows_its_devices(loaded: Callable[..., Any]) -> None:
    loaded("jax", "0.9.0")
    value = tensor_of("jaxlib._jax", devices=lambda self: [SimpleNamespace(platform="tpu")])
    assert origin_of(value) == Origin("jax", "0.9.0", "TPU")


@pytest.mark.parametrize("value", [np.ones(2), 1.5, [1, 2]])
def test_everything_else_counts_for_numpy(value: Any) -> None:
    assert origin_of(value) == Origin("numpy", np.__version__, "CPU")


DATA = Path(__file__).parents[2] / "data" / "writer"
_, *ROWS = (DATA / "edge_values.csv").read_text().splitlines()
FIXED_CELLS = 7  # up to the slot; the rest describes the tensor


def tensor(described: Any) -> HostArray:
    """The tensor behind a description; bfloat16 as it comes from to_numpy."""
    raw = bytes.fromhex(described["bytes_hex"])
    if described["dtype"] == "bfloat16":
        widened = np.frombuffer(raw, "<u2").astype(np.uint32) << 16
        return HostArray(widened.view(np.float32).reshape(described["shape"]), "bfloat16", shared=False)
    values = np.frombuffer(raw, described["dtype"]).reshape(described["shape"])
    return HostArray(values, described["dtype"], shared=False)


def large(case: Any) -> HostArray:
    """The three tensors that are described in words."""
    values = np.random.default_rng(0).normal(size=(300, 100)).astype(np.float32)
    if case == 1:
        values[5, 5] = np.nan
    if case == 2:
        values[299, 99] = np.inf
    return HostArray(values, "float32", shared=False)


CASES = [(case["op_name"], tensor(case)) for case in json.loads((DATA / "edge_values.json").read_text())]
CASES += [(f"Default_MatMul-op{case}", large(case)) for case in range(3)]


def test_the_header_is_mindspores() -> None:
    assert (DATA / "edge_values.csv").read_text().startswith(header())


@pytest.mark.parametrize(
    ("name", "host"), [case for case in CASES if case[1].values.size], ids=lambda value: str(value)[:20]
)
def test_a_row_tells_what_mindspores_row_tells(name: Any, host: Any) -> None:
    row = next(row for row in ROWS if f",{name}," in row).replace("-nan", "nan")
    assert row.split(",", FIXED_CELLS)[-1] == cells(host) + ","


def test_every_case_but_the_empty_one_has_been_compared() -> None:
    assert len(CASES) == len(ROWS)


def test_a_whole_step_has_the_statistics_that_mindspore_wrote_for_it() -> None:
    """Every tensor of a small network that MindSpore 2.10 trained, with the rows it wrote of them."""
    folder = "ms_sync_full_stats/full/rank_0/TinyNet/0/0/"
    with zipfile.ZipFile(DATA.parent / "dumps" / "samples" / "ms_sync_full_stats.zip") as archive:
        table = archive.read(f"{folder}statistic.csv").decode()
        files = {
            ".".join(name.removeprefix(folder).split(".")[:7]): np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.startswith(folder) and name.endswith(".npy")
        }
    first, *rows = table.splitlines()
    assert first == header().strip()
    compared = 0
    for row in rows:
        name, described = row.split(",", FIXED_CELLS)[:FIXED_CELLS], row.split(",", FIXED_CELLS)[-1]
        values = files.get(".".join(name))
        if values is not None and values.size and ",bfloat16," not in row:
            host = HostArray(values, values.dtype.name, shared=False)
            assert described.replace("-nan", "nan") == cells(host) + ",", row
            compared += 1
    assert (len(rows), compared) == (241, 241)


def test_signalling_nan_and_norms_beyond_float64_are_told_without_a_warning() -> None:
    signalling = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    row = cells(HostArray(signalling, "float32", shared=False), ["max", "nan count"])
    assert row.endswith(",nan,1")
    huge = np.array([1e300, 1e300])
    assert cells(HostArray(huge, "float64", shared=False), ["l2norm"]).endswith(",inf")
