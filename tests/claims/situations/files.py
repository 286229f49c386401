"""Situations of files: event files that are damaged or still read, pipelines, and texts of two steps."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mindinsight.proto.framing import encode_record
from mindinsight.proto.lineage_pb2 import DatasetGraph, LineageEvent
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.claims import Claim
from mindinsight.server.client.reader import Summary
from mindinsight.server.store.run import Run, file_claims, overwritten_claims, pipeline_claim
from mindinsight.server.types import FileState
from mindinsight.writer import SummaryRecord
from tests.claims.situation import Question, situation

FILE = [
    f"claim.file.{name}"
    for name in (
        *("read", "empty", "unreadable", "damaged", "torn", "incomplete", "reading", "skipped", "rounded"),
        "all_read",
    )
]
PIPELINE = [f"claim.pipeline.{name}" for name in ("operations", "none", "reading")]
TEXT = [f"claim.text.{name}" for name in ("same", "line_ends", "differ", "differ_later")]


def but(keys: Sequence[str], *names: str) -> list[str]:
    return [key for key in keys if key.rpartition(".")[2] not in names]


def records(count: int, age: float = 0.0, passed: Mapping[int, float] | None = None) -> list[bytes]:
    """Return the records of an event file that nobody closed, written ``age`` seconds ago.

    ``passed``: seconds before a step, by step; no time passes before the others.
    """
    then = time.time() - age
    events = [Event(wall_time=then, version="MindSpore.Event:1")]
    for step in range(count):
        then += (passed or {}).get(step, 0.0)
        event = Event(wall_time=then, step=step)
        event.summary.value.add(tag="loss", scalar_value=1.0)
        events.append(event)
    return [encode_record(event.SerializeToString()) for event in events]


def one_file(folder: Path, content: bytes) -> Question:
    file = folder / "a" / "x.out.events.summary.1.host_MS"
    file.parent.mkdir()
    file.write_bytes(content)
    return Question(base=folder, request="/v2/runs/files?run=./a", page="overview?run=./a")


@situation(makes=["claim.file.read", "claim.file.all_read"], never=but(FILE, "read", "all_read"))
def a_whole_file(folder: Path) -> Question:
    return one_file(folder, b"".join(records(3)))


def restarted(folder: Path, again: int) -> Question:
    """Two starts of a training, of which the second begins at step ``again``."""
    for first in (0, again):
        with SummaryRecord(str(folder / "a")) as record:
            for step in range(first, first + 10):
                record.add_value("scalar", "loss", 1.0)
                record.record(step)
    return Question(direct=lambda: overwritten_claims(Summary(folder).run("./a")))


@situation(makes=["claim.file.overwritten"])
def steps_recorded_again_after_a_restart(folder: Path) -> Question:
    return restarted(folder, 5)


@situation(never=["claim.file.overwritten"])
def a_restart_that_repeats_no_step(folder: Path) -> Question:
    return restarted(folder, 10)


@situation(never=["claim.file.overwritten"])
def two_recorders_at_once_of_even_and_odd_steps(folder: Path) -> Question:
    """The second goes back below steps of the first, which goes on."""
    with SummaryRecord(str(folder / "a")) as even, SummaryRecord(str(folder / "a")) as odd:
        for step in range(0, 20, 2):
            for number, record in enumerate((even, odd)):
                record.add_value("scalar", "loss", 1.0)
                record.record(step + number)
    return Question(direct=lambda: overwritten_claims(Summary(folder).run("./a")))


@situation(never=["claim.file.overwritten"])
def a_step_that_is_recorded_twice_in_succession(folder: Path) -> Question:
    with SummaryRecord(str(folder / "a")) as record:
        for step in range(20):
            record.add_value("scalar", "loss", 1.0)
            record.record(step // 2)
    return Question(direct=lambda: overwritten_claims(Summary(folder).run("./a")))


GAPS = [
    *("claim.run.clock_back", "claim.run.time_gap", "claim.run.no_steps"),
    *("claim.file.lost", "claim.file.lost_steps"),
]


def recorded(folder: Path, content: Sequence[bytes]) -> Question:
    """Ask what the Overview says of the recording of one file."""
    question = one_file(folder, b"".join(content))
    return replace(question, request="/v2/runs/facts?run=./a")


def every_two_seconds(**other: float) -> dict[int, float]:
    """Return the seconds before each of 100 steps, with others before some: ``at_40=3600``."""
    return dict.fromkeys(range(1, 100), 2.0) | {int(name[3:]): passed for name, passed in other.items()}


@situation(makes=["claim.run.clock_back"], never=but(GAPS, "clock_back"))
def a_clock_that_is_set_back_by_an_hour(folder: Path) -> Question:
    return recorded(folder, records(100, 7200, every_two_seconds(at_40=-3600)))


@situation(never=GAPS)
def a_clock_that_is_adjusted_by_half_a_minute(folder: Path) -> Question:
    return recorded(folder, records(100, 7200, every_two_seconds(at_40=-30)))


@situation(makes=["claim.run.clock_back"])
def a_training_resumed_where_the_clock_is_two_hours_behind(folder: Path) -> Question:
    return resumed(folder, 3600, 7200)


@situation(never=["claim.run.clock_back"])
def a_training_resumed_two_hours_later(folder: Path) -> Question:
    return resumed(folder, 7200, 3600)


def resumed(folder: Path, *ages: float) -> Question:
    """Two files of a training, by the age of their first events in seconds."""
    (folder / "a").mkdir()
    for number, age in enumerate(ages):
        steps = every_two_seconds()
        (folder / "a" / f"events.out.events.summary.{170 + number}.0.host_MS").write_bytes(
            b"".join(records(100, age, steps))
        )
    return Question(base=folder, request="/v2/runs")


@situation(makes=["claim.run.time_gap"], never=but(GAPS, "time_gap"))
def half_a_day_between_two_steps(folder: Path) -> Question:
    return recorded(folder, records(100, 86_400, every_two_seconds(at_40=43_200)))


@situation(never=GAPS)
def five_minutes_between_two_steps_as_for_an_evaluation(folder: Path) -> Question:
    return recorded(folder, records(100, 7200, every_two_seconds(at_40=300)))


@situation(never=GAPS)
def a_step_that_takes_twice_its_quarter_of_an_hour(folder: Path) -> Question:
    slow = dict.fromkeys(range(1, 100), 900.0) | {40: 1800.0}
    return recorded(folder, records(100, 200_000, slow))


def without(folder: Path, count: int) -> Question:
    """Four hundred steps, of which some from the hundredth on are missing."""
    with SummaryRecord(str(folder / "a")) as record:
        for step in (step for step in range(400) if not 100 <= step < 100 + count):
            record.add_value("scalar", "loss", 1.0)
            record.record(step)
    return Question(base=folder, request="/v2/runs/facts?run=./a")


@situation(makes=["claim.run.no_steps"], never=but(GAPS, "no_steps"))
def eighty_steps_without_values(folder: Path) -> Question:
    return without(folder, 80)


@situation(never=GAPS)
def three_steps_without_values(folder: Path) -> Question:
    return without(folder, 3)


def flipped(count: int, step: int) -> list[bytes]:
    """Return records of which that of a step is damaged."""
    content = records(count, 7200)
    damaged = bytearray(content[step + 1])
    damaged[20] ^= 1
    return [*content[: step + 1], bytes(damaged), *content[step + 2 :]]


@situation(makes=["claim.file.lost"], never=but(GAPS, "lost"))
def a_flipped_bit_among_few_values(folder: Path) -> Question:
    return recorded(folder, flipped(9, 4))


@situation(makes=["claim.file.lost_steps"], never=but(GAPS, "lost_steps"))
def a_flipped_bit_among_regular_steps(folder: Path) -> Question:
    return recorded(folder, flipped(100, 40))


@situation(never=GAPS)
def a_step_that_was_left_out_of_a_whole_file(folder: Path) -> Question:
    content = records(100, 7200)
    return recorded(folder, [*content[:41], *content[42:]])


@situation(makes=["claim.file.damaged"], never=but(FILE, "damaged"))
def a_flipped_bit(folder: Path) -> Question:
    content = bytearray(b"".join(records(9)))
    content[len(records(0)[0]) + 20] ^= 1
    return one_file(folder, bytes(content))


@situation(makes=["claim.file.incomplete"], never=but(FILE, "incomplete"))
def half_a_record_of_a_running_training(folder: Path) -> Question:
    return one_file(folder, b"".join(records(3))[:-5])


@situation(makes=["claim.file.torn"], never=but(FILE, "torn"))
def half_a_record_that_nobody_completes(folder: Path) -> Question:
    return one_file(folder, b"".join(records(3, age=7200))[:-5])


@situation(makes=["claim.file.empty"], never=but(FILE, "empty"))
def an_empty_file(folder: Path) -> Question:
    return one_file(folder, b"")


@situation(makes=["claim.file.reading"], never=but(FILE, "reading"))
def a_file_that_is_being_read(folder: Path) -> Question:
    state = FileState("x", size=1_000_000, modified=0.0, read=400_000, pending=0)
    return Question(direct=lambda: file_claims(state, torn=False))


@situation(makes=["claim.file.damaged", "claim.file.torn"], never=["claim.file.read", "claim.file.reading"])
def a_damaged_file_with_half_a_record(folder: Path) -> Question:
    content = bytearray(b"".join(records(9, age=7200))[:-5])
    content[len(records(0)[0]) + 20] ^= 1
    return one_file(folder, bytes(content))


@situation(makes=["claim.file.unreadable"], never=but(FILE, "unreadable"))
def a_file_that_may_not_be_read(folder: Path) -> Question:
    state = FileState("x", size=10, modified=0.0, read=0, pending=0, error="file.permission")
    return Question(direct=lambda: file_claims(state, torn=False))


@situation(
    makes=["claim.file.read", "claim.file.skipped"], never=["claim.file.rounded", "claim.file.damaged"]
)
def records_of_a_kind_that_is_not_shown(folder: Path) -> Question:
    state = FileState("x", size=10, modified=0.0, read=10, pending=0, skipped=(("explain", 3),))
    return Question(direct=lambda: file_claims(state, torn=False))


@situation(
    makes=["claim.file.read", "claim.file.rounded"], never=["claim.file.skipped", "claim.file.damaged"]
)
def integers_that_were_rounded(folder: Path) -> Question:
    state = FileState("x", size=10, modified=0.0, read=10, pending=0, skipped=(("rounded_integer", 2),))
    return Question(direct=lambda: file_claims(state, torn=False))


# Data pipelines


def pipeline(folder: Path, *graphs: DatasetGraph) -> Question:
    question = one_file(folder, b"".join(records(2)))
    lineage = folder / "a" / "x.out.events.summary.1.host_MS_lineage"
    events = [LineageEvent(wall_time=1.0, dataset_graph=graph) for graph in graphs]
    if events:
        lineage.write_bytes(b"".join(encode_record(event.SerializeToString()) for event in events))
    return Question(base=question.base, request="/v2/runs/facts?run=./a")


def operation(name: str, *children: DatasetGraph) -> DatasetGraph:
    graph = DatasetGraph(children=children)
    graph.parameter.mapStr["op_type"] = name
    return graph


@situation(makes=["claim.pipeline.operations"], never=but(PIPELINE, "operations"))
def a_pipeline_of_two_sources(folder: Path) -> Question:
    zipped = operation("Zip", operation("Source"), operation("Source"))
    return pipeline(folder, operation("Batch", zipped))


@situation(makes=["claim.pipeline.none"], never=but(PIPELINE, "none"))
def a_run_without_a_pipeline(folder: Path) -> Question:
    return pipeline(folder)


@situation(makes=["claim.pipeline.reading"], never=but(PIPELINE, "reading"))
def a_run_of_which_half_is_read(folder: Path) -> Question:
    run = Run("./a", "a", "/a", "./a", None, created=0.0, updated=0.0, size=10, read=5, total=10)

    def claims() -> list[Claim]:
        return [pipeline_claim(run)]

    return Question(direct=claims)


# Texts


def texts(folder: Path, first: str, second: str) -> Question:
    with SummaryRecord(str(folder / "a")) as record:
        for step, text in enumerate((first, second)):
            record.add_value("text", "note", text)
            record.record(step)
    return Question(base=folder, request="/v2/text/difference?run=./a&tag=note&row=0&other=1")


@situation(makes=["claim.text.same"], never=but(TEXT, "same"))
def two_equal_texts(folder: Path) -> Question:
    return texts(folder, "a\nb\n", "a\nb\n")


@situation(makes=["claim.text.same"], never=but(TEXT, "same"))
def two_equal_texts_of_many_lines(folder: Path) -> Question:
    return texts(folder, "a\n" * 3000, "a\n" * 3000)


@situation(makes=["claim.text.differ"], never=but(TEXT, "differ"))
def one_line_differs(folder: Path) -> Question:
    return texts(folder, "a\nb\n", "a\nc\n")


@situation(makes=["claim.text.differ_later"], never=but(TEXT, "differ_later"))
def a_line_beyond_those_compared_differs(folder: Path) -> Question:
    return texts(folder, "a\n" * 3000 + "b", "a\n" * 3000 + "c")


@situation(makes=["claim.text.line_ends"], never=but(TEXT, "line_ends"))
def lines_that_end_in_another_way(folder: Path) -> Question:
    return texts(folder, "a\r\nb", "a\nb\n")


CODE = [
    f"claim.code.{name}"
    for name in (
        *("same", "changed_alike", "commits_differ", "changes_differ", "untracked", "cut"),
        *("no_changes_known", "no_git", "packages_same", "packages_differ", "pythons_differ", "no_packages"),
        "scripts_differ",
    )
]
GIT = {"commit": "1" * 40, "branch": "main", "remote": "", "diff": "", "cut": False, "untracked": 0}
PROGRAM = {"version": 1, "python": "3.11.7", "packages": {"numpy": "1.26.4", "torch": "2.13.0"}, "git": GIT}


def programs(folder: Path, first: Mapping[str, Any], second: Mapping[str, Any]) -> Question:
    """Two runs; what each has besides ``PROGRAM``."""
    for name, changes in (("a", first), ("b", second)):
        with SummaryRecord(str(folder / name)) as record:
            record.add_value("code", "code", {**PROGRAM, **changes})
            record.record(0)
    request = "/v2/code/difference?run=./a&other_run=./b"
    return Question(base=folder, request=request, page="overview?run=./a&with=./b")


def git(**changes: Any) -> dict[str, Any]:
    return {"git": {**GIT, **changes}}


@situation(makes=["claim.code.scripts_differ"], never=but(CODE, "scripts_differ", "packages_same"))
def two_runs_of_two_scripts(folder: Path) -> Question:
    return programs(folder, {"command": ["/a/train.py"]}, {"command": ["/a/tune.py"], "git": None})


@situation(makes=["claim.code.same", "claim.code.packages_same"], never=but(CODE, "same", "packages_same"))
def two_runs_of_one_script_in_two_folders(folder: Path) -> Question:
    return programs(folder, {"command": ["/a/train.py", "--lr", "1"]}, {"command": ["/b/train.py"]})


@situation(makes=["claim.code.same", "claim.code.packages_same"], never=but(CODE, "same", "packages_same"))
def two_runs_of_one_commit(folder: Path) -> Question:
    return programs(folder, {}, {})


@situation(makes=["claim.code.changed_alike"], never=but(CODE, "changed_alike", "packages_same"))
def two_runs_with_the_same_changes(folder: Path) -> Question:
    return programs(folder, git(diff="-a\n+b\n"), git(diff="-a\n+b\n"))


@situation(makes=["claim.code.changes_differ"], never=but(CODE, "changes_differ", "packages_same"))
def two_runs_of_which_one_has_changes(folder: Path) -> Question:
    return programs(folder, git(), git(diff="-a\n+b\n"))


@situation(makes=["claim.code.changes_differ"], never=but(CODE, "changes_differ", "packages_same"))
def two_runs_whose_changes_differ_in_a_letter(folder: Path) -> Question:
    return programs(folder, git(diff="+b\n", cut=True), git(diff="+c\n"))


@situation(makes=["claim.code.commits_differ"], never=but(CODE, "commits_differ", "packages_same"))
def two_runs_of_two_commits(folder: Path) -> Question:
    return programs(folder, git(), git(commit="1" * 9 + "2" + "1" * 30))


@situation(makes=["claim.code.untracked"], never=but(CODE, "untracked", "packages_same"))
def two_runs_beside_a_file_that_is_not_in_git(folder: Path) -> Question:
    return programs(folder, git(untracked=1), git())


@situation(makes=["claim.code.untracked"], never=but(CODE, "untracked", "packages_same"))
def two_runs_whose_files_were_not_counted(folder: Path) -> Question:
    return programs(folder, git(), git(untracked=None))


@situation(makes=["claim.code.cut"], never=but(CODE, "cut", "packages_same"))
def two_runs_whose_changes_were_cut(folder: Path) -> Question:
    return programs(folder, git(diff="+b\n", cut=True), git(diff="+b\n", cut=True))


@situation(makes=["claim.code.cut"], never=but(CODE, "cut", "packages_same"))
def two_runs_whose_changes_have_a_hidden_key(folder: Path) -> Question:
    return programs(folder, git(diff="+API_KEY=***\n"), git(diff="+API_KEY=***\n"))


@situation(makes=["claim.code.no_changes_known"], never=but(CODE, "no_changes_known", "packages_same"))
def two_runs_of_which_one_does_not_know_its_changes(folder: Path) -> Question:
    return programs(folder, git(diff=None), git())


@situation(makes=["claim.code.no_git"], never=but(CODE, "no_git", "packages_same"))
def two_runs_of_which_one_is_outside_a_repository(folder: Path) -> Question:
    return programs(folder, {"git": None}, {})


@situation(makes=["claim.code.packages_differ"], never=but(CODE, "same", "packages_differ"))
def two_runs_with_another_package(folder: Path) -> Question:
    return programs(folder, {}, {"packages": {"numpy": "1.26.4", "torch": "2.12.1"}})


@situation(makes=["claim.code.pythons_differ"], never=but(CODE, "same", "pythons_differ"))
def two_runs_with_another_python(folder: Path) -> Question:
    return programs(folder, {}, {"python": "3.12.1"})


@situation(makes=["claim.code.no_packages"], never=but(CODE, "same", "no_packages"))
def two_runs_of_which_one_lists_no_packages(folder: Path) -> Question:
    return programs(folder, {}, {"packages": {}})
