"""Explanations of faults in real dumps."""

import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.claims import sentence
from mindinsight.server.debug.fault import report_of, search_faults
from mindinsight.server.debug.fault_explanation import explain
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.texts import language_texts
from tests.server.debug.conftest import spoil
from tests.server.debug.planting import write_msprobe

DUMPS = Path(__file__).parents[2] / "data" / "dumps"


@pytest.fixture
def lenet(tmp_path: Path) -> Any:
    return Path(shutil.copytree(DUMPS / "ms_sync_v2_0_names", tmp_path / "dump"))


def explained(path: Any) -> Any:
    dump = open_dump(path)
    return explain(dump, report_of(search_faults(dump)).faults[0])


def test_a_planted_square_root_is_explained_with_its_value_and_source(tmp_path: Path) -> None:
    with zipfile.ZipFile(DUMPS / "samples" / "recorded_torch.zip") as archive:
        archive.extractall(tmp_path)
    explanation = explained(tmp_path / "recorded_torch")
    assert (explanation.reason, explanation.index) == ("sqrt_negative", (0, 0))
    text = " ".join(map(sentence, explanation.claims))
    assert text == (
        "sqrt received -100.993 at [0, 0]. The square root of a negative number is NaN."
        " That value came from Default/sub-op0."
    )


def test_where_no_rule_fits_values_stand_side_by_side(lenet: Any) -> None:
    spoil(lenet / "rank_0" / "Net" / "0" / "0", "ReluGrad.ReluGrad-op71.*.output.0.*", np.nan, position=3)
    explanation = explained(lenet)
    assert explanation.reason == "unknown"
    (claim,) = explanation.claims
    assert (claim.key, claim.verdict, claim.values["result"]) == ("claim.cause.unknown", "unknown", "NaN")
    assert claim.values["values"][0].values["slot"] == "0"


def test_an_infinity_that_the_inputs_cannot_reach_is_no_overflow(lenet: Any) -> None:
    spoil(lenet / "rank_0" / "Net" / "0" / "0", "MatMul.MatMul-op66.*.output.0.*", np.inf)
    assert explained(lenet).claims[0].verdict == "unknown"


def test_an_overflow_names_the_limit(lenet: Any) -> None:
    step = lenet / "rank_0" / "Net" / "0" / "0"
    spoil(step, "MatMul.MatMul-op66.*.output.0.*", np.inf)
    spoil(step, "MatMul.MatMul-op66.*.input.0.*", 3e38, position=0)
    spoil(step, "MatMul.MatMul-op66.*.input.1.*", 3e38)
    explanation = explained(lenet)
    assert explanation.reason == "overflow"
    assert explanation.claims[0].values["limit"] == "3.40282e+38"


def test_without_values_nothing_is_claimed(tmp_path: Path) -> None:
    write_msprobe(tmp_path, "L1", "Torch.log.0.forward")
    assert explained(tmp_path) is None


def test_a_fault_that_came_in_is_not_explained(lenet: Any) -> None:
    spoil(lenet / "rank_0" / "Net" / "0" / "0", "Conv2D.*.input.1.*", np.nan)
    dump = open_dump(lenet)
    fault = report_of(search_faults(dump)).faults[0]
    assert fault.kind == "met"
    assert explain(dump, fault) is None


def test_a_tensor_that_is_too_large_is_not_read(lenet: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(lenet / "rank_0" / "Net" / "0" / "0", "MatMul.MatMul-op66.*.output.0.*", np.inf)
    monkeypatch.setattr("mindinsight.server.debug.fault_explanation.LARGEST_TENSOR", 8)
    assert explained(lenet) is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reason_has_a_text(language: str) -> None:
    source = Path(explain.__code__.co_filename).parent
    reasons = {
        part
        for file in source.glob("*.py")
        for part in file.read_text().replace("(", '"').split('"')
        if f"claim.cause.{part}" in language_texts("en")
    }
    assert {"log_negative", "overflow", "unknown", "result"} <= reasons
    assert all(f"claim.cause.{reason}" in language_texts(language) for reason in reasons)
