"""Separation of two groups of runs by settings, beyond chance or not."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.curves import setting_separation
from mindinsight.server.curves.setting_separation import (
    Separation,
    Value,
    conjunction,
    failing_setting,
    identity,
    names_runs,
    numbered,
    same_value,
    separations,
)

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "data" / "settings_that_name_runs.json"
TRAITS = ROOT / "web" / "mindinsight" / "web" / "static" / "js" / "core" / "run_traits.js"
INSIDE = [0.001, 0.002, 0.004, 0.006, 0.009]
OUTSIDE = [1e-5, 2e-5, 1e-4, 0.05, 0.1]


def separation_of(good: Sequence[Value], bad: Sequence[Value]) -> Separation:
    return separations([good], [bad])[0]


def test_a_threshold_separates() -> None:
    separation = separation_of([0.1, 0.2], [0.3, 0.4])
    assert (separation.effect, separation.region_of, separation.values, separation.inside) == (
        1,
        "good",
        (0.1, 0.2),
        (2, 0),
    )
    assert separation_of([0.3, 0.4], [0.1, 0.2]).values == (0.3, 0.4)
    assert separation_of([0.1, 0.3], [0.2, 0.4]).effect == pytest.approx(0.5)
    assert separation_of([1, 2], [1, 2]).effect == 0


def test_an_interval_separates_on_either_side() -> None:
    good = separation_of(INSIDE, OUTSIDE)
    assert (good.effect, good.region_of, good.values) == (1, "good", tuple(INSIDE))
    bad = separation_of(OUTSIDE, INSIDE)
    assert (bad.effect, bad.region_of, bad.values) == (1, "bad", tuple(INSIDE))
    assert good.chance < 0.05


def test_texts_separate_by_their_shares() -> None:
    assert separation_of(["adam", "adam"], ["sgd"]).effect == 1
    separation = separation_of(["adam", "sgd"], ["sgd", "sgd"])
    assert (separation.effect, separation.values) == (pytest.approx(0.5), ("adam",))
    assert separation_of(["adam"], ["adam"]).effect == 0
    assert separation_of([float("nan"), 1.0], [2.0, 3.0]).effect == 1


def test_a_setting_that_only_one_group_has_separates_them() -> None:
    assert separation_of([None, None], [0.1, 0.2]).values == (None,)
    assert separation_of([True], [1]).effect == 1


def test_without_a_group_nothing_is_separated() -> None:
    assert (separation_of([], [1]).effect, separation_of([], [1]).chance) == (0, 1)
    assert separations([], []) == []


def test_few_runs_are_separated_by_chance() -> None:
    assert separation_of([1, 2, 3], [4]).chance == pytest.approx(0.5)
    assert separation_of([1, 2, 3], [4, 5, 6]).chance == pytest.approx(0.1)
    assert separation_of([1] * 10, [2] * 10).chance < 0.01
    assert separation_of([1, 1], [1, 1]).chance == 1


def test_chance_is_corrected_for_the_number_of_settings() -> None:
    chance = np.random.default_rng(0)
    good, bad = chance.uniform(size=(30, 4)).tolist(), chance.uniform(size=(30, 4)).tolist()
    separation = separations([[1, 2, 3, 4], *good], [[5, 6, 7, 8], *bad])[0]
    assert separation.chance < 0.05
    assert separation.corrected > 0.5


def test_random_settings_are_rarely_beyond_chance() -> None:
    alarms = 0
    for seed in range(40):
        chance = np.random.default_rng(seed)
        columns = chance.uniform(size=(12, 16)).tolist()
        separation = separations([column[:8] for column in columns], [column[8:] for column in columns])
        alarms += min(setting.corrected for setting in separation) <= 0.05
    assert alarms <= 5  # two are expected


def test_equal_values_have_one_key_however_they_are_written() -> None:
    assert identity(1) == identity(1.0) != identity(True)
    assert identity("1") != identity(1) and identity(None) != identity("None")
    assert identity(float("nan")) == identity(float("nan"))
    assert identity(2**53 + 1) != identity(2.0**53)
    assert numbered([(1, "a"), (2, "a"), (1.0, "a"), (2, "b")]).tolist() == [0, 1, 0, 2]


def test_a_setting_is_judged_by_the_runs_that_recorded_it() -> None:
    good: list[Value] = [0.1 * number for number in range(8)]
    bad: list[Value] = [*[None] * 4, *(0.1 * number for number in range(8))]
    alike = separations([good], [bad], recorded_only=True)[0]
    assert (alike.effect, alike.judged) == (0.0, (8, 8))
    bad[4:] = [9.0] * 8
    apart = separations([good], [bad], recorded_only=True)[0]
    assert (apart.effect, apart.inside, None in apart.values) == (1.0, (8, 0), False)
    assert apart.chance < 0.01
    presence = separations([good], [[None] * 8], recorded_only=True)[0]
    assert (presence.effect, presence.judged) == (1.0, (8, 8))


def test_paths_and_unique_texts_name_runs_and_shared_ones_do_not() -> None:
    assert names_runs("output_dir", [f"/runs/{number}" for number in range(3)])
    assert names_runs("note", [f"try {number}" for number in range(12)])
    assert not names_runs("data_dir", ["/a", "/a", "/b", "/b"])
    assert not names_runs("lr", [0.1 * number for number in range(20)])
    assert not names_runs("optimizer", ["adam", "sgd", "lion"])


@pytest.mark.parametrize(("name", "values", "expected"), json.loads(CASES.read_text("utf-8")))
def test_the_server_knows_settings_that_name_runs(name: str, values: list[Value], expected: bool) -> None:
    """`tests/js/group_criteria.test.js` asks the same of the pages."""
    assert names_runs(name, values) is expected


def test_the_pages_have_the_same_patterns_for_names_of_runs() -> None:
    script = TRAITS.read_text(encoding="utf-8")
    block = script[script.index("const FACT = ") : script.index("const FACT_TEXT")]
    assert "".join(re.findall(r'"([^"]*)"', block)[:-1]) == setting_separation._FACT.pattern
    assert f"const FACT_TEXT = /{setting_separation._FACT_TEXT.pattern}/;" in script
    assert f"const FEW_RUNS = {setting_separation._FEW_RUNS};" in script


def region(column: list[Value], fails: list[bool]) -> tuple[str, int, int] | None:
    """Return the region, and the numbers of failing and of other runs in it."""
    chosen = np.array(fails)
    setting = failing_setting({"lr": column}, [*range(len(column))], chosen, 0.01)
    if setting is None:
        return None
    facts = {"setting": "lr", "objective": "loss", "region": setting.region, "failed": 0, "rest": 0}
    text = sentence(Claim("claim.lineage.failing", "found", {**facts, "n": 0, "others": 0}))
    start, end = text.index("it is ") + 6, text.index(" in 0 of")
    return text[start:end], int((setting.inside & chosen).sum()), int((setting.inside & ~chosen).sum())


@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        (lambda x: x >= 30, ("30 or more", 10, 0)),
        (lambda x: x < 10, ("9 or less", 10, 0)),
        (lambda x: 15 <= x < 25, ("15 to 24", 10, 0)),
        (lambda x: x >= 30 or x in {0, 5}, ("30 or more", 10, 0)),
        (lambda x: x % 4 == 0, None),
    ],
)
def test_a_number_has_a_threshold_unless_an_interval_is_much_better(
    fails: Callable[[int], bool], expected: tuple[str, int, int] | None
) -> None:
    assert region([*range(40)], [fails(x) for x in range(40)]) == expected


def test_runs_that_did_not_record_the_setting_are_in_no_region() -> None:
    column: list[Value] = [None if x % 8 == 0 else x for x in range(40)]
    assert region(column, [x >= 30 or x % 8 == 0 for x in range(40)]) == ("30 or more", 9, 0)
    assert region(column, [x % 8 == 0 for x in range(40)]) is None


def test_a_text_has_the_values_of_the_failing_runs() -> None:
    column: list[Value] = ["adam", "sgd", "lion", "sgd"] * 10
    assert region(column, [value == "lion" for value in column]) == ("lion", 10, 0)


def test_a_region_of_two_settings_is_found_where_each_alone_has_runs_of_both_groups() -> None:
    rate, warmup = [0.001, 0.1] * 16, [0, 0, 100, 100] * 8
    order = [*(n for n in range(32) if n % 4 != 1), *range(1, 32, 4)]
    columns = {"lr": [rate[n] for n in order], "warmup": [warmup[n] for n in order]}
    pair = conjunction(columns, 24)
    assert pair is not None
    assert (pair.names, pair.regions) == (("lr", "warmup"), ([0.1], [0]))
    assert (pair.side, pair.runs) == ("bad", 8)
    assert pair.chance <= 0.001
    assert conjunction({**columns, "copy": columns["lr"]}, 24) is None  # which of both is unknown
    assert conjunction({"lr": columns["lr"]}, 24) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_region_of_random_settings_is_no_rarer_than_in_random_groups(seed: int) -> None:
    chance = np.random.default_rng(seed)
    columns: dict[str, Any] = {name: chance.uniform(size=24).tolist() for name in "abc"}
    columns["d"] = chance.choice(["x", "y"], 24).tolist()
    pair = conjunction(columns, 12)
    assert pair is None or pair.chance > 0.02


def test_a_number_equals_its_text_and_no_other() -> None:
    assert same_value(0.001, "0.001")
    assert same_value("1e-3", 0.001)
    assert same_value(32, 32.0)
    assert not same_value("0.0010001", 0.001)
    assert not same_value("1", True)
    assert not same_value("1.0", "1")  # versions are texts
    assert not same_value("nan", 0.001)
    assert not same_value(None, "")
