"""JSON encoders of the debugger's values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.fault import source_frame
from mindinsight.server.formats.dumps.types import FileDamage, Operator, RecordedStatistics, TensorEntry
from mindinsight.server.formats.graphs.call_stacks import Frame, own_frame
from mindinsight.server.plugins.dump.dependencies import without_folders


def entry_json(entry: TensorEntry, result: TensorResult | None) -> dict[str, Any]:
    """A row of the tensor table: the identity of a tensor and, once computed, its statistics."""
    measurement = result.measurement if result else None
    return {
        "graph": entry.graph,
        "operator": entry.operator,
        "recorded": entry.recorded,
        "type": entry.type,
        "direction": entry.direction,
        "slot": entry.slot,
        "sequence": entry.sequence,
        "order": entry.order,
        "dtype": entry.dtype or (measurement.dtype if measurement else ""),
        "shape": list(measurement.shape) if measurement else entry.shape and list(entry.shape),
        "format": entry.format,
        "values": entry.ref is not None,
        "known": result is not None,
        "computed": bool(result and result.computed and measurement),
        "statistics": non_finite_as_text(asdict(measurement.statistics)) if measurement else None,
        "finite": measurement.statistics.finite if measurement else None,  # None: not known
        "damage": damage_json((result.damage if result else None) or entry.damage),
    }


def damage_json(damage: FileDamage | None) -> dict[str, str] | None:
    if damage is None:
        return None
    return {
        "file": without_folders(damage.path),
        "reason": damage.reason,
        "detail": without_folders(damage.detail),
    }


def recorded_json(recorded: RecordedStatistics | None) -> dict[str, Any] | None:
    """Recorded statistics, without the values that were not recorded."""
    if recorded is None:
        return None
    return {
        name: non_finite_as_text(value) for name, value in asdict(recorded).items() if value not in (None, "")
    }


def operator_json(operator: Operator) -> dict[str, Any]:
    """An operator with its call stacks; ``source`` is the frame of the user's code, else the innermost."""
    return {
        "graph": operator.graph,
        "operator": operator.name,
        "recorded": operator.recorded,
        "type": operator.type,
        "scope": operator.scope,
        "sequence": operator.sequence,
        "order": operator.order,
        "arguments": operator.arguments,
        "source": frame_json(source_frame(operator)),
        "stack": [frame_json(frame) for frame in operator.stack],
        "other_stacks": [[frame_json(frame) for frame in stack] for stack in operator.other_stacks],
    }


def frame_json(frame: Frame | None) -> dict[str, Any] | None:
    if frame is None:
        return None
    return {**asdict(frame), "own": own_frame((frame,)) is not None}
