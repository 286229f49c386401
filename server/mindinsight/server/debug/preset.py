"""Preset watchpoints for common faults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, TypeAlias

from mindinsight.server.debug.limits import checked_limits
from mindinsight.server.debug.watchpoints import Watchpoint

Preset: TypeAlias = tuple[str, Mapping[str, float], tuple[str, ...]]  # condition, limits, operator types

# Beyond these inputs both functions are constant in single precision, and their gradients are zero.
_TANH: Final = math.tanh(8.8)
_SIGMOID: Final = 1 / (1 + math.exp(-16.2))

_PRESETS: Final[tuple[Preset, ...]] = (
    ("tensor_overflow", {}, ()),
    ("operator_overflow", {}, ()),
    ("weight_overflow", {}, ()),
    ("tensor_all_zero", {}, ()),
    ("gradient_vanishing", {"abs_mean_lt": 1e-9}, ()),
    ("weight_change_too_small", {}, ()),
    ("weight_change_too_large", {"abs_mean_update_ratio_gt": 1.0}, ()),
    ("weight_not_changed", {}, ()),
    ("weight_initialization", {}, ()),
)
_RANGES: Final[tuple[tuple[tuple[str, ...], float, float, Mapping[str, float]], ...]] = (
    (("tanh",), -_TANH, _TANH, {"range_percentage_lt": 0.1}),
    (("sigmoid",), 1 - _SIGMOID, _SIGMOID, {"range_percentage_lt": 0.1}),
    (("relu", "relu6", "reluv2", "leakyrelu", "prelu"), -1.0, 0.0, {"range_percentage_gt": 99.9}),
)


def common_faults() -> tuple[Watchpoint, ...]:
    """Watchpoints for overflow, zeros, vanishing gradients, constant or jumping weights, saturation.

    The set and its limits are those that MindInsight's debugger recommended.
    """
    ranges: list[Preset] = [
        ("activation_range", {"range_start_inclusive": start, "range_end_inclusive": end, **limits}, types)
        for types, start, end, limits in _RANGES
    ]
    return tuple(
        Watchpoint(number, condition, checked_limits(condition, limits), types=types, spares_masks=True)
        for number, (condition, limits, types) in enumerate([*_PRESETS, *ranges], 1)
    )
