"""Claims about the alignment of two curves."""

import numpy as np
import pytest

from mindinsight.server.claims import sentence
from mindinsight.server.curves.alignment import align
from mindinsight.server.curves.alignment_claims import claim_of, factor_claim, one_sided_claims
from tests.narrowing import require

STEPS = np.arange(600)
BASE = 0.2 + 3 * np.exp(-STEPS / 150)


def test_differences_from_a_baseline_of_zero_are_absolute() -> None:
    result = align(STEPS, np.full(600, 0.5), STEPS, np.zeros(600), 1e-3)
    assert (result.absolute, result.largest, result.noise) == (True, 0.5, 0.5)
    assert sentence(claim_of(result, 1e-3)) == (
        "differs by more than 1 ‰ at 600 of 600 common steps, first at step 0, by up to 0.5 "
        "(absolute, not relative to the baseline); no step was found from which it diverges further"
    )


def test_what_only_one_run_recorded_is_counted() -> None:
    result = align(STEPS[:10], BASE[:10], STEPS, BASE, 1e-3)
    assert (result.shared, result.steps) == (10, 600)
    claim = claim_of(result, 1e-3)
    assert (claim.verdict, sentence(claim)) == ("unknown", "equal at the 10 common steps of 600")


def test_a_constant_factor_is_a_share_of_the_baseline() -> None:
    result = align(STEPS, 0.00359 * BASE, STEPS, BASE, 1e-3)
    assert sentence(claim_of(result, 1e-3)) == (
        "differs by a constant factor: it is 0.359 % of the baseline at all 600 common steps"
    )


@pytest.mark.parametrize(
    ("factor", "text"), [(2.0, "200 %"), (1.01, "101 %"), (1.00123456, "100.123 %"), (-1.0, "−100 %")]
)
def test_a_factor_near_one_has_enough_digits_to_differ_from_it(factor: float, text: str) -> None:
    assert sentence(require(factor_claim(factor))) == text


def test_scalars_of_one_run_only_are_named() -> None:
    claims = one_sided_claims(["a"], ["b", "c", "d", "e"])
    assert [(claim.key, claim.verdict) for claim in claims] == [
        ("claim.align.only_baseline", "unknown"),
        ("claim.align.only_run", "note"),
    ]
    assert one_sided_claims([], []) == []
