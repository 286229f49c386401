"""The command that explains a run: sentences, exit codes, jobs, and wrong names."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer import SummaryRecord
from tests.flight import unpack

FIXTURES = Path(__file__).parents[2] / "data" / "dumps"


def test_cause_line_and_what_is_unknown_are_printed(run: Any, tmp_path: Path) -> None:
    unpack("logarithm", tmp_path)
    code, out, _ = run("explain", "logarithm", "--summary-base-dir", tmp_path)
    lines = out.splitlines()
    assert code == 1
    at = "First fault, at step 25 of rank 0, line 41 of planted.py: Default/log-op0 produced"
    assert lines[0].startswith(at)
    assert lines[1].startswith("log received -691.012 at [0, 1]")
    assert lines[2].startswith(
        "Signs of a fault are in these parts: First fault in the tensors, Change since"
    )
    assert lines[3].endswith("which may follow from the first one: Curves, End, files and alerts.")
    assert "Possible consequences: Curves" in lines
    assert lines[5] == "First fault in the tensors (./logarithm/flight_dump)"
    assert "  Default/log-op0 produced non-finite values from finite inputs." in lines
    assert "  /home/user/train/planted.py:41  return torch.log(scores)" in lines
    assert any(line.startswith("  Unknown: No run that began earlier") for line in lines)


def test_a_job_is_explained_by_its_name(run: Any, tmp_path: Path) -> None:
    unpack("nan_on_one_rank", tmp_path)
    code, out, _ = run("explain", "nan_on_one_rank", "--summary-base-dir", tmp_path, "--json")
    answer = json.loads(out)
    assert (code, answer["run"]) == (1, "./nan_on_one_rank/rank_0")
    assert "ranks" in [part["topic"] for part in answer["parts"]]


@pytest.mark.parametrize(("kind", "expected"), [("scalar", 0), ("image", 2)])
def test_nothing_found_and_nothing_to_search_have_their_own_exit_codes(
    kind: Any, expected: int, run: Any, tmp_path: Path
) -> None:
    with SummaryRecord(str(tmp_path / "a")) as record:
        record.add_value(kind, "x", 1.0 if kind == "scalar" else [[[[0.5]]]], step=1)
    code, out, _ = run("explain", "a", "--summary-base-dir", tmp_path)
    assert code == expected
    nothing, *lines = out.splitlines()
    unsearched = [line for line in lines if not line.startswith("  - ")]
    sentence = "The run has no dump, so weights, gradients and activations were not searched."
    assert unsearched == ([] if expected else [sentence])
    assert (nothing == "No fault was found. Searched:") == (not expected)
    assert (lines[:1] == ["  - 1 scalar for NaN and infinity"]) == (not expected)


def test_of_several_dumps_one_is_named_and_searched_alone(run: Any, tmp_path: Path) -> None:
    (unpack("logarithm", tmp_path) / "flight_dump").rename(tmp_path / "logarithm" / "b")
    shutil.copytree(FIXTURES / "ms_sync_v2_0_names", tmp_path / "logarithm" / "a")
    base = ("logarithm", "--summary-base-dir", tmp_path)
    _, out, _ = run("explain", *base, "--dump", "logarithm/a/")
    assert "Only the dump logarithm/a was searched, of 2 dumps of this run." in out
    assert "produced non-finite values" not in out
    _, out, _ = run("explain", *base, "--dump", "./logarithm/b")
    assert "Default/log-op0 produced non-finite values" in out


def test_a_dump_that_the_run_lacks_is_no_fault(run: Any, tmp_path: Path) -> None:
    unpack("logarithm", tmp_path)
    code, out, err = run("explain", "logarithm", "--summary-base-dir", tmp_path, "--dump", "logarithm/c")
    assert (code, out) == (2, "")
    assert "logarithm has no dump logarithm/c. It has logarithm/flight_dump." in err


def test_an_unknown_run_is_no_fault(run: Any, tmp_path: Path) -> None:
    unpack("dead_relu", tmp_path)
    code, out, err = run("explain", "dead_rel", "--summary-base-dir", tmp_path)
    assert (code, out) == (2, "")
    assert "Did you mean ./dead_relu?" in err
