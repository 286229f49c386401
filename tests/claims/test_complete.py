"""Every claim of the locale files has a situation that must bring it about, and a near miss that must not."""

from mindinsight.server.texts import language_texts
from tests.claims.situation import all_situations

PARTS = ("claim.missing.", "claim.part.")  # texts inside a claim
CLAIMS = {key for key in language_texts("en") if key.startswith("claim.") and not key.startswith(PARTS)}


def test_every_claim_is_confirmed_by_a_situation() -> None:
    confirmed = {key for entry in all_situations() for key in entry.makes}
    assert sorted(CLAIMS - confirmed) == []
    assert sorted(confirmed - CLAIMS) == []


def test_every_claim_has_a_near_miss() -> None:
    missed = {key for entry in all_situations() for key in entry.never}
    assert sorted(CLAIMS - missed) == []
    assert sorted(missed - CLAIMS) == []
