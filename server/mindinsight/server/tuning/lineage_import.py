"""Import of past runs as trials, if their lineage has all parameters and targets of the tuning file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from mindinsight.server.store.run import Run
from mindinsight.server.tuning.study import IMPORTED, RUN
from mindinsight.server.tuning.trial_process import LiveRuns, Missing, target_value
from mindinsight.server.tuning.tuning_file import Config
from mindinsight.server.tuning.tuning_parameters import Parameter, Value, Values, distribution
from mindinsight.server.tuning.yaml_nodes import is_number

if TYPE_CHECKING:
    from optuna import Study

Reason: TypeAlias = tuple[str, str]  # key of a text, and the name of a parameter or ""

_TOLERANCE = 1e-6  # relative; lineage stores some numbers as float32


def import_lineage(study: Study, config: Config) -> tuple[int, Counter[Reason]]:
    """Add a trial for each suitable past run, and return the number added, and the numbers skipped by
    reason. Runs that already are trials of the study, and ranks other than the first, are ignored. Runs
    are searched below the base directory."""
    from optuna.trial import create_trial

    known = {trial.user_attrs.get(RUN) for trial in study.get_trials(deepcopy=False)}
    count, reasons = 0, Counter[Reason]()
    runs = LiveRuns(config.summary_base_dir).read()
    for run in sorted(runs.values(), key=lambda run: (run.first_event, run.id)):
        if run.path in known or (run.rank or 0) > 0:
            continue
        values = past_values(run, config)
        if isinstance(values, tuple):
            reasons[values] += 1
            continue
        results = [target_value({run.id: run}, target) for target in config.targets]
        targets = [value for value in results if not isinstance(value, Missing) and math.isfinite(value)]
        if len(targets) < len(results):
            reasons["cli.tune.import.no_target", ""] += 1
            continue
        spaces = {p.name: distribution(p) for p in config.parameters if p.name in values}
        attributes = {RUN: run.path, IMPORTED: True}
        study.add_trial(
            create_trial(params=values, distributions=spaces, values=targets, user_attrs=attributes)
        )
        count += 1
    return count, reasons


def past_values(run: Run, config: Config) -> Values | Reason:
    """Return the values of a run's parameters by name from its lineage. If the run is no trial of this study,
    return the reason: the key of a text, and the name of the parameter."""
    values: Values = {}
    for parameter in config.parameters:
        if not parameter.active(values):
            continue
        recorded = _recorded(run, parameter)
        if recorded is None:
            return "cli.tune.import.missing", parameter.name
        value = fitting(recorded, parameter)
        if value is None:
            return "cli.tune.import.other", parameter.name
        values[parameter.name] = value
    return values


def _recorded(run: Run, parameter: Parameter) -> Any:
    """Return the recorded value of a parameter, or None if the lineage does not have it."""
    lineage = run.lineage
    if lineage is None:
        return None
    if not parameter.user_defined and lineage.train is not None:
        value = getattr(lineage.train, parameter.name)
        if value is not None:
            return value
    custom: Mapping[str, Any] = lineage.user_defined
    return custom.get(parameter.name)


def fitting(recorded: Any, parameter: Parameter) -> Value | None:
    """Return the value of the parameter that a recorded value stands for, or None if it can have no such
    value. Lineage rounds to float32, so that a recorded value may be slightly outside of the range."""
    if parameter.choices:
        for choice in parameter.choices:
            if _is_same(choice, recorded):
                return choice
        return None
    if not is_number(recorded) or not math.isfinite(recorded):
        return None
    room = _TOLERANCE * max(abs(parameter.low), abs(parameter.high))
    if not parameter.low - room <= recorded <= parameter.high + room:
        return None
    value = min(max(float(recorded), parameter.low), parameter.high)
    if parameter.integer:
        return int(value) if value == int(value) else None
    if parameter.step is not None:
        steps = round((value - parameter.low) / parameter.step)
        value = round(parameter.low + steps * parameter.step, 15)
        return value if math.isclose(value, recorded, rel_tol=1e-5, abs_tol=room) else None
    return value


def _is_same(choice: Value, recorded: Any) -> bool:
    """Return True if a choice equals a recorded value. Lineage stores float32 numbers, and booleans as
    text."""
    if isinstance(choice, (int, float)) and is_number(choice) and is_number(recorded):
        return math.isclose(choice, recorded, rel_tol=_TOLERANCE)
    return str(choice) == str(recorded)
