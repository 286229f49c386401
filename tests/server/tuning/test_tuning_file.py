"""Tuning files: MindOptimizer's documented ones, ours, and what is wrong in them."""

from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.tuning.tuning_file import Limits, Target, parse_config, seconds
from mindinsight.server.tuning.yaml_nodes import ConfigError

TUTORIAL = Path(__file__).parents[2] / "data" / "tuning" / "mindspore_tutorial.yaml"
HEAD = "summary_base_dir: runs\ncommand: python train.py\n"
PARAMETERS = "parameters:\n  lr: {bounds: [0, 1], type: float}\n"


def parameter(text: Any, name: str = "p") -> Any:
    config = parse_config(f"{HEAD}target: {{name: loss}}\nparameters:\n{text}", "t")
    return next(known for known in config.parameters if known.name == name)


def test_the_example_of_the_tutorial() -> None:
    config = parse_config(TUTORIAL.read_text(), "config")
    assert config.study == "config"
    assert config.command == ("sh", "/home/example/run_alexnet_ascend.sh")
    assert config.targets == (Target("Accuracy", "metric", "maximize"),)
    assert (config.tuner.name, dict(config.tuner.args)) == ("gp", {})
    rate, batch, momentum = config.parameters
    assert (rate.low, rate.high, rate.integer, rate.user_defined) == (0.00001, 0.001, False, False)
    assert (batch.choices, batch.user_defined) == ((32, 64, 128, 256), False)
    assert (momentum.choices, momentum.user_defined) == ((0.8, 0.9), True)
    assert config.warnings == ()


def test_of_keys_that_stand_twice_the_last_one_counts() -> None:
    text = "  p: {bounds: [0.0005, 0.001], type: float}\n  p: {bounds: [0.00002, 0.0001], type: float}\n"
    config = parse_config(f"{HEAD}target: {{name: loss}}\nparameters:\n{text}", "t")
    assert [(known.low, known.high) for known in config.parameters] == [(0.00002, 0.0001)]
    assert config.warnings == ("line 6: parameters.p is already set in line 5. The last value counts.",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: loss", Target("loss", "system_defined")),
        ("name: acc", Target("acc", "metric")),
        ("name: loss\n  group: metric\n  goal: maximize", Target("loss", "metric", "maximize")),
        (
            "name: val/acc\n  group: scalar\n  goal: maximize\n  value: best\n  smooth: 5",
            Target("val/acc", "scalar", "maximize", "best", 5),
        ),
    ],
)
def test_targets(text: str, expected: Any) -> None:
    assert parse_config(f"{HEAD}target:\n  {text}\n{PARAMETERS}", "t").targets == (expected,)


def test_the_upper_bound_of_whole_numbers_is_not_tried() -> None:
    """As with MindOptimizer, whose range is [low, high)."""
    assert parameter("  p: {bounds: [1, 10], type: int}").values() == list(range(1, 10))
    assert parameter("  p: {bounds: [0.5, 2.5], type: int}").values() == [1, 2]


def test_decimals_are_steps_within_the_bounds() -> None:
    assert parameter("  p: {bounds: [0.123, 0.151], type: float, decimal: 2}").values() == [0.13, 0.14, 0.15]


def test_numbers_are_what_people_mean() -> None:
    """YAML 1.1 takes 1e-5 for text and on for true."""
    definition = parameter("  p: {bounds: [1e-5, 1e-3], type: float, log: true}")
    assert (definition.low, definition.high, definition.log) == (1e-5, 1e-3, True)
    assert parameter("  p: {choice: [on, 'no', true, 3, '3']}").choices == ("on", "no", True, 3, "3")


def test_conditions_name_values_of_parameters_above() -> None:
    text = "  kind: {choice: [sgd, adam]}\n  p: {bounds: [0, 1], type: float, when: {kind: sgd}}"
    definition = parameter(text)
    assert definition.when == {"kind": ("sgd",)}
    assert definition.active({"kind": "sgd"})
    assert not definition.active({"kind": "adam"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "target:\n  name:loss\n",
            "line 3: target: must be a mapping of keys to values, got 'name:loss'; YAML",
        ),
        ("target: {goal: up}", "line 3: target: name is missing"),
        ("target: {name: a, goal: up}", "line 3: target.goal: must be one of minimize, maximize, got 'up'"),
        (
            "target: {name: acc, group: system_defined}",
            "only loss is system_defined; allowed here",
        ),
        ("target: {name: acc, smooth: 3}", "target.smooth: is for targets with group: scalar"),
        ("target: {name: loss}\nwhatever: 1", "line 4: whatever: is not known; allowed are summary_base_dir"),
        (
            "target: {name: loss}\ntuner: {name: bayes}",
            "tuner.name: must be one of tpe, gp, random",
        ),
        ("target: {name: loss}\ntuner: {name: gp, args: {method: x}}", "must be one of ucb, pi, ei, logei"),
        ("target: {name: loss}\ntuner: {name: random, args: {a: 1}}", "random takes no arguments"),
        ("target: {name: loss}\npruner: {name: median}", "pruner: tag is missing"),
        ("target: [{name: loss}, {name: acc}]\npruner: {tag: a}", "prunes by one target only"),
        ("target: [{name: loss}, {name: acc}]\ntuner: {name: gp}", "gp takes one target"),
        (
            "target: {name: loss}\ntuner: {name: grid}",
            "parameters.lr: a grid needs choice, type: int",
        ),
        ("target: {name: loss}\nlimits: {trial: soon}", "limits.trial: must be a time such as 90"),
        ("target: {name: loss}\nstudy: a/b", "line 4: study: must be 1 to 100 letters"),
        ("target: [", "this is not YAML"),
    ],
)
def test_what_is_wrong_is_named_with_line_key_and_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_config(f"{HEAD}{text}\n{PARAMETERS}", "t")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  p: {type: float}", "line 5: parameters.p: needs either bounds: [low, high] or choice"),
        ("  p: {bounds: [0, 1], choice: [1], type: int}", "needs either bounds"),
        ("  p: {bounds: [0, 1]}", "type is missing: bounds need type: int or type: float"),
        ("  p: {bounds: [1, 0], type: float}", "the second number must be above the first, got [1, 0]"),
        ("  p: {bounds: [0, 1, 2], type: float}", "must be two numbers, [low, high], got 3"),
        ("  p: {bounds: [a, 1], type: float}", "parameters.p.bounds[0]: must be a number, got 'a'"),
        ("  p: {bounds: [0.2, 0.8], type: int}", "there is no whole number from 0.2 to below 0.8"),
        ("  p: {bounds: [0, 1], type: float, log: true}", "log: true needs a lower bound above zero"),
        ("  p: {choice: []}", "must name at least one value"),
        ("  p: {choice: [1, 1]}", "1 is listed twice"),
        ("  a-b: {choice: [1]}", "a name has letters A-Z and a-z, digits and '_' only"),
        ("  learning_rate: {bounds: [1, 2], type: int}", "learning_rate is float in the lineage"),
        ("  batch_size: {choice: [0.5]}", "batch_size takes whole numbers above zero, got 0.5"),
        (
            "  p: {choice: [1], source: system_defined}",
            "only learning_rate, batch_size, epoch are",
        ),
        (
            "  p: {choice: [1], when: {q: 1}}",
            "parameters.p.when.q: must be a parameter with choices further up",
        ),
        ("  q: {choice: [1]}\n  p: {choice: [1], when: {q: 2}}", "2 is none of 1"),
    ],
)
def test_what_is_wrong_with_parameters(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parameter(text)
    assert message in str(raised.value)


def test_placeholders_that_are_none_are_said() -> None:
    config = parse_config(
        f"{HEAD}target: {{name: loss}}\n{PARAMETERS}".replace("train.py", "t.py {lr} {l}"), "t"
    )
    (warning,) = config.warnings
    assert warning.startswith(
        "line 2: command: {l} is not a parameter and is not replaced; known are lr, study,"
    )


def test_times() -> None:
    assert [seconds(text) for text in ("90", "30m", "1.5h", "2d", "5 s")] == [90, 1800, 5400, 172800, 5]
    config = parse_config(
        f"{HEAD}target: {{name: loss}}\nlimits: {{trial: 5m, study: 8h}}\n{PARAMETERS}", "t"
    )
    assert config.limits == Limits(300, 28800)
