import shutil
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.dumps import (
    describe_tensor,
    find_layout,
    list_operators,
    list_overflows,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.dump_types import TensorRef
from mindinsight.server.formats.read_limits import UnreadableError
from tests.narrowing import require


@pytest.fixture
def root(samples: Any, tmp_path: Path) -> Any:
    return Path(shutil.copytree(samples / "async_SYNTHETIC", tmp_path / "async"))


def step(root: Any, form: Any, number: int = 1) -> Any:
    return root / form / "20240102030405" / "0" / "ge_default_20240102030400_11" / "1" / str(number)


def test_devices_models_and_iterations(root: Any) -> None:
    dump = open_dump(root / "bin")
    assert (dump.device, dump.ranks, dump.steps()) == ("Ascend", (0,), (0, 1))
    assert dump.graphs() == ("ge_default_20240102030400_11/1",)


def test_one_place_dumped_twice(root: Any) -> None:
    shutil.copytree(root / "bin" / "20240102030405", root / "bin" / "20240102030500")
    dump = open_dump(root / "bin")
    model = "ge_default_20240102030400_11/1"
    assert dump.graphs() == (f"20240102030500/{model}", model)
    assert len(list_tensors(dump, 0, 0)) == 2 * len(list_tensors(dump, 0, 0, dump.graphs()[0]))


def test_acl_dumps_have_steps_outside(root: Any) -> None:
    dump = open_dump(root / "acl_o0")
    assert dump.steps() == (0,)
    assert dump.graphs() == ("", "ge_default_20240102030400_11/1/0")


@pytest.mark.parametrize("form", ["npy", "bin"])
def test_operators_in_the_order_they_ran(root: Any, form: str) -> None:
    operators = list_operators(open_dump(root / form), 0, 0)
    assert [operator.type for operator in operators] == ["Conv2D", "MatMul", "Cast", "ComplexOp", "Add"]
    assert operators[1].inputs == ("0", "1")
    assert operators[1].outputs == ("0",)
    assert operators[3].inputs == ()


@pytest.mark.parametrize("form", ["npy", "bin"])
def test_headers_tell_the_shape_on_the_host(root: Any, form: str) -> None:
    entries = list_tensors(open_dump(root / form), 0, 0)
    for entry in entries:
        result = describe_tensor(require(entry.ref))
        assert result.shape == read_tensor(require(entry.ref)).shape
        assert result.size > 0


def test_recorded_statistics_are_joined(root: Any) -> None:
    entries = list_tensors(open_dump(root / "npy"), 0, 1)
    matmul = next(entry for entry in entries if entry.type == "MatMul" and entry.slot == "1")
    assert (matmul.dtype, matmul.shape, require(matmul.statistics).size) == ("float32", (20, 3), 240)
    broken = next(entry for entry in entries if entry.type == "MatMul" and entry.direction == "output")
    assert require(broken.statistics).max != require(broken.statistics).max  # NaN


def test_a_damaged_operator_leaves_the_others(root: Any) -> None:
    conv = next(step(root, "bin").glob("Conv2D.*"))
    conv.write_bytes(conv.read_bytes()[:20])
    cast = next(step(root, "bin").glob("Cast.*"))
    cast.write_bytes(cast.read_bytes()[:-3])
    entries = list_tensors(open_dump(root / "bin"), 0, 1)
    assert [(fault.path, fault.reason) for fault in entries.damage] == [(str(conv), "dump.truncated")]
    assert len(entries) == 8
    for entry in entries:
        if (entry.type, entry.direction) == ("Cast", "output"):
            with pytest.raises(UnreadableError, match=r"dump.truncated"):
                read_tensor(require(entry.ref))
        else:
            assert read_tensor(require(entry.ref)).size


def test_overflow_records_that_cannot_be_read(root: Any) -> None:
    record = next(step(root, "npy").glob("Opdebug*"))
    record.write_text("{")
    overflows = list_overflows(open_dump(root / "npy"), 0, 1)
    assert [fault.reason for fault in overflows.damage] == ["dump.json"]


def test_an_overflow_of_an_operator_that_is_not_there(root: Any) -> None:
    for form in ("npy", "bin"):
        for path in step(root, form).glob("MatMul*"):
            path.unlink()
        (overflow,) = list_overflows(open_dump(root / form), 0, 1)
        assert overflow.operator == ""


def test_an_overflow_of_an_operator_that_cannot_be_read(root: Any) -> None:
    next(step(root, "bin").glob("MatMul*")).write_bytes(b"")
    (overflow,) = list_overflows(open_dump(root / "bin"), 0, 1)
    assert overflow.operator.endswith("MatMul-op15")


def test_a_mapping_that_is_gone(root: Any) -> None:
    (step(root, "bin") / "mapping.csv").unlink()
    entries = list_tensors(open_dump(root / "bin"), 0, 1)
    assert {entry.type for entry in entries} == {"Conv2D", "MatMul", "Cast", "ComplexOp"}


def test_a_member_that_makes_no_sense(root: Any) -> None:
    path = str(next(step(root, "bin").glob("MatMul*")))
    with pytest.raises(UnreadableError, match=r"dump.missing"):
        read_tensor(TensorRef("asynchronous", path, "input.x"))


def test_days_are_no_dumps(tmp_path: Path) -> None:
    (tmp_path / "20240102030405" / "logs").mkdir(parents=True)
    (tmp_path / "7" / "0").mkdir(parents=True)
    assert find_layout(tmp_path) is None
