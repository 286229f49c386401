"""Names of scalars and what they are searched for. `tests/claims` tests the sentences."""

from pathlib import Path

import numpy as np

import mindinsight
from mindinsight.server.api.curve_faults import (
    curve_claims,
    first_claims,
    is_passing,
    searched_claims,
)
from mindinsight.server.claims import Claim, sentence
from mindinsight.writer import SummaryRecord


def test_what_was_searched_is_counted(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "run")) as record:
        for step in range(60):
            record.add_value("scalar", "loss", 2 * np.exp(-step / 20))
            record.add_value("scalar", "g/loss", 1.0)
            record.add_value("scalar", "accuracy", step / 60)
            if step < 10:
                record.add_value("scalar", "grad_norm", 1.0)
            record.record(step)
    run = mindinsight.open(tmp_path).run("./run")
    counts = {claim.key.rpartition(".")[2]: claim.values["n"] for claim in searched_claims([run])}
    expected = {
        "scalars": 4,
        "jumps": 2,
        "run_ups": 3,
        "for_good": 1,
        "losses": 1,
        "accuracies": 1,
        "played": 1,
    }
    assert counts == expected
    assert curve_claims([run]) == []


def test_more_than_four_claims_are_counted() -> None:
    claims = [Claim("claim.explain.jump", "found", {"n": number}) for number in range(6)]
    *shown, rest = first_claims(claims)
    assert (shown, rest.values) == (claims[:4], {"n": 2})


def test_a_claim_about_ranks_names_those_of_which_it_is_true(tmp_path: Path) -> None:
    for rank in range(3):
        with SummaryRecord(str(tmp_path / "job" / f"rank_{rank}")) as record:
            for step in range(60):
                record.add_value("scalar", "loss", np.nan if rank and step == 30 else 2 - step / 60)
                record.record(step)
    (claim,) = curve_claims(list(mindinsight.open(tmp_path).by_id().values()))
    assert sentence(claim) == (
        "In 2 of 3 ranks (job/rank_1, job/rank_2), with the values of the first: "
        "loss is NaN or infinite at step 30 alone, and has finite values after it."
    )
    assert is_passing(claim)
    assert claim.evidence == ({"run": "./job/rank_1", "tag": "loss", "step": 30},)
