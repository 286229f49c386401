"""Seeds make every generator of this process start anew; what is no seed is refused before any is set."""

import random
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.precision_debugger.seeds import seed_all


def numbers() -> tuple[float, float]:
    return random.random(), float(np.random.random())


def test_equal_seeds_give_equal_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # put back afterwards
    seed_all(7)
    first = numbers()
    assert numbers() != first
    seed_all(7)
    assert numbers() == first


@pytest.mark.parametrize(
    ("seed", "mode", "error"),
    [
        (1.5, False, TypeError),
        (True, False, TypeError),
        (-1, False, ValueError),
        (1 << 32, False, ValueError),
        (1, 1, TypeError),
    ],
)
def test_what_is_no_seed_changes_nothing(seed: Any, mode: Any, error: type[Exception]) -> None:
    state = random.getstate()
    with pytest.raises(error):
        seed_all(seed, mode)
    assert random.getstate() == state
