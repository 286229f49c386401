"""Settings that separate good from bad runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindinsight
from mindinsight.server.claims import sentence
from mindinsight.server.plugins.answers.answers_routes import why_claims
from mindinsight.server.plugins.answers.why_settings import (
    conjunction_claims,
    left_out,
    setting_claims,
    settings,
)
from mindinsight.server.store.run import Run
from mindinsight.writer import SummaryRecord


def recorded(base: Path, values: list[dict[str, Any]]) -> list[Run]:
    for number, own in enumerate(values):
        with SummaryRecord(str(base / f"run{number:02}")) as record:
            record.add_value("custom_lineage_data", "user", own)
            record.record(1)
    summary = mindinsight.open(base)
    return [summary.run(f"./run{number:02}") for number in range(len(values))]


def test_seeds_and_names_of_runs_are_left_out(tmp_path: Path) -> None:
    runs = recorded(tmp_path, [{"seed": n, "log_dir": f"/x/{n}", "lr": n % 2} for n in range(6)])
    without = left_out(runs, {"seed", "log_dir", "lr"})
    assert (without.seeds, without.labels, without.results) == (["seed"], ["log_dir"], {})
    assert [claim.key for claim in without.claims()] == ["claim.lineage.seeds", "claim.lineage.labels"]
    assert [row.name for row in settings(runs[:3], runs[3:])] == ["lr"]


def test_two_settings_separate_together_only_where_none_does_alone(tmp_path: Path) -> None:
    both = [{"a": n % 2, "b": n // 2 % 2, "c": n // 4 % 2} for n in range(32)]
    runs = recorded(tmp_path / "a", both)
    good, bad = ([run for n, run in enumerate(runs) if (n % 4 == 3) is is_bad] for is_bad in (False, True))
    rows = settings(good, bad)
    (claim,) = conjunction_claims(good, bad, rows)
    assert claim.key == "claim.why.both_only_bad"
    assert (claim.values["setting"], claim.values["region"]) == ("a", [1])
    assert (claim.values["other"], claim.values["n"]) == ("b", 8)
    runs = recorded(tmp_path / "b", [{**own, "d": int(n % 4 == 3)} for n, own in enumerate(both)])
    good, bad = ([run for n, run in enumerate(runs) if (n % 4 == 3) is is_bad] for is_bad in (False, True))
    rows = settings(good, bad)
    assert list(conjunction_claims(good, bad, rows)) == []
    assert next(setting_claims(rows, 4, 24, 8)).key == "claim.why.only_good"


def test_a_pair_of_settings_comes_after_a_setting_that_explains_more(tmp_path: Path) -> None:
    values = [{"a": n % 2, "b": n // 2 % 3, "c": int(n >= 36)} for n in range(66)]
    runs = recorded(tmp_path, values)
    both = {n for n, own in enumerate(values) if own["a"] and own["b"] == 2}  # 11 runs

    def effects(is_bad: Callable[[int], bool]) -> list[tuple[str, float]]:
        good, bad = ([run for n, run in enumerate(runs) if is_bad(n) is side] for side in (False, True))
        claims = why_claims(good, bad, settings(good, bad), [])
        pairs = [claim for claim in claims if "effect" in claim.values]
        return [(claim.key, round(claim.values["effect"], 2)) for claim in pairs]

    assert effects(lambda n: n >= 36 or n in both) == [
        ("claim.why.partly", 0.83),  # c: 30 of 36 bad runs, and no good one
        ("claim.why.both_all_good", 0.8),
    ]
    assert effects(lambda n: n in both or n in (0, 50))[0] == ("claim.why.both_all_bad", 0.85)


def test_an_interval_has_as_many_digits_as_tell_its_values_apart(tmp_path: Path) -> None:
    rates = [0.0005740064994399716, 0.00057404, 0.0011, 0.0013, 0.0017, 0.01732968715314537]
    runs = recorded(tmp_path, [{"lr": rate * (1 if n < 6 else 100)} for n, rate in enumerate(rates * 2)])
    rows = settings(runs[:6], runs[6:])
    texts = " ".join(sentence(claim) for claim in setting_claims(rows, 1, 6, 6))
    assert "0.00057401 to 0.01733" in texts
