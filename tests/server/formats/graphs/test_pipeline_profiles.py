"""Profiles of data pipelines: files that MindSpore 2.10 wrote on a CPU, and what is wrong with others."""

import csv
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.graphs.pipeline_profiles import (
    MAX_BYTES,
    PipelineProfile,
    ProfileError,
    bottleneck,
    nodes_of,
    parse_batches,
    parse_samples,
    parse_table,
    profile_of,
    read_profile,
)
from mindinsight.server.formats.graphs.pipelines import Step, pipeline_steps
from mindinsight.server.formats.lineage import decode_lineage

PIPELINES = Path(__file__).parents[3] / "data" / "pipelines"
NAME = "pipeline_profiling_0.json"
SLOW_MAP, SLOW_TRAINING = (PIPELINES / name / "profiler" / NAME for name in ("map", "train"))


def samples(*rows: tuple[str, list[int], list[int] | None]) -> PipelineProfile:
    """Operators by number, each with its name, inputs and queue."""
    return parse_samples(encoded(*rows))


def encoded(*rows: tuple[str, list[int], list[int] | None]) -> bytes:
    operators = [
        {
            "op_id": number,
            "op_type": f"{name}Op",
            "num_workers": 1,
            "children": inputs,
            "metrics": None if queue is None else {"output_queue": {"length": 16, "size": queue}},
        }
        for number, (name, inputs, queue) in enumerate(rows)
    ]
    return json.dumps({"op_info": operators, "sampling_interval": 1000}).encode()


EMPTY, FULL, HALF = [0] * 20, [16] * 20, [0, 16] * 10


def test_a_slow_map_is_the_bottleneck() -> None:
    profile = read_profile(SLOW_MAP)
    claim, (slowest,) = bottleneck(profile)
    assert claim.key == "claim.pipeline_profile.operator"
    assert profile.operators[slowest].name == "Map"
    assert claim.values == {"operator": "Map", "before": 0, "after": 16, "n": 16}


def test_a_slow_training_is_no_fault_of_the_pipeline() -> None:
    profile = read_profile(SLOW_TRAINING)
    claim, slowest = bottleneck(profile)
    assert (claim.key, claim.verdict, slowest) == ("claim.pipeline_profile.kept_up", "clear", ())
    assert profile.mean_wait is not None and profile.mean_wait < 1
    assert profile.batch_time is not None and 80 < profile.batch_time < 200


def test_processor_time_and_waits() -> None:
    profile = read_profile(SLOW_MAP)
    assert [operator.cpu for operator in profile.operators.values()] == pytest.approx(
        [0, 0.706, 0.471], abs=0.01
    )
    assert profile.mean_wait == pytest.approx(67.2, abs=0.1)
    assert [profile.operators[number].name for number in profile.sources_first()] == [
        "Generator",
        "Map",
        "Batch",
    ]


def table_of(profile: Path, to: Path) -> str:
    """The table that MindSpore's analysis makes of samples."""
    content = json.loads(profile.read_text())
    with to.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["op_id", "op_type", "num_workers", "output_queue_size", "output_queue_average_size"]
            + [
                "output_queue_length",
                "output_queue_usage_rate",
                "sample_interval",
                "parent_id",
                "children_id",
            ]
        )
        for row in content["op_info"]:
            queue = row["metrics"]["output_queue"]
            rows.writerow(
                [row["op_id"], row["op_type"], row["num_workers"], queue["size"], 0.0, queue["length"], 0.0]
                + [content["sampling_interval"], "", row.get("children") or ""]
            )
    return to.read_text()


def test_the_table_reads_as_the_samples(tmp_path: Path) -> None:
    table = parse_table(table_of(SLOW_MAP, tmp_path / "table.csv"))
    assert table == parse_samples(SLOW_MAP.read_bytes())


def test_means_beside_a_table(tmp_path: Path) -> None:
    table_of(SLOW_MAP, tmp_path / "minddata_pipeline_raw_0.csv")
    means = {"op_ids": [0, 1, 2], "avg_cpu_pct": [0.0, 30.5, -1]}
    (tmp_path / "minddata_pipeline_summary_0.json").write_text(json.dumps(means))
    profile = read_profile(tmp_path / "minddata_pipeline_raw_0.csv")
    assert [operator.cpu for operator in profile.operators.values()] == [0.0, 30.5, None]
    assert (profile.batch_time, profile.mean_wait) == (None, None)


def timed(profile: PipelineProfile) -> PipelineProfile:
    return replace(profile, timed=True)


def test_a_source_is_named_only_while_batches_are_taken() -> None:
    profile = samples(("Batch", [1], EMPTY), ("Generator", [], EMPTY))
    assert bottleneck(profile)[0].key == "claim.pipeline_profile.at_rest"
    claim, slowest = bottleneck(timed(profile))
    assert (claim.key, slowest) == ("claim.pipeline_profile.source", (1,))


def test_that_a_pipeline_kept_up_is_said_only_while_batches_are_taken() -> None:
    profile = samples(("Batch", [1], FULL), ("Generator", [], FULL))
    assert bottleneck(profile)[0].key == "claim.pipeline_profile.untimed"
    assert bottleneck(timed(profile))[0].key == "claim.pipeline_profile.kept_up"


def taking(folder: Path, queue: list[int], batches: list[int], stamps: list[int]) -> PipelineProfile:
    """A profile whose samples and batches have these times."""
    (folder / NAME).write_bytes(encoded(("Batch", [1], queue), ("Generator", [], [16] * len(queue))))
    use = {"op_info": [], "time_stamp": stamps}
    (folder / "minddata_cpu_utilization_0.json").write_text(json.dumps(use))
    lines = [f"0 0 {number + 2} 5 {time}\n" for number, time in enumerate(batches)]
    (folder / "dataset_iterator_profiling_0.txt").write_text("".join(lines))
    return read_profile(folder / NAME)


def test_samples_while_the_network_was_compiled_do_not_count(tmp_path: Path) -> None:
    stamps = [1000 * number for number in range(60)]
    starved = [16] * 40 + [0] * 20  # 40 seconds of compilation, and then each batch is waited for
    profile = taking(tmp_path, starved, list(range(40_000, 59_001, 500)), stamps)
    claim, slowest = bottleneck(profile)
    assert (claim.key, slowest) == ("claim.pipeline_profile.operator", (0,))
    assert claim.values == {"operator": "Batch", "after": 20, "n": 20, "before": 0}


def test_without_the_times_of_all_samples_all_count(tmp_path: Path) -> None:
    profile = taking(tmp_path, [16] * 20, [0, 19_000], list(range(19)))
    assert not profile.timed and bottleneck(profile)[0].key == "claim.pipeline_profile.untimed"


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        ([("Batch", [1], HALF), ("Generator", [], FULL)], "mixed"),
        ([("Batch", [1], EMPTY), ("Generator", [], HALF)], "mixed"),
        ([("Zip", [1, 2], None), ("A", [], EMPTY), ("B", [], EMPTY)], "mixed"),
        ([("Batch", [1], EMPTY[:9]), ("Generator", [], FULL[:9])], "few"),
        ([("Repeat", [1], None), ("Generator", [], None)], "no_queue"),
    ],
)
def test_what_the_queues_cannot_decide(rows: Any, key: str) -> None:
    claim, slowest = bottleneck(samples(*rows))
    assert (claim.key, claim.verdict, slowest) == (f"claim.pipeline_profile.{key}", "unknown", ())


def test_a_slow_branch_and_operators_without_queues() -> None:
    profile = samples(
        ("EpochCtrl", [1], None),
        ("Batch", [2], EMPTY),
        ("Zip", [3, 4], None),
        ("Map", [5], EMPTY),
        ("Fast", [], FULL),
        ("Slow", [], FULL),
    )
    assert bottleneck(profile)[1] == (3,)


def test_operators_without_a_queue_between_them_are_named_together() -> None:
    rows: list[Any] = [("Batch", [1], EMPTY), ("Filter", [2], None), ("Shuffle", [3], None)]
    claim, slowest = bottleneck(samples(*rows, ("Generator", [], FULL)))
    assert (claim.key, slowest) == ("claim.pipeline_profile.one_of", (0, 1, 2))
    assert claim.values["operators"] == ["Shuffle", "Filter", "Batch"]
    claim, slowest = bottleneck(timed(samples(*rows, ("Generator", [], None))))
    assert (claim.key, slowest) == ("claim.pipeline_profile.first_of", (0, 1, 2, 3))


def test_boxes_of_the_recorded_pipeline() -> None:
    (lineage,) = (PIPELINES / "map").glob("*_lineage")
    graph = decode_lineage(lineage.read_bytes()).dataset_graph
    assert graph is not None
    step = pipeline_steps(graph)
    assert nodes_of(read_profile(SLOW_MAP), step) == {0: "Batch-3", 1: "Map-1", 2: "GeneratorDataset-0"}
    for other in (
        samples(("Batch", [1], EMPTY), ("Generator", [], FULL)),  # shorter
        samples(("Batch", [1], EMPTY), ("Filter", [2], EMPTY), ("Generator", [], FULL)),
        samples(("Batch", [1, 2], EMPTY), ("Map", [], EMPTY), ("Generator", [], FULL)),
    ):
        assert nodes_of(other, step) == {}


def test_zipped_sources_have_boxes() -> None:
    sources = (Step("MnistDataset", "m", ()), Step("Cifar10Dataset", "c", ()))
    step = Step("Batch", "b", (Step("Zip", "z", sources),))
    profile = samples(("Batch", [1], EMPTY), ("Zip", [2, 3], None), ("Mnist", [], FULL), ("Cifar", [], FULL))
    assert nodes_of(profile, step) == {0: "b", 2: "m", 3: "c"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[1]",
        b'{"op_info": [], "sampling_interval": 1}',
        b"\xff\xfe",
        encoded(("Batch", [0], EMPTY)),  # takes from itself
        encoded(("Batch", [], EMPTY), ("A", [2], EMPTY), ("B", [1], EMPTY)),  # a circle beside the root
        encoded(("Batch", [1], EMPTY), ("A", [], EMPTY), ("B", [], EMPTY)),  # two roots
        encoded(("Batch", [1, 1], EMPTY), ("A", [], EMPTY)),
        encoded(("Batch", [7], EMPTY)),
        encoded(("Batch", [], [-1] * 20)),
        encoded(("Batch", [], [1 << 40] * 20)),
    ],
)
def test_what_is_no_profile(data: bytes) -> None:
    with pytest.raises(ProfileError):
        parse_samples(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "op_id\n1\n",
        "op_id,op_type,num_workers,output_queue_size,output_queue_length,sample_interval,children_id\n"
        "0,BatchOp,1,[[[,16,1000,\n",
        "op_id,op_type,num_workers,output_queue_size,output_queue_length,sample_interval,children_id\n"
        + f"0,BatchOp,1,{'[' * 100_000},16,1000,\n",
    ],
)
def test_what_is_no_table(text: str) -> None:
    with pytest.raises(ProfileError):
        parse_table(text)


def test_a_long_chain_of_operators() -> None:
    rows: list[Any] = [("Take", [number + 1], None) for number in range(999)]
    profile = samples(*rows, ("Generator", [], FULL))
    assert bottleneck(timed(profile))[0].key == "claim.pipeline_profile.kept_up"


def test_lines_of_batches() -> None:
    text = b"0 0 1 900 100\n0 0 2 5 110\n0 1 2 0 110\nnonsense\n0 0 3 7 130\n1 16 3 0 130\n0 0 4"
    assert parse_batches(text) == ((110, 130), (5, 7))


def test_what_the_thread_of_a_device_waited_for_is_no_wait_of_the_training(tmp_path: Path) -> None:
    shutil.copy(SLOW_MAP, tmp_path / NAME)
    (tmp_path / "device_queue_profiling_0.txt").write_text("0 0 2 90 1000\n0 0 3 90 1100\n")
    profile = read_profile(tmp_path / NAME)
    assert (profile.batch_time, profile.mean_wait) == (100.0, None)


def test_the_newest_profile_of_the_rank(tmp_path: Path) -> None:
    analysed = tmp_path / "profiler" / "vm_1_2026_ascend_ms"
    for folder, name, time in (
        (tmp_path / "profiler", NAME, 1),
        (analysed / "FRAMEWORK", NAME, 5),
        (analysed / "FRAMEWORK", "pipeline_profiling_1.json", 9),
        (analysed / "ASCEND_PROFILER_OUTPUT", "minddata_pipeline_raw_0.csv", 7),
        (tmp_path / "elsewhere", NAME, 8),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
        os.utime(folder / name, (time, time))
    assert profile_of([tmp_path], 0) == (analysed / "FRAMEWORK" / NAME, 2)
    assert profile_of([tmp_path], None)[0] == analysed / "FRAMEWORK" / "pipeline_profiling_1.json"
    assert profile_of([tmp_path], 7) == (None, 0)
    (analysed / "FRAMEWORK" / NAME).unlink()
    assert profile_of([tmp_path], 0)[0] == analysed / "ASCEND_PROFILER_OUTPUT" / "minddata_pipeline_raw_0.csv"


def test_files_that_are_too_large_or_links_are_not_read(tmp_path: Path) -> None:
    large = tmp_path / NAME
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ProfileError, match="larger than 16 MB"):
        read_profile(large)
    link = tmp_path / "run" / NAME
    link.parent.mkdir()
    link.symlink_to(SLOW_MAP)
    assert profile_of([link.parent], None) == (None, 0)


def test_broken_files_beside_a_profile_are_left_out(tmp_path: Path) -> None:
    shutil.copy(SLOW_MAP, tmp_path / NAME)
    (tmp_path / "minddata_cpu_utilization_0.json").write_text("[")
    (tmp_path / "dataset_iterator_profiling_0.txt").write_bytes(b"\xff" * 100)
    profile = read_profile(tmp_path / NAME)
    assert {operator.cpu for operator in profile.operators.values()} == {None}
    assert profile.batches == ()
