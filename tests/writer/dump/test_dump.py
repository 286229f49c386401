"""What a loop dumps is what our debugger's reader finds."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats import dumps
from mindinsight.writer.dump import Dump
from mindinsight.writer.graph import GraphBuilder
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
