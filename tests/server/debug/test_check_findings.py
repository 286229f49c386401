"""Hits of a check grouped by condition and operator."""

import math
from pathlib import Path

import numpy as np

from mindinsight.server.debug.check_findings import group_hits, operator_findings
from mindinsight.server.debug.watchpoints import Hit, Watchpoint, check_and_count, common_faults
from mindinsight.server.formats.dumps import open_dump
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump


def hits_of(root: Path) -> list[Hit]:
    return [hit for hit in check_and_count(open_dump(root), common_faults()) if isinstance(hit, Hit)]


def test_outputs_of_one_operator_are_one_row(tmp_path: Path) -> None:
    dump, zeros = Dump(tmp_path), np.zeros(8, np.float32)
    for number in range(2):
        step = dump.iteration(number)
        step.output("Default/split-op0", zeros, slot=0)
        step.output("Default/split-op0", zeros, slot=1)
        step.output("Default/add-op0", zeros)
    rows = operator_findings(group_hits(hits_of(tmp_path)))
    assert [[finding.hits[0].entry.slot for finding in row] for row in rows] == [["0", "1"], ["0"]]
    assert all(row[0].steps == [0, 1] for row in rows)


def test_a_view_is_left_out_only_beside_the_tensor_that_it_views(tmp_path: Path) -> None:
    graph, zeros = GraphBuilder("Net"), np.zeros((2, 4), np.float32)
    graph.output(graph.node("t", [graph.node("tanh", shape=(2, 4))], shape=(4, 2)))
    step = Dump(tmp_path, graph=graph).iteration(0)
    step.output("Default/tanh-op0", zeros)
    step.output("Default/t-op0", zeros.T)
    hits = hits_of(tmp_path)
    assert [finding.hits[0].entry.operator for finding in group_hits(hits)] == ["Default/tanh-op0"]
    alone = [hit for hit in hits if hit.entry.operator == "Default/t-op0"]
    assert len(group_hits(alone)) == 1


def test_the_worst_of_a_kind_leads(tmp_path: Path) -> None:
    """By how many times it exceeds its limit, and not by its step."""
    dump = Dump(tmp_path)
    noise = np.random.default_rng(0).normal(size=64).astype(np.float32)
    for number in range(3):
        step = dump.iteration(number)
        step.parameter("first.weight", noise * np.float32(3**number))
        step.parameter("worst.weight", noise * np.float32(1 if number < 2 else 1e4))
    names = [finding.hits[0].entry.operator for finding in group_hits(hits_of(tmp_path))]
    assert [name for name in names if "weight" in name][:2] == ["worst_weight", "first_weight"]
    assert [round(finding.excess) for finding in group_hits(hits_of(tmp_path))][:2] == [9999, 2]


def test_a_row_shows_the_step_whose_figure_the_sentence_states(tmp_path: Path) -> None:
    dump, noise = Dump(tmp_path), np.random.default_rng(0).normal(size=64).astype(np.float32)
    for number, scale in enumerate((1, 3, 300, 900)):
        dump.iteration(number).parameter("fc.weight", noise * np.float32(scale))
    (finding,) = [row for row in group_hits(hits_of(tmp_path)) if row.kind == "exploding"]
    assert finding.steps == [1, 2, 3]
    assert finding.worst_hit.entry.step == 2
    assert finding.worst_hit.verdict.findings[0].actual == finding.claim.values["actual"]


def test_a_limit_of_zero_is_exceeded_without_bound_and_another_by_a_factor(tmp_path: Path) -> None:
    step = Dump(tmp_path).iteration(0)
    step.output("Default/add-op0", np.ones(4, np.float32))
    bounds = {("tensor_too_large", "max_gt", 0.0): math.inf, ("tensor_too_small", "max_lt", 2.0): 2.0}
    for (condition, name, limit), excess in bounds.items():
        watch = Watchpoint(1, condition, {name: limit})
        hits = [hit for hit in check_and_count(open_dump(tmp_path), [watch]) if isinstance(hit, Hit)]
        assert [finding.excess for finding in group_hits(hits)] == [excess]
