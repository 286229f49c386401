"""Statistics of tensors."""

import json
from typing import Any

from tests.server.commands.dump.conftest import LENET


def test_stat_measures_and_tells_by_its_exit_code(run: Any, broken: Any) -> None:
    code, out, _ = run("dump", "stat", LENET, "--step", 1, "--json")
    assert code == 0
    assert len(json.loads(out)) == 99
    code, out, _ = run("dump", "stat", broken, "--not-finite", "--json")
    assert code == 1
    (row,) = json.loads(out)
    assert (row["step"], row["type"], row["nans"], row["computed"]) == (1, "MatMul", 1, True)


def test_stat_sorts(run: Any) -> None:
    _, out, _ = run("dump", "stat", LENET, "--step", 0, "--sort", "norm", "--json")
    norms = [row["norm"] for row in json.loads(out)]
    assert norms == sorted(norms, reverse=True)
