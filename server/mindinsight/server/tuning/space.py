"""Search space: suggestion of values by Optuna, and their handover to the training process."""

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
MARK: Final = "MINDINSIGHT_TRIAL"  # environment variable that identifies the processes of a trial
PARAMETER: Final = "MINDINSIGHT_PARAM_"  # prefix of a parameter's name in the environment
LARGEST_GRID: Final = 100_000  # combinations; Optuna's GridSampler holds all of them in memory
_MOST_CHARACTERS: Final = 100_000  # of a hyper config, the limit of MindSpore's collector


def suggest(trial: Trial, parameters: Sequence[Parameter]) -> Values:
    """Ask Optuna for the values of a trial, in the order of the file.

    Inactive conditional parameters are omitted.
    """
    values: Values = {}
    for parameter in parameters:
        if parameter.active(values):
            values[parameter.name] = _suggested(trial, parameter)
    return values


def _suggested(trial: Trial, parameter: Parameter) -> Value:
    """Ask Optuna for the value of one parameter."""
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
    """Convert a parameter to Optuna's distribution."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    if parameter.integer:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)


def grid_size(parameters: Sequence[Parameter]) -> int:
    """Return the number of combinations. Raises BadSettings beyond LARGEST_GRID."""
    count = 0
    for _ in _combinations(parameters, {}):
        count += 1
        if count > LARGEST_GRID:
            raise BadSettings(f"The grid has more than {LARGEST_GRID} trials; try fewer values or tpe.")
    return count


def _combinations(parameters: Sequence[Parameter], values: Values) -> Iterator[Values]:
    """Yield every combination of the parameters after those in `values`."""
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
    """Return the content of `MINDINSIGHT_HYPER_CONFIG`.

    Raises BadSettings if it is too long for its readers.
    """
    custom = {
        parameter.name: values[parameter.name]
        for parameter in parameters
        if parameter.user_defined and parameter.name in values
    }
    text = json.dumps({"params": values, "summary_dir": str(folder), "custom_lineage_data": custom})
    if len(text) > _MOST_CHARACTERS:
        raise BadSettings(
            f"The values of a trial are {len(text)} characters; {_MOST_CHARACTERS} are allowed."
        )
    return text


def environment(values: Values, config: str, mark: str) -> dict[str, str]:
    """Return the environment variables that pass the values of a trial to its processes."""
    plain = {f"{PARAMETER}{name}": shown(value) for name, value in values.items()}
    return {**plain, HYPER_CONFIG: config, MARK: mark}


def fill_in(command: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Replace `{name}` in each word of a command by the value of that name. Other braces are unchanged."""
    filled = []
    for word in command:
        for name, value in values.items():
            word = word.replace(f"{{{name}}}", shown(value))  # noqa: PLW2901
        filled.append(word)
    return filled


def shown(value: object) -> str:
    """Format a value for a command line. Booleans become `true` and `false`, as in YAML."""
    return str(value).lower() if isinstance(value, bool) else str(value)
