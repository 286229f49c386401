"""Parameters of a tuning file: ranges, choices, steps and conditions, and the values that Optuna suggests."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mindinsight.server.errors import bad_settings
from mindinsight.server.tuning.yaml_nodes import Node, is_number, shown, text_of

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial


Value: TypeAlias = bool | int | float | str

# Fields of the training lineage.
SYSTEM_DEFINED: Final = {"learning_rate": "float", "batch_size": "int", "epoch": "int"}
_KEYS: Final = ("bounds", "choice", "type", "decimal", "source", "log", "when")
_MOST_DECIMALS: Final = 15  # decimal digits that a float64 holds exactly
_MOST_CHOICES: Final = 1000  # samplers compare all choices in each trial, and no study tries a thousand


@dataclass(frozen=True, slots=True)
class Parameter:
    """One hyper-parameter: ``choices``, or if there are none a range from ``low`` to ``high``, inclusive."""

    name: str
    choices: tuple[Value, ...] = ()
    low: float = 0.0
    high: float = 0.0
    integer: bool = False
    step: float | None = None  # distance between two values of a float range; None if continuous
    log: bool = False
    user_defined: bool = True  # recorded as custom data of the lineage
    # Values that other parameters must have for this one to apply.
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @property
    def finite(self) -> bool:
        """Return True if the number of values is finite."""
        return bool(self.choices) or self.integer or self.step is not None

    def active(self, values: Mapping[str, Value]) -> bool:
        """Return True if the parameter applies to a trial with these values: all conditions of `when`
        hold."""
        return all(name in values and values[name] in allowed for name, allowed in self.when.items())

    def values(self) -> list[Value]:
        """Return every value of a finite parameter: choices in their order, numbers from low to high."""
        if self.choices:
            return list(self.choices)
        if self.integer:
            return list(range(int(self.low), int(self.high) + 1))
        low, step = Decimal(str(self.low)), Decimal(str(self.step))
        count = int((Decimal(str(self.high)) - low) / step)
        return [float(low + i * step) for i in range(count + 1)]


def read_parameters(node: Node) -> tuple[Parameter, ...]:
    """Return the parameters in the order of the file. Raises ConfigError for an invalid one, and if there are
    none."""
    entries = node.mapping()
    if not entries:
        node.fail("no_parameter")
    parameters: dict[str, Parameter] = {}
    for name, entry in entries.items():
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):
            entry.fail("bad_parameter")
        parameters[name] = _parameter(name, entry, parameters)
    return tuple(parameters.values())


def _parameter(name: str, node: Node, above: Mapping[str, Parameter]) -> Parameter:
    entries = node.mapping(*_KEYS)
    user_defined = _is_user_defined(name, entries)
    if ("bounds" in entries) == ("choice" in entries):
        node.fail("bounds_or_choice")
    when = _conditions(entries["when"], above) if "when" in entries else {}
    if "choice" in entries:
        for key in ("decimal", "log"):
            if key in entries:
                entries[key].fail("only_bounds")
        choices = _choices(entries["choice"])
        if not user_defined:
            _check_system_defined(name, entries["choice"], choices)
        return Parameter(name, choices, user_defined=user_defined, when=when)
    if "type" not in entries:
        node.fail("no_type")
    integer = entries["type"].text("int", "float") == "int"
    if not user_defined and integer != (SYSTEM_DEFINED[name] == "int"):
        entries["type"].fail("lineage_type", name=name, type=SYSTEM_DEFINED[name])
    bounds = _bounds(entries["bounds"])
    if not user_defined:
        _check_system_defined(name, entries["bounds"], bounds[:1])
    log = entries["log"].truth() if "log" in entries else False
    if log and bounds[0] <= 0:
        entries["bounds"].fail("log_from_zero")
    low, high, step = _range(entries, bounds, integer, log)
    return Parameter(name, (), low, high, integer, step, log, user_defined, when)


def _is_user_defined(name: str, entries: Mapping[str, Node]) -> bool:
    if "source" not in entries:
        return name not in SYSTEM_DEFINED
    source = entries["source"].text("system_defined", "user_defined")
    if source == "system_defined" and name not in SYSTEM_DEFINED:
        entries["source"].fail("only_system_defined", names=", ".join(SYSTEM_DEFINED))
    return source == "user_defined"


def _choices(node: Node) -> tuple[Value, ...]:
    entries = node.items()
    if not entries:
        node.fail("no_value")
    if len(entries) > _MOST_CHOICES:
        node.fail("many_choices", n=f"{len(entries):,}", most=f"{_MOST_CHOICES:,}")
    values = tuple(entry.scalar() for entry in entries)
    seen: set[tuple[type, Value]] = set()
    for value in values:
        if (type(value), value) in seen:
            node.fail("listed_twice", got=shown(value))
        seen.add((type(value), value))
    return values


def _check_system_defined(name: str, node: Node, values: Sequence[Value]) -> None:
    for value in values:
        whole = isinstance(value, int)
        if not is_number(value) or value <= 0 or (SYSTEM_DEFINED[name] == "int" and not whole):  # type: ignore[operator]
            problem = "whole_above_zero" if SYSTEM_DEFINED[name] == "int" else "above_zero"
            node.fail(problem, name=name, got=shown(value))


def _bounds(node: Node) -> tuple[float, float]:
    entries = node.items()
    if len(entries) != 2:
        node.fail("no_pair", got=len(entries))
    low, high = (entry.number() for entry in entries)
    if high <= low:
        node.fail("not_rising", low=low, high=high)
    return low, high


def _range(
    entries: Mapping[str, Node], bounds: tuple[float, float], integer: bool, log: bool
) -> tuple[float, float, float | None]:
    """Return the smallest and largest value that a trial may get, and the distance of values, None for
    any. As in MindOptimizer, the upper bound of an int range is not included."""
    low, high = bounds
    if integer:
        if "decimal" in entries:
            entries["decimal"].fail("only_float")
        least, largest = math.ceil(low), math.ceil(high) - 1
        if least > largest:
            entries["bounds"].fail("no_whole_between", low=low, high=high)
        return least, largest, None
    if "decimal" not in entries:
        return float(low), float(high), None
    if log:
        entries["decimal"].fail("no_log_decimal")
    step = Decimal(1).scaleb(-entries["decimal"].whole(0, _MOST_DECIMALS))
    first = (Decimal(str(low)) / step).to_integral_value(ROUND_CEILING)
    last = Decimal(str(high)) // step
    if first > last:
        entries["decimal"].fail("no_decimal_between", low=low, high=high)
    return float(first * step), float(last * step), float(step)


def _conditions(node: Node, above: Mapping[str, Parameter]) -> dict[str, tuple[Value, ...]]:
    """Parse `when: {optimizer: [sgd, momentum]}`. The names must be parameters with choices further up."""
    conditions: dict[str, tuple[Value, ...]] = {}
    for name, entry in node.mapping().items():
        if name not in above or not above[name].choices:
            known = [parameter.name for parameter in above.values() if parameter.choices]
            entry.fail("unknown_condition", names=", ".join(known) or text_of("no_condition"))
        several = isinstance(entry.data, Sequence) and not isinstance(entry.data, str)
        values = tuple(value.scalar() for value in (entry.items() if several else [entry]))
        for value in values:
            if value not in above[name].choices:
                entry.fail("no_choice", got=shown(value), names=", ".join(map(str, above[name].choices)))
        conditions[name] = values
    if not conditions:
        node.fail("empty_condition", example="{optimizer: momentum}")
    return conditions


Values: TypeAlias = dict[str, Value]

HYPER_CONFIG: Final = "MINDINSIGHT_HYPER_CONFIG"
MARK: Final = "MINDINSIGHT_TRIAL"  # environment variable that identifies the processes of a trial
PARAMETER: Final = "MINDINSIGHT_PARAM_"  # prefix of a parameter's name in the environment
LARGEST_GRID: Final = 100_000  # combinations; Optuna's GridSampler holds all of them in memory
_MOST_CHARACTERS: Final = 100_000  # of a hyper config, the limit of MindSpore's collector


def suggest(trial: Trial, parameters: Sequence[Parameter]) -> Values:
    """Return the values that Optuna suggests for a trial, by name in the order of the file, without inactive
    conditional parameters."""
    values: Values = {}
    for parameter in parameters:
        if parameter.active(values):
            values[parameter.name] = _suggested(trial, parameter)
    return values


def _suggested(trial: Trial, parameter: Parameter) -> Value:
    """Return the value that Optuna suggests for one parameter."""
    name = parameter.name
    if parameter.choices:
        chosen: Value = trial.suggest_categorical(name, parameter.choices)  # type: ignore[assignment]
        return chosen
    if parameter.integer:
        return trial.suggest_int(name, int(parameter.low), int(parameter.high), log=parameter.log)
    value = trial.suggest_float(name, parameter.low, parameter.high, step=parameter.step, log=parameter.log)
    return value if parameter.step is None else round(value, 15)


def distribution(parameter: Parameter) -> BaseDistribution:
    """Return a parameter as Optuna's distribution."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    if parameter.integer:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)


def grid_size(parameters: Sequence[Parameter]) -> int:
    """Return the number of combinations of the values of finite parameters. Raises BadSettings beyond
    LARGEST_GRID."""
    count = 0
    for _ in _combinations(parameters, {}):
        count += 1
        if count > LARGEST_GRID:
            raise bad_settings("grid", most=LARGEST_GRID)
    return count


def _combinations(parameters: Sequence[Parameter], values: Values) -> Iterator[Values]:
    """Yield every combination of the parameters after those in `values`."""
    if not parameters:
        yield values
        return
    first, rest = parameters[0], parameters[1:]
    choices = [{first.name: value} for value in first.values()] if first.active(values) else [{}]
    for choice in choices:
        yield from _combinations(rest, {**values, **choice})


def hyper_config(values: Values, parameters: Sequence[Parameter], folder: Path) -> str:
    """Return the content of `MINDINSIGHT_HYPER_CONFIG`: JSON with `params`, `summary_dir` and
    `custom_lineage_data`. Raises BadSettings if it is too long for its readers."""
    custom = {
        parameter.name: values[parameter.name]
        for parameter in parameters
        if parameter.user_defined and parameter.name in values
    }
    text = json.dumps({"params": values, "summary_dir": str(folder), "custom_lineage_data": custom})
    if len(text) > _MOST_CHARACTERS:
        raise bad_settings("trial_values", n=len(text), most=_MOST_CHARACTERS)
    return text


def environment(values: Values, config: str, mark: str) -> dict[str, str]:
    """Return the environment variables that pass the values of a trial, its `hyper_config` and its `mark`
    to its processes. `config` is the content of `hyper_config`, `mark` that of `marked_processes`."""
    plain = {f"{PARAMETER}{name}": word(value) for name, value in values.items()}
    return {**plain, HYPER_CONFIG: config, MARK: mark}


def fill_in(command: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Return the words of a command with each `{name}` replaced by the value of that name. Other braces are
    unchanged.
    """
    words = {f"{{{name}}}": word(value) for name, value in values.items()}
    names = re.compile("|".join(map(re.escape, words)) or "(?!)")  # at once: a value may look like a name
    return [names.sub(lambda match: words[match[0]], text) for text in command]


def word(value: object) -> str:
    """Return a value as one argument of a command, without quotes. Booleans become `true` and `false`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
