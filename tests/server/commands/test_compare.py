"""``mindinsight compare``: a run against a reference, with an exit code that a script can act on."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer import SummaryRecord


@pytest.fixture
def base(tmp_path: Path) -> Any:
    """``same`` is 0.5 permille above ``reference``, ``apart`` 1 percent from step 6 on."""
    runs = {
        "reference": {"loss/auto": lambda step: 10.0 - step},
        "same": {"loss/auto": lambda step: (10.0 - step) * 1.0005},
        "apart": {"loss/auto": lambda step: (10.0 - step) * (1.01 if step >= 6 else 1.0)},
        "renamed": {"train/loss": lambda step: 10.0 - step},
        "broken": {"loss/auto": lambda step: float("nan") if step == 9 else 10.0 - step},
        "elsewhere": {"loss/auto": lambda step: 1.0},
    }
    for name, tags in runs.items():
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            for step in range(100, 110) if name == "elsewhere" else range(10):
                for tag, value in tags.items():
                    record.add_value("scalar", tag, value(step))
                record.record(step)
    return tmp_path / "base"


def test_within_the_tolerance_is_zero(run: Any, base: Any) -> None:
    code, out, _ = run("compare", "./same", "./reference", "--summary-dir", base)
    assert code == 0
    assert out.splitlines()[1].split()[:4] == ["loss/auto", "loss/auto", "10", "0"]
    code, _, _ = run("compare", "same", "reference", "--summary-dir", base, "--tolerance", "0.4")
    assert code == 1


@pytest.mark.parametrize(("tolerance", "unit", "expected"), [
    ("1", "permille", 1), ("9", "permille", 1), ("11", "permille", 0),
    ("0.9", "percent", 1), ("1.1", "percent", 0), ("0.011", "share", 0),
])  # fmt: skip
def test_units_of_the_tolerance(run: Any, base: Any, tolerance: str, unit: str, expected: int) -> None:
    options = ("--summary-dir", base, "--tolerance", tolerance, "--unit", unit)
    code, _, _ = run("compare", "./apart", "./reference", *options)
    assert code == expected


def test_the_first_step_and_the_largest_difference_are_told(run: Any, base: Any) -> None:
    code, out, _ = run("compare", "./apart", "./reference", "--summary-dir", base, "--json")
    (row,) = json.loads(out)
    assert (code, row["steps"], row["beyond"], row["first_step"]) == (1, 10, 4, 6)
    assert row["largest"] == pytest.approx(0.01, rel=1e-3)


def test_a_value_that_is_not_finite_is_beyond(run: Any, base: Any) -> None:
    code, out, _ = run(
        "compare", "./broken", "./reference", "--summary-dir", base, "--json", "--tolerance", "1e9"
    )
    (row,) = json.loads(out)
    assert (code, row["first_step"], row["largest"]) == (1, 9, None)


def test_no_share_of_a_reference_of_zero_is_told(run: Any, tmp_path: Path) -> None:
    for name, value in (("zero", 0.0), ("half", 0.5)):
        with SummaryRecord(str(tmp_path / name)) as record:
            for step in range(20):
                record.add_value("scalar", "loss", value)
                record.record(step)
    code, out, _ = run("compare", "half", "zero", "--summary-dir", tmp_path)
    assert code == 1
    assert "e+" not in out
    assert "by up to 0.5 (absolute" in out
    _, out, _ = run("compare", "half", "zero", "--summary-dir", tmp_path, "--json")
    assert json.loads(out)[0]["largest"] is None


def test_tags_with_other_names_are_paired_by_choice(run: Any, base: Any) -> None:
    pair = "train/loss=loss/auto"
    code, out, _ = run("compare", "./renamed", "./reference", "--summary-dir", base, "--pair", pair, "--json")
    (row,) = json.loads(out)
    assert (code, row["tag"], row["reference_tag"], row["beyond"]) == (0, "train/loss", "loss/auto", 0)


def test_tags_with_similar_names_are_paired_as_on_the_page(run: Any, base: Any) -> None:
    code, out, _ = run("compare", "./renamed", "./reference", "--summary-dir", base, "--json")
    (row,) = json.loads(out)
    assert (code, row["tag"], row["reference_tag"]) == (0, "train/loss", "loss/auto")


@pytest.mark.parametrize("name", ["./others", "./elsewhere"])
def test_nothing_to_compare_is_two(run: Any, base: Any, name: str) -> None:
    with SummaryRecord(str(base / "others")) as record:
        record.add_value("scalar", "f1", 1.0)
        record.record(0)
    code, _, err = run("compare", name, "./reference", "--summary-dir", base)
    assert code == 2
    assert ("--pair" in err) == (name == "./others"), "elsewhere has the same tag, at other steps"


def test_steps_that_only_one_run_has_are_unknown(run: Any, base: Any) -> None:
    """Equal at the ten common steps, and nothing is known of the others: neither 0 nor 1."""
    with SummaryRecord(str(base / "longer")) as record:
        for step in range(100):
            record.add_value("scalar", "loss/auto", 10.0 - step)
            record.record(step)
    code, out, _ = run("compare", "./longer", "./reference", "--summary-dir", base)
    assert (code, "loss/auto: equal at the 10 common steps of 100" in out) == (2, True)


def test_a_scalar_that_only_the_reference_has_is_unknown(run: Any, tmp_path: Path) -> None:
    for name, tags in (("a", ["loss"]), ("b", ["loss", "acc"])):
        with SummaryRecord(str(tmp_path / name)) as record:
            for step in range(20):
                for tag in tags:
                    record.add_value("scalar", tag, 1.0)
                record.record(step)
    code, _, err = run("compare", "a", "b", "--summary-dir", tmp_path)
    assert (code, "acc was not compared, because only the baseline has it" in err) == (2, True)
    assert run("compare", "a", "b", "--summary-dir", tmp_path, "--tag", "loss")[0] == 0
    code, _, err = run("compare", "b", "a", "--summary-dir", tmp_path)
    assert (code, "only the run has it" in err) == (0, True)


def test_a_tolerance_of_zero_is_equality(run: Any, base: Any) -> None:
    options = ("--summary-dir", base, "--tolerance", "0")
    assert run("compare", "./reference", "./reference", *options)[0] == 0
    assert run("compare", "./same", "./reference", *options)[0] == 1


def test_what_is_not_there_is_said(run: Any, base: Any) -> None:
    code, _, err = run("compare", "./gone", "./reference", "--summary-dir", base)
    assert (code, "no run './gone'" in err) == (2, True)  # not 1, which says that they differ
    code, _, err = run("compare", "./same", "./reference", "--summary-dir", base, "--tag", "acc")
    assert (code, "same has no scalar 'acc'" in err) == (2, True)


def written(folder: Path, values: list[float], first: int = 0) -> None:
    with SummaryRecord(str(folder)) as record:
        for number, value in enumerate(values):
            record.add_value("scalar", "loss", value)
            record.record(first + number)


def test_an_infinite_difference_has_no_size(run: Any, tmp_path: Path) -> None:
    written(tmp_path / "a", [1.0] * 40)
    written(tmp_path / "b", [1.0] * 30 + [float("inf")] * 10)
    code, out, _ = run("compare", "b", "a", "--summary-dir", tmp_path, "--json")
    (row,) = json.loads(out)
    assert (code, row["first_step"], row["beyond"]) == (1, 30, 10)
    assert (row["largest"], row["largest_step"]) == (None, None)


def test_sentences_are_in_the_unit_that_was_asked_for(run: Any, tmp_path: Path) -> None:
    written(tmp_path / "a", [1.0] * 40, 2**61)
    written(tmp_path / "b", [1.0] * 25 + [1.5] * 15, 2**61)
    options = ("--summary-dir", tmp_path, "--tolerance", "20", "--unit")
    assert f"within 20 % up to step {2**61 + 24};" in run("compare", "b", "a", *options, "percent")[1]
    options = ("--summary-dir", tmp_path, "--tolerance", "0.2", "--unit")
    assert "within 0.2 of the baseline" in run("compare", "b", "a", *options, "share")[1]


def test_the_largest_difference_is_a_share_of_the_reference_at_its_step(run: Any, tmp_path: Path) -> None:
    values = [2.0, 1.0, 0.5, 1.0] * 10
    written(tmp_path / "a", values)
    written(tmp_path / "b", [1.0015 * value if step == 22 else value for step, value in enumerate(values)])
    code, out, _ = run("compare", "b", "a", "--summary-dir", tmp_path, "--json")
    (row,) = json.loads(out)
    assert (code, row["first_step"], row["beyond"], row["largest_step"]) == (1, 22, 1, 22)
    assert row["largest"] == pytest.approx(0.0015, rel=1e-4)
    assert run("compare", "b", "a", "--summary-dir", tmp_path, "--tolerance", "1.6")[0] == 0


def test_one_common_step_is_singular(run: Any, tmp_path: Path) -> None:
    written(tmp_path / "a", [2.0])
    written(tmp_path / "b", [2.5])
    assert "at the only common step, by 250 ‰" in run("compare", "b", "a", "--summary-dir", tmp_path)[1]


def test_directories_are_runs_too(
    run: Any, base: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert run("compare", base / "same", base / "reference")[0] == 0


@pytest.mark.parametrize(
    "wrong", [("--tolerance", "-1"), ("--tolerance", "nan"), ("--pair", "loss"), ("--unit", "x")]
)
def test_wrong_options_are_refused(run: Any, base: Any, wrong: Any) -> None:
    with pytest.raises(SystemExit):
        run("compare", "./same", "./reference", "--summary-dir", base, *wrong)


def test_damage_is_named_beside_what_was_compared(run: Any, base: Any) -> None:
    (path,) = (base / "same").glob("*.summary.*")
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    _, out, err = run("compare", "same", "reference", "--summary-dir", base)
    assert "loss/auto" in out
    assert f"of ./same/{path.name}: " in err
    assert "reference" not in err


def test_a_hint_at_pairs_stands_only_where_no_pair_is_found(run: Any, base: Any) -> None:
    assert "--pair" not in run("compare", "elsewhere", "reference", "--summary-dir", base)[2]
    with SummaryRecord(str(base / "other")) as record:
        record.add_value("scalar", "speed", 1.0)
        record.record(0)
    assert "--pair" in run("compare", "other", "reference", "--summary-dir", base)[2]


def test_heads_are_in_the_language_of_the_terminal(
    run: Any, base: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    _, out, _ = run("compare", "same", "reference", "--summary-dir", base)
    assert out.splitlines()[0].split() == [
        *("标签", "基准", "步数", "超出步数", "首次", "最大差异（‰）", "所在步")
    ]
    for unit, head in (("percent", "最大差异（%）"), ("share", "最大差异（比例）")):
        assert head in run("compare", "same", "reference", "--summary-dir", base, "--unit", unit)[1]


def test_steps_of_one_run_alone_are_told_beside_a_difference(run: Any, tmp_path: Path) -> None:
    for name, steps in (("long", range(40)), ("short", range(5, 30))):
        with SummaryRecord(str(tmp_path / name)) as record:
            for step in steps:
                record.add_value("scalar", "loss", 1.0 if name == "long" else 1.5)
                record.record(step)
    code, out, _ = run("compare", "short", "long", "--summary-dir", tmp_path)
    assert code == 1
    text = "15 steps of 40 were not compared, because only one of the two has them: 0 of the run, 15 of the"
    assert text in " ".join(out.split())
    assert "not compared" not in run("compare", "long", "long", "--summary-dir", tmp_path)[1]


def test_a_missing_directory_is_unknown_and_no_difference(run: Any, tmp_path: Path) -> None:
    assert run("compare", "a", "b", "--summary-dir", tmp_path / "none")[:2] == (2, "")
