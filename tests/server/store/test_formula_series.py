from typing import Any

import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.store.formula_series import FormulaSeries, formula_of, series_of
from tests.server.plugins.scalar.runs import part, run


def recorded() -> Any:
    return run("./a", "./a", acc=[part([1, 2, 3], [0.5, 0.75, 1.0])], loss=[part([2, 3, 4], [1.0, 2.0, 4.0])])


def test_a_formula_has_the_steps_that_its_scalars_share() -> None:
    series = series_of(recorded(), "=acc * loss")
    assert isinstance(series, FormulaSeries)
    line = series.line()
    assert (line.steps.tolist(), line.values.tolist()) == ([2, 3], [0.75, 2.0])
    assert len(line.walls) == 2
    assert series.count == 6, "a new point of either scalar is a new state"
    assert list(series.overwritten()) == []


def test_a_recorded_scalar_is_itself_also_if_its_name_looks_like_a_formula() -> None:
    member = run("./a", "./a", **{"=acc": [part([1], [0.5])]})
    assert series_of(member, "=acc") is member.scalars["=acc"]
    assert series_of(member, "acc") is None


@pytest.mark.parametrize("tag", ["=acc + gone", "=gone"])
def test_a_run_without_a_scalar_of_the_formula_has_no_series(tag: str) -> None:
    assert series_of(recorded(), tag) is None


def test_scalars_without_a_common_step_have_no_series() -> None:
    member = run("./a", "./a", a=[part([1], [1.0])], b=[part([2], [1.0])])
    assert series_of(member, "=a + b") is None


def test_an_invalid_formula_is_an_error_with_its_text() -> None:
    with pytest.raises(ApiError) as error:
        formula_of("=acc +")
    assert (error.value.status, error.value.code) == (422, "bad_formula")
