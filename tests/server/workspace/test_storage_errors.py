"""What is said when something cannot be kept under a name."""

from typing import Any

import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.workspace.json_store import Full
from mindinsight.server.workspace.storage_errors import storing

REFUSALS = {
    KeyError: ApiError(404, "unknown_view", "There is none.", view="a"),
    Full: ApiError(409, "many_views", "There are seven.", n=7),
}


@pytest.mark.parametrize(
    ("raised", "status", "key", "variables"),
    [
        (KeyError("a"), 404, "error.unknown_view", {"view": "a"}),
        (Full(), 409, "error.many_views", {"n": 7}),
        (OSError(28, "No space left on device"), 507, "error.not_kept", {"why": "No space left on device"}),
    ],
)
def test_each_refusal_has_its_status_and_its_words(
    raised: Any, status: int, key: str, variables: Any
) -> None:
    with pytest.raises(ApiError) as refusal, storing(REFUSALS):
        raise raised
    assert (refusal.value.status, refusal.value.key, refusal.value.vars) == (status, key, variables)


def test_what_goes_well_and_faults_of_our_own_pass() -> None:
    with storing(REFUSALS):
        pass
    with pytest.raises(ZeroDivisionError), storing(REFUSALS):
        raise ZeroDivisionError
