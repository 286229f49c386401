"""Hits that a healthy training has too. What a check says of them is in tests/claims/situations/check.py."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.debug.conditions.expected_hits import ExpectedHits
from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.formats.dumps import list_operators, list_tensors, open_dump
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump

SCOPE = "Gradients/Default/blocks-ModuleList/0-Block/k-Linear"


def written(root: Path, terms: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> ExpectedHits:
    """Write the gradient of a bias, the sum of the terms in their type, and return the search in its step."""
    graph = GraphBuilder("Net")
    with graph.scope(f"/{SCOPE}"):
        graph.node("sum", [graph.node("mm", shape=terms.shape)], shape=terms.shape[1:])
    step = Dump(root, graph=graph).iteration(0)
    step.output(f"{SCOPE}/mm-op0", terms)
    step.output(f"{SCOPE}/sum-op0", terms.sum(axis=0, dtype=terms.dtype))
    step.parameter("blocks.0.k.bias", np.ones(terms.shape[1:], np.float32))
    step.parameter("blocks.0.v.bias", np.ones(terms.shape[1:], np.float32))
    dump = open_dump(root)
    entries = list(list_tensors(dump, 0, 0).items)
    return ExpectedHits(entries, entries, list_operators(dump, 0, 0).items, measured)


def measured(entries: Iterable[TensorEntry]) -> Iterator[TensorResult]:
    return measure_all(entries)


def entry_of(root: Path, operator: str) -> TensorEntry:
    dump = open_dump(root)
    (entry,) = (
        entry for entry in list_tensors(dump, 0, 0).items if operator in (entry.operator, entry.recorded)
    )
    return entry


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_terms_of_random_sign_do_not_cancel(tmp_path: Path, dtype: type[np.generic]) -> None:
    """Their sum is less than that of their magnitudes, by the root of their number."""
    terms = np.random.default_rng(0).normal(size=(4096, 8)).astype(dtype)
    search = written(tmp_path, terms)
    assert search.of_gradient(entry_of(tmp_path, f"{SCOPE}/sum-op0"), 1e-9) == ""


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_terms_that_cancel_up_to_rounding_do(tmp_path: Path, dtype: type[np.generic]) -> None:
    half = np.random.default_rng(0).normal(size=(512, 8)).astype(dtype)
    search = written(tmp_path, np.stack([half, -half], 1).reshape(1024, 8))
    assert search.of_gradient(entry_of(tmp_path, f"{SCOPE}/sum-op0"), 1e-9) == "cancelled"
    assert search.of_gradient(entry_of(tmp_path, f"{SCOPE}/mm-op0"), 1e-9) == ""  # the terms themselves


def test_only_the_bias_of_the_module_may_stand_still(tmp_path: Path) -> None:
    half = np.random.default_rng(0).normal(size=(512, 8)).astype(np.float32)
    search = written(tmp_path, np.concatenate([half, -half]))
    changes = [0.0, 0.0, 1e-3]
    keys, values = (entry_of(tmp_path, f"blocks_0_{name}_bias") for name in "kv")
    assert search.of_standstill(keys, 0.0, changes) == "cancelled"
    assert search.of_standstill(values, 0.0, changes) == ""
    assert search.of_standstill(values, None, changes) == ""


def test_a_change_counts_against_the_median_of_all(tmp_path: Path) -> None:
    search = written(tmp_path, np.ones((4, 8), np.float32))
    entry = entry_of(tmp_path, "blocks_0_v_bias")
    assert search.of_standstill(entry, 1e-6, [1e-6, 1e-4, 1e-4]) == "small"
    assert search.of_standstill(entry, 1e-8, [1e-8, 1e-4, 1e-4]) == ""
