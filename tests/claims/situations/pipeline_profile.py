"""Situations of profiles of data pipelines: what holds the pipeline up, and what the queues cannot tell."""

import json
import shutil
from pathlib import Path

from mindinsight.writer import SummaryRecord
from tests.claims.situation import Question, exactly, situation

DATA = Path(__file__).parents[2] / "data" / "pipelines"
FACTS = (
    *("operator", "source", "kept_up", "untimed", "mixed", "at_rest", "few", "none", "other", "newest"),
    *("unreadable", "one_of", "first_of", "no_queue", "unrecorded"),
)
FULL, EMPTY, HALF = [16] * 20, [0] * 20, [0, 16] * 10


def recorded(folder: Path, run: str) -> Question:
    """Ask about a run by MindSpore with its profile."""
    shutil.copytree(DATA / run, folder / run)
    return about(folder, run)


def about(folder: Path, run: str) -> Question:
    page = f"graph?run=./{run}&view=dataset"
    return Question(base=folder, request=f"/v2/graph/pipeline?run=./{run}", page=page)


def queues(folder: Path, *after: list[int] | None, times: bool = True) -> Question:
    """Write a profile with these queues after Generator, Map and Batch beside the lineage of the same.

    With `times`, each sample is from between the first batch and the last.
    """
    question = recorded(folder, "map")
    profiler = folder / "map" / "profiler"
    content = json.loads((profiler / "pipeline_profiling_0.json").read_text())
    for row, queue in zip(content["op_info"], reversed(after), strict=True):
        if queue is None:
            row["metrics"] = None
        else:
            row["metrics"]["output_queue"]["size"] = queue
    (profiler / "pipeline_profiling_0.json").write_text(json.dumps(content))
    stamps = [1000 * number for number in range(len(after[2] or ()))]
    use = {"op_info": [], "time_stamp": stamps if times else []}
    (profiler / "minddata_cpu_utilization_0.json").write_text(json.dumps(use))
    lines = [f"0 0 {number + 2} 90 {stamp}\n" for number, stamp in enumerate(stamps)]
    (profiler / "dataset_iterator_profiling_0.txt").write_text("".join(lines))
    return question


@situation(**exactly("claim.pipeline_profile", FACTS, "operator"))
def a_training_with_a_slow_map(folder: Path) -> Question:
    return recorded(folder, "map")


@situation(**exactly("claim.pipeline_profile", FACTS, "kept_up"))
def a_slow_training(folder: Path) -> Question:
    return recorded(folder, "train")


@situation(**exactly("claim.pipeline_profile", FACTS, "source"))
def a_slow_source(folder: Path) -> Question:
    return queues(folder, EMPTY, EMPTY, EMPTY)


@situation(**exactly("claim.pipeline_profile", FACTS, "at_rest"))
def empty_queues_at_unknown_times(folder: Path) -> Question:
    return queues(folder, EMPTY, EMPTY, EMPTY, times=False)


@situation(**exactly("claim.pipeline_profile", FACTS, "untimed"))
def full_queues_at_unknown_times(folder: Path) -> Question:
    return queues(folder, FULL, FULL, FULL, times=False)


@situation(**exactly("claim.pipeline_profile", FACTS, "mixed"))
def a_queue_that_is_half_of_the_time_empty(folder: Path) -> Question:
    return queues(folder, FULL, HALF, HALF)


@situation(**exactly("claim.pipeline_profile", FACTS, "few"))
def nine_samples(folder: Path) -> Question:
    return queues(folder, FULL[:9], EMPTY[:9], EMPTY[:9])


@situation(**exactly("claim.pipeline_profile", FACTS, "one_of"))
def a_map_without_a_queue_before_a_batch(folder: Path) -> Question:
    return queues(folder, FULL, None, EMPTY)


@situation(**exactly("claim.pipeline_profile", FACTS, "first_of"))
def a_source_without_a_queue(folder: Path) -> Question:
    return queues(folder, None, None, EMPTY)


@situation(**exactly("claim.pipeline_profile", FACTS, "no_queue"))
def no_queues(folder: Path) -> Question:
    return queues(folder, None, None, None)


@situation(**exactly("claim.pipeline_profile", FACTS, "none"))
def a_run_without_a_profile(folder: Path) -> Question:
    question = recorded(folder, "map")
    shutil.rmtree(folder / "map" / "profiler")
    return question


@situation(**exactly("claim.pipeline_profile", FACTS, "none"))
def a_profile_beside_the_run(folder: Path) -> Question:
    question = recorded(folder, "map")
    (folder / "map" / "profiler").rename(folder / "profiler")
    return question


@situation(**exactly("claim.pipeline_profile", FACTS, "operator", "other"))
def a_profile_of_another_pipeline(folder: Path) -> Question:
    question = recorded(folder, "map")
    profile = folder / "map" / "profiler" / "pipeline_profiling_0.json"
    profile.write_text(profile.read_text().replace("MapOp", "FilterOp"))
    return question


@situation(**exactly("claim.pipeline_profile", FACTS, "operator", "unrecorded"))
def a_profile_of_a_run_without_a_recorded_pipeline(folder: Path) -> Question:
    question = recorded(folder, "map")
    for lineage in (folder / "map").glob("*_lineage"):
        lineage.unlink()
    with SummaryRecord(folder / "map") as record:
        record.add_value("scalar", "loss", 1.0, step=1)
    return question


@situation(**exactly("claim.pipeline_profile", FACTS, "operator", "newest"))
def two_profiles(folder: Path) -> Question:
    question = recorded(folder, "map")
    shutil.copytree(folder / "map" / "profiler", folder / "map" / "profiler" / "first_ascend_ms")
    return question


@situation(**exactly("claim.pipeline_profile", FACTS, "unreadable"))
def half_a_profile(folder: Path) -> Question:
    question = recorded(folder, "map")
    profile = folder / "map" / "profiler" / "pipeline_profiling_0.json"
    profile.write_bytes(profile.read_bytes()[:200])
    return question
