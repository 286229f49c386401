"""Trends of weights and gradients between two steps."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.debug.trends import trends
from mindinsight.server.formats.dumps import list_tensors, open_dump, read_tensor


def between(path: Any) -> dict[Any, Any]:
    dump = open_dump(path)
    first, second = (list_tensors(dump, 0, step).items for step in (0, 1))
    return {trend.entry.operator: trend for trend in trends(first, second)}


def changed(path: Any, step: Any, pattern: Any, change: Any) -> None:
    (file,) = (path / "rank_0" / "Net" / "0" / str(step)).glob(pattern)
    np.save(file, change(np.load(file)))


def test_weights_and_gradients_are_measured_against_the_step_before(data: Any) -> None:
    trends = between(data / "ms_sync_v2_0_names")
    weights = {name for name, trend in trends.items() if trend.kind == "weight"}
    assert weights == {"conv1.weight", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}
    assert trends["conv1.weight"].ratio == pytest.approx(0.00043906, rel=1e-4)
    assert (trends["conv1.weight"].state, trends["fc2.bias"].state) == ("", "jumping")
    for trend in trends.values():
        values = read_tensor(trend.entry.ref).astype(float)
        assert trend.now == pytest.approx(np.abs(values).mean())
        if trend.kind == "gradient" and trend.before:
            assert trend.ratio == pytest.approx(trend.now / trend.before)


@pytest.mark.parametrize(
    ("pattern", "change", "operator", "state"),
    [
        ("Parameter.conv1.weight.*", lambda now: None, "conv1.weight", "unchanged"),
        ("Parameter.conv1.weight.*", lambda now: now * np.nan, "conv1.weight", "not_finite"),
        ("MatMul.MatMul-op66.*.output.*", lambda now: now * 1e-12, "MatMul-op66", "vanishing"),
        ("MatMul.MatMul-op66.*.output.*", lambda now: now * 1e6, "MatMul-op66", "exploding"),
        ("MatMul.MatMul-op66.*.output.*", lambda now: now + np.inf, "MatMul-op66", "not_finite"),
    ],
)
def test_states(copied: Any, pattern: str, change: Any, operator: str, state: str) -> None:
    path = copied("ms_sync_v2_0_names")
    if state == "unchanged":
        (before,) = (path / "rank_0" / "Net" / "0" / "0").glob(pattern)
        changed(path, 1, pattern, lambda now: np.load(before))
    else:
        changed(path, 1, pattern, change)
    trend = next(trend for name, trend in between(path).items() if name.endswith(operator))
    assert trend.state == state
