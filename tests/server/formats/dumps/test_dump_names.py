from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.formats.dumps.dump_names import (
    FullName,
    GraphFiles,
    escape_name,
    parse_bin_name,
    parse_npy_name,
    parse_npy_names,
    resolve_names,
)
from mindinsight.server.formats.dumps.dump_types import StepFolder
from tests.narrowing import require

TIME = "1795248166105555"


def test_names_of_newer_versions() -> None:
    file = require(
        parse_npy_name(f"MatMul.Default_net_MatMul-op0.3.7.{TIME}.input.1.DefaultFormat.Float32.npy", "p")
    )
    assert (file.type, file.operator, file.timestamp) == ("MatMul", "Default_net_MatMul-op0", int(TIME))
    assert (file.task, file.stream) == (3, 7)
    assert (file.io, file.slot, file.format, file.dtype) == ("input", "1", "DefaultFormat", "float32")
    assert file.path == "p"


def test_names_of_older_versions_keep_dots() -> None:
    file = require(parse_npy_name(f"Parameter.moments.fc1.0.weight.0.0.{TIME}.output.0.DefaultFormat.npy"))
    assert (file.type, file.operator, file.slot, file.dtype) == ("Parameter", "moments.fc1.0.weight", "0", "")


def test_a_parameter_that_ends_in_a_number() -> None:
    assert require(parse_npy_name(f"Parameter.layers.0.0.0.{TIME}.output.0.ND.npy")).operator == "layers.0"


def test_operators_run_in_parts() -> None:
    assert require(parse_npy_name(f"Add.op.1.2.{TIME}.0.1.2.3.output.0.ND.npy")).timestamp == int(TIME)
    file = require(parse_bin_name(f"Add.op.1.2.{TIME}.0.1.2.3"))
    assert (file.operator, file.task, file.stream, file.timestamp) == ("op", 1, 2, int(TIME))


@pytest.mark.parametrize(
    "name",
    [
        "",
        "array.npy",
        "12345.npy",
        f"A.b.0.0.{TIME}.sideways.0.ND.npy",
        f"A.b.0.0.{TIME}.input.x.ND.npy",
        f"A.b.0.x.{TIME}.input.0.ND.npy",
        f"A.0.0.{TIME}.input.0.ND.npy",
        f"A.b.0.0.{TIME}.input.0.ND.bin",
        "a.b.c.d.e.f.g.h.i.j.k.npy",
    ],
)
def test_other_names(name: str) -> None:
    assert parse_npy_name(name) is None


FIELD = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(FIELD.filter(lambda text: "." not in text), FIELD, st.integers(0, 65535), st.integers(0, 9))
def test_whatever_the_operator_is_called(kind: Any, operator: Any, number: Any, slot: Any) -> None:
    name = f"{kind}.{operator}.{number}.{number}.{TIME}.output.{slot}.ND.Float16.npy"
    file = require(parse_npy_name(name))
    assert (file.type, file.operator, file.task, file.slot) == (kind, operator, number, str(slot))


@pytest.mark.parametrize("operator", ["a\nb", "..", "%2e%2e", "../../etc", "a\tb", "x.input.0.y"])
def test_strange_operators_are_only_text(operator: str) -> None:
    name = f"Add.{operator}.0.0.{TIME}.output.0.DefaultFormat.Float32.npy"
    assert require(parse_npy_name(name)).operator == operator


@pytest.mark.parametrize("name", ["", "Add", "Add.op.1.2", "Add.op.1.2.x", "Add.op.one.2.3", "157301586524"])
def test_other_names_of_bin_files(name: str) -> None:
    assert parse_bin_name(name) is None


ORDER = [
    "Default/net-Net/conv.1-Conv/Conv2D-op0",
    "Default/net-Net/Cast-op0",
    "Default/net-Net/Cast-op3",
    "Default/net-Net/Cast-op10",
    "Gradients/Default/MatMul-op7",
]


def test_escaped_names_are_found() -> None:
    recorded = escape_name(ORDER[0])
    assert recorded == "Default_net-Net_conv_1-Conv_Conv2D-op0"
    assert resolve_names([recorded], ORDER, []) == {recorded: FullName(ORDER[0], 0)}


def test_names_without_scope_are_found_by_their_end() -> None:
    assert resolve_names(["MatMul-op7"], ORDER, []) == {"MatMul-op7": FullName(ORDER[4], 4)}


def test_operators_with_other_numbers_are_paired_in_order() -> None:
    recorded = [f"Default_net-Net_Cast-op{number}" for number in (0, 5, 20)]
    assert resolve_names(recorded, ORDER, []) == {
        recorded[0]: FullName(ORDER[1], 1),
        recorded[1]: FullName(ORDER[2], 2),
        recorded[2]: FullName(ORDER[3], 3),
    }


def test_more_than_were_planned_stay_as_recorded() -> None:
    recorded = [f"Default_net-Net_Cast-op{number}" for number in (0, 5, 20, 21)]
    assert resolve_names(recorded, ORDER, [])[recorded[3]] == FullName(recorded[3], -1)


def test_parameters_get_their_dots_back() -> None:
    result = resolve_names(["fc_1_weight", "other"], [], ["fc.1.weight"])
    assert result["fc_1_weight"] == FullName("fc.1.weight", -1)
    assert result["other"] == FullName("other", -1)


def test_the_first_of_two_that_look_alike_escaped() -> None:
    order = ["Default/a_b/Add-op0", "Default/a/b/Add-op0"]
    assert resolve_names([escape_name(order[0])], order, [])[escape_name(order[0])] == FullName(order[0], 0)


PARTS = st.sampled_from(
    [
        "MatMul",
        "a_b-op1",
        "0",
        "3",
        TIME,
        "input",
        "output",
        "ND",
        "Float32",
        "",
        "npy",
        "x y",
        "ü",
        "٣",
        "\n",
        "%",
    ]
)
PLAIN = [
    f"MatMul.Default_net_MatMul-op0.3.7.{TIME}.input.1.DefaultFormat.Float32.npy",
    f"Parameter.moments.fc1.0.weight.0.0.{TIME}.output.0.DefaultFormat.npy",
    f"Add.op.1.2.{TIME}.0.1.2.3.output.0.ND.npy",
    "12345.npy",
]


@given(st.lists(st.one_of(st.sampled_from(PLAIN), st.lists(PARTS, max_size=14).map(".".join)), max_size=12))
def test_many_names_at_once_mean_what_each_means_alone(names: Any) -> None:
    assert parse_npy_names(names, "/d") == [parse_npy_name(name, f"/d/{name}") for name in names]


def test_a_name_with_a_line_in_it_changes_no_other() -> None:
    names = [PLAIN[0], f"Add.op\n{PLAIN[1]}", PLAIN[1]]
    result = parse_npy_names(names, "/d")
    assert [file and file.operator for file in result] == [
        require(parse_npy_name(name)).operator if parse_npy_name(name) else None for name in names
    ]


HEADER = "NodeExecutionOrder-FullNameWithScope"


@pytest.fixture
def rank(tmp_path: Path) -> Any:
    (tmp_path / "execution_order").mkdir()
    return tmp_path


def graph_files(rank: Any, graph: str = "Net/1") -> GraphFiles:
    return GraphFiles(StepFolder(0, 0, graph, str(rank / "step"), str(rank)), [])


def write_order(rank: Any, number: Any, *names: Any) -> None:
    path = rank / "execution_order" / f"ms_execution_order_graph_{number}.csv"
    path.write_text("\n".join((HEADER, *names, "")))


def test_the_order_of_the_own_graph_comes_first(rank: Any) -> None:
    for number, name in ((0, "Default/a-op0"), (1, "Default/b-op1"), (10, "Default/c-op2")):
        write_order(rank, number, name)
    assert graph_files(rank).order() == ["Default/b-op1", "Default/a-op0", "Default/c-op2"]


def test_recorded_names_are_resolved_by_the_order(rank: Any) -> None:
    write_order(rank, 1, "Default/fc/MatMul-op1", "Default/fc/Add-op2")
    names = graph_files(rank).resolve_names(["Default_fc_Add-op2", "unknown"])
    assert names["Default_fc_Add-op2"] == ("Default/fc/Add-op2", 1)
    assert names["unknown"] == ("unknown", -1)


def test_a_graph_holds_until_the_iteration_of_the_next(rank: Path) -> None:
    for number, name in (("1", "Default/a-op0"), ("1_iteration_5", "Default/b-op0"), ("0", "Default/c-op0")):
        write_order(rank, number, name)
    for step, name in (
        (0, "Default/a-op0"),
        (4, "Default/a-op0"),
        (5, "Default/b-op0"),
        (9, "Default/b-op0"),
    ):
        files = GraphFiles(StepFolder(0, step, "Net/1", str(rank / "step"), str(rank)), [])
        assert files.order() == [name, "Default/c-op0"]


def test_without_files_there_is_nothing(tmp_path: Path) -> None:
    files = graph_files(tmp_path)
    assert (files.order(), files.parameters(), files.nodes(), files.damage) == ([], [], {}, [])


def test_a_file_that_cannot_be_read_is_damage_and_the_others_are_used(rank: Any) -> None:
    (rank / "graphs").mkdir()
    (rank / "graphs" / "ms_output_trace_code_graph_1.pb").write_bytes(b"\xff no graph")
    write_order(rank, 1, "Default/a-op0")
    files = graph_files(rank)
    assert files.nodes() == {}
    assert [damage.path.rpartition("/")[2] for damage in files.damage] == ["ms_output_trace_code_graph_1.pb"]
    assert files.order() == ["Default/a-op0"]
