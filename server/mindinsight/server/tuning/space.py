"""Search space: values of a trial asked from Optuna, and how a training is given them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning.tuning_parameters import Parameter, Value

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

Values: TypeAlias = dict[str, Value]

HYPER_CONFIG: Final = "MINDINSIGHT_HYPER_CONFIG"
MARK: Final = "MINDINSIGHT_TRIAL"  # environment variable by which processes of a trial are known
PARAMETER: Final = "MINDINSIGHT_PARAM_"  # and the name as it is in the tuning file
LARGEST_GRID: Final = 100_000  # combinations
_LONGEST: Final = 100_000  # characters of the hyper config that MindSpore's collector reads


def suggest(trial: Trial, parameters: Sequence[Parameter]) -> Values:
    """The values of a trial, in the order of the file; conditional parameters only where they apply."""
    values: Values = {}
    for parameter in parameters:
        if parameter.active(values):
            values[parameter.name] = _suggested(trial, parameter)
    return values


def _suggested(trial: Trial, parameter: Parameter) -> Value:
    name = parameter.name
    if parameter.choices:
        chosen: Value = trial.suggest_categorical(name, parameter.choices)  # type: ignore[assignment]
        return chosen
    if parameter.integer:
        return trial.suggest_int(name, int(parameter.low), int(parameter.high), log=parameter.log)
    if parameter.step is not None:
        value = trial.suggest_float(name, parameter.low, parameter.high, step=parameter.step)
        return round(value, 15)
    return trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)


def distribution(parameter: Parameter) -> BaseDistribution:
    """The parameter as Optuna describes it."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    if parameter.integer:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)


def grid_size(parameters: Sequence[Parameter]) -> int:
    """How many different trials there are. Raises BadSettings beyond LARGEST_GRID."""
    count = 0
    for _ in _combinations(parameters, {}):
        count += 1
        if count > LARGEST_GRID:
            raise BadSettings(f"The grid has more than {LARGEST_GRID} trials; try fewer values or tpe.")
    return count


def _combinations(parameters: Sequence[Parameter], values: Values) -> Iterator[Values]:
    if not parameters:
        yield values
        return
    first, rest = parameters[0], parameters[1:]
    if not first.active(values):
        yield from _combinations(rest, values)
        return
    for value in first.values():
        yield from _combinations(rest, {**values, first.name: value})


def hyper_config(values: Values, parameters: Sequence[Parameter], folder: Path) -> str:
    """The content of ``MINDINSIGHT_HYPER_CONFIG``. Raises BadSettings when it is longer than readers take."""
    custom = {
        parameter.name: values[parameter.name]
        for parameter in parameters
        if parameter.user_defined and parameter.name in values
    }
    text = json.dumps({"params": values, "summary_dir": str(folder), "custom_lineage_data": custom})
    if len(text) > _LONGEST:
        raise BadSettings(f"The values of a trial are {len(text)} characters; {_LONGEST} are allowed.")
    return text


def environment(values: Values, config: str, mark: str) -> dict[str, str]:
    """The variables that a training finds its values in."""
    plain = {f"{PARAMETER}{name}": shown(value) for name, value in values.items()}
    return {**plain, HYPER_CONFIG: config, MARK: mark}


def fill_in(command: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """The words of a command with ``{name}`` replaced by its value; other braces stay as they are."""
    filled = []
    for word in command:
        for name, value in values.items():
            word = word.replace(f"{{{name}}}", shown(value))  # noqa: PLW2901
        filled.append(word)
    return filled


def shown(value: object) -> str:
    """A value as a command line takes it: ``true`` and ``false`` as YAML has them."""
    return str(value).lower() if isinstance(value, bool) else str(value)
