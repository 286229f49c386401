"""Situations of states: runs, studies, trials, nodes of two graphs or of a dump, and parts of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
from optuna.trial import TrialState, create_trial

from benchmarks.planted_networks import PlantedNetwork, ResNetOptions, encode_planted, gpt, resnet
from mindinsight.proto.framing import encode_record
from mindinsight.proto.lineage_pb2 import LineageEvent
from mindinsight.server.api.run_answers import run_summary
from mindinsight.server.claims import Claim
from mindinsight.server.client.reader import Summary
from mindinsight.server.debug.examine import measure_all, operator_key
from mindinsight.server.debug.fault import report_of, search_faults
from mindinsight.server.debug.overlay.graph_join import join
from mindinsight.server.debug.overlay.graph_overlay import symptoms
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import LEFT, RIGHT, Side, compare, list_edits
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.report.report_content import ReportSource
from mindinsight.server.report.run_report import Page, make_report
from mindinsight.server.store.run import Run, is_left, state_of
from mindinsight.server.texts import language_texts
from mindinsight.server.tuning import study_facts
from mindinsight.server.tuning.study import IMPORTED, INTERRUPTED
from mindinsight.server.types import FileState
from mindinsight.server.workspace.notes import Note
from mindinsight.writer import GraphBuilder, SummaryRecord
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situation import Question, exactly, situation, words
from tests.claims.situations.graph import SMALL, stack

RUN = ("running.why", "quiet.why", "stopped.why", "finished.why", "failed.why", "unrecorded.why")
EVENTS = "events.out.events.summary.1.0.host_MS"
STUDY = ("running", "stopping", "finished", "interrupted", "idle", "complete", "pruned", "failed", "imported")
NODE = ("same", "changed", "left", "right", "follows")
EDITS = (
    "rewired", "swapped", "returned", "scope_removed", "scope_added", "replaced", "resized", "retyped",
    "attribute", "constant", "output", "removed", "added", "renamed", "input_removed", "input_added",
)  # fmt: skip
SYMPTOMS = ("fault", "lost", "received", "overflow", "caught", "zero", "mask")
HEALTH = ("fine", "fine_here", "unjudged")
NOW = 1_700_000_000.0


# Runs


def run(
    name: str,
    truth: str,
    state: str,
    age: float,
    finished: bool = False,
    failure: str = "",
    files: Sequence[str] = (EVENTS,),
    after: float | None = None,
) -> None:
    """Declare a run by the age of its last event; the server and the page's script tell its state.

    ``after``: seconds after it until the other rank of its job ended, which took 100 s.
    """

    def generate(folder: Path) -> Question:
        record = Run("./a", "a", "/a", "./a", None, created=NOW, updated=NOW, size=10, read=10, total=10)
        states = tuple(FileState(file, 10, NOW, 10, 0) for file in files)
        record = replace(record, finished=finished, failure=failure, last_event=NOW - age, files=states)

        end = record.last_event + (after or 0.0)
        other = replace(record, id="./b", finished=True, first_event=end - 100, last_event=end)
        ranks = [record] if after is None else [record, other]

        def ask() -> list[Claim]:
            return words("runs.state", f"{state_of(record, NOW, ranks)}.why")

        row = run_summary(record, Note())
        facts = {name: row[name] for name in ("finished", "failure", "last_event", "events")}
        facts |= {"left": is_left(record, ranks)}  # the page's rule has its test in tests/js/run_list.test.js
        script = ("components/runs/values.js", "stateOf", [facts, NOW])
        return Question(direct=ask, script=script, word="runs.state.{}.why")

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("runs.state", RUN, f"{state}.why"))(generate)


run("run_that_writes", "A second ago.", "running", 1)
run("run_just_before_two_minutes", "119 seconds.", "running", 119)
run("run_of_two_minutes", "Quiet, not stopped.", "quiet", 120)
run("run_just_before_an_hour", "Still quiet.", "quiet", 3599)
run("run_of_an_hour", "Nothing for an hour.", "stopped", 3600)
run("run_that_closed_its_files", "However long ago.", "finished", 1, finished=True)
run("run_that_closed_its_files_long_ago", "Not stopped.", "finished", 1e6, finished=True)
run("run_that_raised", "Its files say so.", "failed", 1, finished=True, failure="ValueError: x")
run(
    "run_with_a_failure_before_a_restart",
    "It goes on: no file is closed.",
    "running",
    1,
    failure="ValueError: x",
)
run("rank_left_by_its_job", "The other trained for half a minute more.", "stopped", 40, after=36)
run("rank_that_ends_a_little_later", "The other closed its files first.", "running", 10, after=9)
run("rank_that_saves_after_the_others", "It is rank 0.", "running", 1, after=-30)
run("directory_of_dumps", "Nothing says that anything trains.", "unrecorded", 1, files=())
run("directory_of_a_graph", "A graph is written once.", "unrecorded", 1e6, files=("ms_graph.pb",))
run("run_with_a_graph", "It has an event file as well.", "running", 1, files=(EVENTS, "ms_graph.pb"))
run("run_with_the_clock_ahead", "An event of the future is not old.", "running", -500)


# Studies


def study(name: str, truth: str, state: str, **more: Any) -> None:
    progress = {"running": 0, "wanted": 10, "done": 0} | more.pop("progress", {})

    def generate(folder: Path) -> Question:
        facts = {"tuned": False, "stopping": False, "progress": progress} | more
        return Question(script=("views/lineage/study/header.js", "stateOf", [facts]), word="tuning.state.{}")

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("tuning.state", STUDY, state))(generate)


study("study_with_a_tuner", "It goes on.", "running", tuned=True)
study(
    "study_that_was_asked_to_stop", "The tuner still ends its trials.", "stopping", tuned=True, stopping=True
)
study(
    "study_whose_tuner_was_killed",
    "A trial is said to run, and nothing runs it.",
    "interrupted",
    progress={"running": 1},
)
study("study_with_all_trials", "Ten of ten.", "finished", progress={"done": 10})
study("study_that_ended_early", "Nine of ten.", "idle", progress={"done": 9})
study(
    "study_without_a_number_of_trials",
    "It has no end to reach.",
    "idle",
    progress={"done": 9, "wanted": None},
)

BEGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)


def trial(
    number: int,
    value: float | None,
    state: TrialState = TrialState.COMPLETE,
    attributes: dict[str, Any] | None = None,
) -> Any:
    made = create_trial(state=state, value=value, user_attrs=attributes)
    made.number = number
    made.datetime_start = BEGIN
    made.datetime_complete = None if state == TrialState.RUNNING else BEGIN + timedelta(minutes=number)
    return made


def one_trial(name: str, truth: str, state: str, made: Callable[[], Any]) -> None:
    def generate(folder: Path) -> Question:
        return Question(direct=lambda: words("tuning.state", study_facts.state_of(made())))

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("tuning.state", STUDY, state))(generate)


one_trial("trial_with_a_value", "It ended.", "complete", lambda: trial(0, 1.0))
one_trial("trial_that_runs", "It has no value yet.", "running", lambda: trial(0, None, TrialState.RUNNING))
one_trial("trial_that_was_pruned", "By the pruner.", "pruned", lambda: trial(0, None, TrialState.PRUNED))
one_trial("trial_that_failed", "By itself.", "failed", lambda: trial(0, None, TrialState.FAIL))
one_trial(
    "trial_that_ended_with_its_tuner",
    "It did not fail by itself.",
    "interrupted",
    lambda: trial(0, None, TrialState.FAIL, attributes={INTERRUPTED: True}),
)
one_trial(
    "trial_from_a_past_run",
    "The study did not run it.",
    "imported",
    lambda: trial(0, 1.0, attributes={IMPORTED: True}),
)


def best(
    name: str, truth: str, maximize: bool, numbers: Sequence[int], trials: Callable[[], list[Any]]
) -> None:
    """Declare trials of which these were, one after another, the best so far; the last is the best of all."""

    def generate(folder: Path) -> Question:
        def ask() -> list[Claim]:
            best_steps = [step["number"] for step in study_facts.best_so_far(trials(), maximize)]
            goal = "maximize" if maximize else "minimize"
            expected = best_steps and best_steps == list(numbers)
            return words("tuning", "best_line", f"best.{goal}") if expected else []

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    goals = ("best.maximize", "best.minimize", "best_line")
    made = ("best_line", goals[not maximize]) if numbers else ()
    situation(**exactly("tuning", goals, *made))(generate)


best("best_of_falling_losses", "Each of them.", False, [0, 1], lambda: [trial(0, 2.0), trial(1, 1.0)])
best(
    "best_of_an_equal_loss", "The first keeps the place.", False, [0], lambda: [trial(0, 1.0), trial(1, 1.0)]
)
best(
    "best_beside_a_pruned_trial",
    "A pruned value is no result.",
    False,
    [1],
    lambda: [trial(0, 0.1, TrialState.PRUNED), trial(1, 1.0)],
)
best("best_accuracy", "The highest.", True, [0, 2], lambda: [trial(0, 0.5), trial(1, 0.4), trial(2, 0.9)])
best(
    "best_in_order_of_their_ends",
    "A trial with a larger number may end first.",
    False,
    [1, 0],
    lambda: [replace_end(trial(0, 1.0), 9), trial(1, 2.0)],
)
best("best_of_no_trial", "None ended with a value.", False, [], lambda: [trial(0, None, TrialState.FAIL)])


def replace_end(made: Any, minutes: int) -> Any:
    made.datetime_complete = BEGIN + timedelta(minutes=minutes)
    return made


# Two graphs: the state of each operator, and the list of edits


def nodes(
    name: str,
    truth: str,
    made: Sequence[str],
    edits: Sequence[str],
    left: Callable[[], PlantedNetwork | bytes],
    right: Callable[[], PlantedNetwork | bytes],
) -> None:
    """Declare two graphs of which these words of nodes and, at least, of edits are true."""

    def generate(folder: Path) -> Question:
        def ask() -> list[Claim]:
            trees = [folded_tree(read_graph(encoded(side()))) for side in (left, right)]
            comparison = compare(trees[0], trees[1])
            states = set()
            sides: tuple[tuple[Side, str], ...] = ((LEFT, "left"), (RIGHT, "right"))
            for side, only in sides:
                for index in np.flatnonzero(trees[side].nodes >= 0).tolist():
                    states.add(("same", "changed", only, "follows")[comparison.state(side, index)])
            kinds = {edit.kind for edit in list_edits(comparison)}
            return [*words("graph.pair", *states), *words("graph.edit", *kinds)]

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    parts = exactly("graph.pair", NODE, *made), exactly("graph.edit", EDITS, *edits)
    makes = [key for part in parts for key in part["makes"]]
    never = [key for part in parts for key in part["never"]]
    situation(makes=makes, never=never)(generate)


def encoded(network: PlantedNetwork | bytes) -> bytes:
    return network if isinstance(network, bytes) else encode_planted(network)


def small(**changes: Any) -> Callable[[], PlantedNetwork]:
    return lambda: gpt(replace(SMALL, **changes))


nodes("nodes_of_equal_graphs", "All are the same.", ["same"], [], small(), small())
nodes(
    "nodes_after_an_insertion",
    "A dropout more, whose users follow.",
    ["same", "right", "follows"],
    ["scope_added"],
    small(),
    small(dropped=True),
)
nodes(
    "nodes_after_a_removal",
    "The other way round.",
    ["same", "left", "follows"],
    ["scope_removed"],
    small(dropped=True),
    small(),
)


nodes(
    "nodes_after_a_rewiring",
    "One operator takes another value.",
    ["same", "changed"],
    ["rewired"],
    small(),
    small(rewired=(1,)),
)
nodes(
    "nodes_of_a_wider_layer",
    "Shapes and what follows them.",
    ["same", "changed", "follows"],
    ["resized", "constant"],
    small(),
    small(hidden=8),
)
nodes(
    "nodes_of_another_activation",
    "Its type.",
    ["same", "changed"],
    ["replaced"],
    small(),
    small(activation="SiLU"),
)
nodes(
    "nodes_with_another_prefix",
    "Names are no difference of operators.",
    ["same"],
    ["renamed"],
    small(),
    small(prefix="model."),
)
nodes(
    "nodes_in_half_precision",
    "Every type.",
    ["changed", "follows"],
    ["retyped"],
    small(),
    small(dtype="float16"),
)
nodes(
    "nodes_without_a_residual",
    "An addition is gone.",
    ["same", "left", "follows"],
    ["removed"],
    small(),
    small(no_residual=(1,)),
)
nodes(
    "nodes_with_adapters",
    "Two products more at a layer.",
    ["same", "right", "follows"],
    ["added"],
    small(),
    small(lora=("q", "v")),
)
nodes(
    "nodes_of_another_kernel",
    "Attribute, weight and output.",
    ["same", "changed"],
    ["attribute", "output", "resized"],
    lambda: resnet(ResNetOptions()),
    lambda: resnet(ResNetOptions(kernel=5)),
)
nodes(
    "nodes_of_a_difference_turned_round",
    "r - h became h - r.",
    ["same", "changed"],
    ["swapped"],
    stack(),
    stack(swapped=3),
)
nodes(
    "nodes_of_which_another_is_returned",
    "The operators are equal.",
    ["same"],
    ["returned"],
    stack(),
    stack(returned="active"),
)


# A dump on a graph


def overlay(name: str, truth: str, values: Any, *made: str, **more: Any) -> None:
    def generate(folder: Path) -> Question:
        step = Dump(folder / "dump").iteration(0)
        step.input("Default/ReLU-op0", np.asarray(more.pop("given", [1.0, 2.0]), np.float32))
        step.output("Default/ReLU-op0", np.asarray(values, np.float32))

        def ask() -> list[Claim]:
            entries = list_tensors(open_dump(folder / "dump"), 0, 0).items
            by_operator = symptoms(measure_all(entries), **more)
            return words("graph.symptom", *(symptom.name.lower() for symptom in by_operator.values()))

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("graph.symptom", SYMPTOMS, *made))(generate)


NAN = float("nan")
overlay("operator_that_is_fine", "Finite, and not all zeros.", [1, 0])
overlay("operator_of_zeros", "All of them.", [0, 0], "zero")
overlay("operator_with_nan", "In its output.", [NAN, 1], "lost", given=[NAN, 1])
overlay("operator_that_took_nan", "Its output is finite.", [0, 1], "received", given=[NAN, 1])
overlay(
    "operator_with_a_mask", "The infinities were filled in.", [-np.inf, 1], "mask", given=[0, 1], masks={1}
)
overlay(
    "operator_that_overflowed", "The device says so.", [1, 1], "overflow", overflowed={"Default_ReLU-op0"}
)


def by_search(name: str, truth: str, made: str, option: str) -> None:
    """Declare an operator that a search named, which its own values do not show."""

    def generate(folder: Path) -> Question:
        step = Dump(folder / "dump").iteration(0)
        step.output("Default/ReLU-op0", np.ones(2, np.float32))

        def ask() -> list[Claim]:
            entries = list_tensors(open_dump(folder / "dump"), 0, 0).items
            key = operator_key(entries[0])
            fault, caught = (key, []) if option == "fault" else (None, [key])
            by_operator = symptoms(measure_all(entries), caught=caught, fault=fault)
            return words("graph.symptom", *(symptom.name.lower() for symptom in by_operator.values()))

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("graph.symptom", SYMPTOMS, made))(generate)


def by_counts(name: str, truth: str, counts: dict[str, int], made: str, never: str) -> None:
    """Declare what the legend says of operators with NaN or Inf, given the numbers of all symptoms."""

    def generate(folder: Path) -> Question:
        script = ("components/graph/dump_marks.js", "symptomWord", ["lost", counts])
        return Question(script=script, word="graph.symptom.{}")

    generate.__name__, generate.__doc__ = name, truth
    situation([f"graph.symptom.{made}"], [f"graph.symptom.{never}"])(generate)


by_counts("others_beside_the_fault", "It is counted itself.", {"fault": 1, "lost": 3}, "lost_others", "lost")
by_counts("operators_without_a_fault", "None is counted apart.", {"lost": 3}, "lost", "lost_others")
by_search("operator_of_the_first_fault", "The search for it named this one.", "fault", "fault")
by_search("operator_that_a_check_caught", "A condition was met.", "caught", "caught")


def health(name: str, truth: str, state: str, judged: int, unjudged: int) -> None:
    def generate(folder: Path) -> Question:
        script = ("components/graph/dump_legend.js", "healthText", [judged, unjudged])
        return Question(script=script, word="graph.dump.{}")

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("graph.dump", HEALTH, state))(generate)


health("dump_judged_in_full", "Every operator of the dump is in the graph.", "fine", 5, 0)
health("dump_judged_in_part", "One is not in the graph.", "fine_here", 4, 1)
health("dump_of_another_graph", "None is in the graph.", "unjudged", 0, 5)


def joined(name: str, truth: str, inside: Sequence[str], ran: Sequence[str], *made: str) -> None:
    """Declare a module with these operators in the graph, and those that ran in it as a dump has them."""

    def generate(folder: Path) -> Question:
        graph = GraphBuilder("net")
        value = graph.parameter("x", (2,))
        with graph.scope("fc-Linear"):
            for operator in inside:
                value = graph.node(operator, [value], (2,))
        graph.output(value)
        read = read_graph(graph.model().graph.SerializeToString())

        def ask() -> list[Claim]:
            names = [f"Default/fc-Linear/{operator}" for operator in ran]
            result = join([Operator(name, name, "", (), "", i, -1) for i, name in enumerate(names)], read)
            return words("graph.dump", *[way for way in WAYS if getattr(result, way)])

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("graph.dump", WAYS, *made))(generate)


WAYS = ("by_order", "by_module", "renamed", "ambiguous")
joined("dump_of_the_graphs_names", "Each is in the graph.", ["linear"], ["linear-op0"])
joined("dump_of_other_numbers", "The names are those of the graph, the numbers are not.", ["linear"],
       ["linear-op7"], "by_order")  # fmt: skip
joined("dump_of_what_ran_for_a_module", "They ran for the one operator of the module.", ["linear"],
       ["t-op0", "addmm-op0"], "by_module")  # fmt: skip
joined("dump_of_what_ran_for_several", "Which of the two operators they ran for is unknown.",
       ["linear", "mul"], ["t-op0", "addmm-op0"], "ambiguous")  # fmt: skip
joined("dump_of_more_than_the_graph", "All of the module are in the dump, and sub beside them.",
       ["linear", "mul"], ["linear-op0", "mul-op0", "sub-op0"])  # fmt: skip
joined("dump_of_two_of_a_name_that_the_graph_has_once", "Which of them the graph has is unknown.",
       ["mul"], ["mul-op0", "mul-op1"], "ambiguous")  # fmt: skip
joined("dump_after_another_mul", "Both numbers are one larger, as another ran outside the module.",
       ["mul", "mul"], ["mul-op1", "mul-op2"], "by_order")  # fmt: skip


def modules(*names: str) -> None:
    """Declare a dump of three modules of these names, which the graph names fc1-Linear to fc3-Linear."""

    def generate(folder: Path) -> Question:
        graph = GraphBuilder("net")
        value = graph.parameter("x", (2,), role="input")
        for number in (1, 2, 3):
            with graph.scope(f"fc{number}-Linear"):
                value = graph.node("linear", [value], (2,))
        graph.output(value)
        read = read_graph(graph.model().graph.SerializeToString())

        def ask() -> list[Claim]:
            ran = [f"Default/{name}/linear-op{i}" for i, name in enumerate(names)]
            result = join([Operator(own, own, "", (), "", i, -1) for i, own in enumerate(ran)], read)
            return words("graph.dump", *[way for way in WAYS if getattr(result, way)])

        return Question(direct=ask)

    made = ["renamed"] if names[-1].endswith("-Linear") else []
    generate.__name__ = "_".join(("dump_of_modules", *names)).replace("-", "_").lower()
    situation(**exactly("graph.dump", WAYS, *made))(generate)


modules("up-Linear", "mid-Linear", "down-Linear")
modules("up-Linear", "mid-Linear", "down-Conv")  # of another class: nothing is known of them


def unmatched(name: str, truth: str, matched: int, *made: str) -> None:
    """Declare a dump of five operators of which so many are in the graph, and one may be for several."""
    counts = {"dumped": 5, "found": matched, "by_order": 0, "by_module": 0, "renamed": 0, "ambiguous": 1}

    def generate(folder: Path) -> Question:
        ways = ("components/graph/dump_legend.js", "matchWays", [counts])
        return Question(script=ways, word="graph.dump.{}")

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("graph.dump", (*WAYS, "nameless"), *made))(generate)


unmatched("dump_of_names_that_no_operator_has", "Two are not in the graph.", 2, "ambiguous", "nameless")
unmatched("dump_of_which_one_is_ambiguous", "The four others are in the graph.", 4, "ambiguous")


def script_says(name: str, truth: str, script: tuple[str, str, Sequence[Any]], key: str, holds: bool) -> None:
    """Declare whether a page's function confirms a text."""

    def generate(folder: Path) -> Question:
        return Question(script=script, word=key)

    generate.__name__, generate.__doc__ = name, truth
    situation([key] if holds else [], [] if holds else [key])(generate)


def of_nothing(name: str, truth: str, ambiguous: int, holds: bool) -> None:
    """Declare a dump of five operators of which none is in the graph."""
    counts = {"dumped": 5, "found": 0, "ambiguous": ambiguous}
    script = ("components/graph/dump_legend.js", "namesNothing", [counts])
    script_says(name, truth, script, "graph.dump.no_name", holds)


def last_value(name: str, truth: str, end: Sequence[float | None], holds: bool) -> None:
    """Declare a curve that ends with this value: None stands for NaN, nothing for no value."""
    script_says(name, truth, ("views/scalar/chart_footer.js", "isUnranked", end), "scalar.unranked", holds)


of_nothing("dump_of_other_names", "No name is in the graph.", 0, True)
of_nothing("dump_of_names_that_fit_several", "Two names are in the graph.", 2, False)
last_value("curve_that_ends_in_nan", "The last value is NaN.", [None], True)
last_value("curve_that_ends_in_a_number", "The last value is finite.", [1.5], False)
last_value("curve_without_a_value", "There is no last value.", [], False)


def differing(name: str, truth: str, total: int, made: Sequence[str], never: Sequence[str]) -> None:
    """Declare the list of so many differences between two graphs."""

    def generate(folder: Path) -> Question:
        listed = ("views/graph/differences.js", "nothingDiffers", [total])
        return Question(script=listed, word="graph.differences.none")

    generate.__name__, generate.__doc__ = name, truth
    situation(made, never)(generate)


differing("graphs_without_a_difference", "The list is empty.", 0, ["graph.differences.none"], [])
differing("graphs_with_one_difference", "The list has one.", 1, [], ["graph.differences.none"])


# Reports


REPORT = (
    "no_settings", "no_alerts", "no_faults", "no_curves", "no_checkpoint", "non_finite", "unread_dumps",
)  # fmt: skip


def report(
    name: str,
    truth: str,
    *made: str,
    values: Sequence[float] = (),
    dump: bytes | None = None,
    alerted: bool = False,
) -> None:
    """Declare a run with a loss of these values, perhaps a removed dump, and what its report says."""

    def generate(folder: Path) -> Question:
        with SummaryRecord(str(folder / "a")) as record:
            for step, value in enumerate(values):
                record.add_value("scalar", "loss", value)
                record.record(step)
            record.add_value("text", "note", "x")
            record.record(len(values))
            if alerted:
                record.alert("title", "text", level="error")
                record.record(len(values) + 1)
        if alerted:
            event = LineageEvent(wall_time=1.0)
            event.train_lineage.hyper_parameters.optimizer = "SGD"
            event.train_lineage.model.path = "net-1.ckpt"
            lineage = folder / "a" / "x.out.events.summary.1.host_MS_lineage"
            lineage.write_bytes(encode_record(event.SerializeToString()))
        if dump is not None:
            (folder / "a" / "dump" / "step0" / "rank0").mkdir(parents=True)
            (folder / "a" / "dump" / "step0" / "rank0" / "dump.json").write_bytes(dump)

        def removed(dump: str) -> Path:
            raise FileNotFoundError(dump)  # after it had been found

        def ask() -> list[Claim]:
            summary = Summary(folder)
            source = ReportSource(summary.run("./a"), summary.by_id(), removed)
            html = next(part.html for part in make_report(source, "en") if isinstance(part, Page))
            shown = [word for word in REPORT if language_texts("en")[f"report.{word}"] in html]
            return words("report", *shown, *["non_finite"] * ("non-finite" in html))

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("report", REPORT, *made))(generate)


EMPTY = ("no_settings", "no_alerts", "no_checkpoint")
report("report_of_a_text", "Nothing else was recorded.", *EMPTY, "no_faults", "no_curves")
report("report_of_a_loss", "A curve, and nothing else.", *EMPTY, "no_faults", values=[2, 1])
report("report_of_a_loss_with_nan", "One of two points.", *EMPTY, "no_faults", "non_finite", values=[2, NAN])
report(
    "report_with_a_dump_that_was_removed",
    "A dump belongs to the run.",
    *EMPTY,
    "unread_dumps",
    values=[2, 1],
    dump=b"{",
)


# The badge of a first fault


BADGES = ("made", "met", "unknown")


def badge(name: str, truth: str, made: str, given: Any, output: Any, weight: Any = None) -> None:
    def generate(folder: Path) -> Question:
        step = Dump(folder / "dump").iteration(0)
        if weight is not None:
            step.parameter("fc.weight", np.asarray(weight, np.float32))
            step.input("Default/MatMul-op0", np.asarray(weight, np.float32), 1)
        if given is not None:
            step.input("Default/MatMul-op0", np.asarray(given, np.float32), 0)
        step.output("Default/MatMul-op0", np.asarray(output, np.float32))

        def ask() -> list[Claim]:
            return words(
                "dump.fault.badge",
                *(fault.kind for fault in report_of(search_faults(open_dump(folder / "dump"))).faults),
            )

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("dump.fault.badge", BADGES, made))(generate)


ONES = np.ones((2, 2))
badge("badge_of_an_operator_that_made_nan", "Its inputs are finite.", "made", ONES, ONES * NAN, ONES)
badge("badge_of_an_operator_that_received_nan", "Its weight holds it.", "met", ONES, ONES * NAN, ONES * NAN)
badge("badge_of_an_operator_without_inputs", "They were not recorded.", "unknown", None, ONES * NAN)


report(
    "report_of_a_run_that_tells_all",
    "Configuration, checkpoint and an alert.",
    "no_faults",
    values=[2, 1],
    alerted=True,
)
