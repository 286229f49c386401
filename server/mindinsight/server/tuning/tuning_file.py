"""Tuning file: parameters, command, target and durations, in MindOptimizer's keys and additional ones."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from mindinsight.server.errors import os_reason
from mindinsight.server.tuning.tuning_parameters import Parameter, read_parameters
from mindinsight.server.tuning.yaml_nodes import SIZE, ConfigError, Node, config_error, read_yaml, text_of

_UNITS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "": 1}


def seconds(text: str) -> float:
    """Return the seconds in `90`, `30m`, `1.5h` or `2d`. Raises ValueError for another text, and for zero."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|min|m|h|d|)\s*", text)
    if not match or float(match[1]) <= 0:
        raise ValueError(text_of("no_time", got=repr(text)))
    return float(match[1]) * _UNITS[match[2]]


Group: TypeAlias = Literal["system_defined", "metric", "scalar"]
Goal: TypeAlias = Literal["minimize", "maximize"]

SAMPLERS: Final[Mapping[str, tuple[str, ...]]] = {  # name: arguments
    "tpe": ("n_startup_trials", "n_ei_candidates", "multivariate", "group", "constant_liar"),
    "gp": ("method", "n_startup_trials"),
    "random": (),
    "grid": (),
    "cmaes": ("sigma0", "n_startup_trials"),
}
METHODS: Final = ("ucb", "pi", "ei", "logei")
PRUNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "median": ("n_startup_trials", "n_warmup_steps"),
    "hyperband": ("reduction_factor",),
}
_KEYS: Final = (
    *("summary_base_dir", "command", "tuner", "target", "parameters"),  # MindOptimizer's
    *("study", "pruner", "limits"),
)


@dataclass(frozen=True, slots=True)
class Target:
    """Value that a trial is judged by.

    `system_defined` is the `loss` of the training lineage, `metric` a metric of the evaluation lineage,
    `scalar` any scalar tag: its last or best value, smoothed over `smooth` points.
    """

    name: str
    group: Group
    goal: Goal = "minimize"
    value: Literal["last", "best"] = "last"
    smooth: int = 1  # points


@dataclass(frozen=True, slots=True)
class Tuner:
    """Sampler that proposes values, and its arguments."""

    name: str = "tpe"
    args: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Pruner:
    """Pruner that ends trials early, and the scalar tag it watches."""

    name: str
    tag: str
    every: int | None = None  # steps between two reports; None: a fiftieth of the first trial's steps
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits of a trial and of the study, in seconds. None means no limit."""

    trial: float | None = None
    study: float | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """Content of one tuning file: study, command, targets, parameters, tuner, pruner and limits.

    Paths are absolute.
    """

    study: str
    summary_base_dir: Path
    command: tuple[str, ...]
    targets: tuple[Target, ...]
    parameters: tuple[Parameter, ...]
    tuner: Tuner = Tuner()
    pruner: Pruner | None = None
    limits: Limits = Limits()
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return all fields except `warnings` as JSON, as they are stored with the study."""
        content = asdict(self)
        del content["warnings"]
        return {**content, "summary_base_dir": str(self.summary_base_dir)}


def load_config(path: Path) -> Config:
    """Return the content of the tuning file at `path`. Raises ConfigError for an unreadable or invalid file,
    with file, line, key and the allowed values. Raises BadSettings if PyYAML is not installed."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(SIZE + 1)
    except (OSError, UnicodeDecodeError) as error:
        why = os_reason(error) if isinstance(error, OSError) else error
        raise config_error("unreadable", path=path, why=why) from error
    try:
        return parse_config(text, path.stem)
    except ConfigError as error:
        raise config_error("of_file", path=path, why=error) from None


def parse_config(text: str, name: str) -> Config:
    """Return the content of a tuning file. The study is called `name` unless the file names it. Raises
    ConfigError with line, key and the allowed values, BadSettings if PyYAML is not installed."""
    root, warnings = read_yaml(text)
    entries = root.mapping(*_KEYS)
    for key in ("summary_base_dir", "command", "target", "parameters"):
        if key not in entries:
            root.fail("missing", name=key)
    targets = _targets(entries["target"])
    parameters = read_parameters(entries["parameters"])
    tuner = _tuner(entries["tuner"]) if "tuner" in entries else Tuner()
    command, unknown = _command(entries["command"], parameters)
    config = Config(
        study=_study(entries["study"]) if "study" in entries else re.sub(r"[^\w.-]+", "_", name) or "study",
        summary_base_dir=Path(entries["summary_base_dir"].text()).expanduser().absolute(),
        command=command,
        targets=targets,
        parameters=parameters,
        tuner=tuner,
        pruner=_pruner(entries["pruner"], targets) if "pruner" in entries else None,
        limits=_limits(entries["limits"]) if "limits" in entries else Limits(),
        warnings=(*warnings, *unknown),
    )
    _check_sampler(config, entries)
    return config


def _study(node: Node) -> str:
    name = node.text()
    if not re.fullmatch(r"[\w][\w.-]{0,99}", name):
        node.fail("no_study_name")
    return name


def _command(node: Node, parameters: Sequence[Parameter]) -> tuple[tuple[str, ...], list[str]]:
    """Return the words of the command, and a warning for each unknown `{name}` in it."""
    if isinstance(node.data, str):
        try:
            command = tuple(shlex.split(node.text()))
        except ValueError as error:
            node.fail("no_words", why=error)
    else:
        command = tuple(str(entry.scalar()) for entry in node.items())
    if not command:
        node.fail("no_command")
    known = {*(parameter.name for parameter in parameters), *PLACEHOLDERS}
    used = {name for word in command for name in re.findall(r"\{([A-Za-z_]\w*)\}", word)}
    warnings = [
        text_of("not_replaced", line=node.line, name=f"{{{name}}}", names=", ".join(sorted(known)))
        for name in sorted(used - known)
    ]
    return command, warnings


PLACEHOLDERS: Final = ("summary_dir", "trial", "study")


def _targets(node: Node) -> tuple[Target, ...]:
    if isinstance(node.data, Sequence) and not isinstance(node.data, str):
        targets = tuple(_target(entry) for entry in node.items())
        if not targets:
            node.fail("no_target")
        return targets
    return (_target(node),)


def _target(node: Node) -> Target:
    entries = node.mapping("group", "name", "goal", "value", "smooth")
    if "name" not in entries:
        node.fail("missing", name="name")
    name = entries["name"].text()
    group: Any = "system_defined" if name == "loss" else "metric"
    if "group" in entries:
        group = entries["group"].text("system_defined", "metric", "scalar")
        if group == "system_defined" and name != "loss":
            entries["group"].fail("only_loss")
    goal: Any = entries["goal"].text("minimize", "maximize") if "goal" in entries else "minimize"
    for key in ("value", "smooth"):
        if key in entries and group != "scalar":
            entries[key].fail("only_scalar")
    value: Any = entries["value"].text("last", "best") if "value" in entries else "last"
    smooth = entries["smooth"].whole(1, 1_000_000) if "smooth" in entries else 1
    return Target(name, group, goal, value, smooth)


def _tuner(node: Node) -> Tuner:
    entries = node.mapping("name", "args", "seed")
    name = entries["name"].text(*SAMPLERS) if "name" in entries else "tpe"
    seed = entries["seed"].whole(0, 2**32 - 1) if "seed" in entries else None
    args = _arguments(entries["args"], SAMPLERS[name], name) if "args" in entries else {}
    return Tuner(name, args, seed)


def _arguments(node: Node, allowed: Sequence[str], name: str) -> dict[str, Any]:
    if not allowed and node.mapping():
        node.fail("no_arguments", name=name)
    checks: dict[str, Any] = {
        "method": lambda entry: entry.text(*METHODS),
        "sigma0": lambda entry: entry.number(),
        "n_warmup_steps": lambda entry: entry.whole(0, 10**9),
        "reduction_factor": lambda entry: entry.whole(2, 100),
        **dict.fromkeys(("multivariate", "group", "constant_liar"), lambda entry: entry.truth()),
        **dict.fromkeys(("n_startup_trials", "n_ei_candidates"), lambda entry: entry.whole(1, 100_000)),
    }
    return {key: checks[key](entry) for key, entry in node.mapping(*allowed).items()}


def _pruner(node: Node, targets: Sequence[Target]) -> Pruner:
    entries = node.mapping("name", "tag", "every", "args")
    name = entries["name"].text(*PRUNERS) if "name" in entries else "median"
    if len(targets) > 1:
        node.fail("one_pruned")
    if "tag" not in entries and targets[0].group != "scalar":
        node.fail("no_tag")
    return Pruner(
        name,
        entries["tag"].text() if "tag" in entries else targets[0].name,
        entries["every"].whole(1, 10**12) if "every" in entries else None,
        _arguments(entries["args"], PRUNERS[name], name) if "args" in entries else {},
    )


def _limits(node: Node) -> Limits:
    entries = node.mapping("trial", "study")
    return Limits(**{key: _seconds(entry) for key, entry in entries.items()})


def _seconds(node: Node) -> float:
    try:
        return seconds(str(node.data))
    except ValueError as error:
        node.fail("of_value", why=error)


def _check_sampler(config: Config, entries: Mapping[str, Node]) -> None:
    """Raise ConfigError if the sampler does not support several targets or continuous parameters."""
    name, several = config.tuner.name, len(config.targets) > 1
    if several and name in ("gp", "cmaes"):
        entries["tuner"].fail("one_target", name=name)
    if name == "grid":
        for parameter in config.parameters:
            if not parameter.finite:
                where = entries["parameters"].mapping()[parameter.name]
                where.fail("no_grid")
