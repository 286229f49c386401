"""What is said when something cannot be kept under a name."""

import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.workspace.kept import Full, Taken
from mindinsight.server.workspace.refused import answered


@pytest.mark.parametrize(
    ("raised", "status", "key", "variables"),
    [
        (KeyError("a"), 404, "error.unknown_view", {"view": "a"}),
        (Taken(), 409, "error.view_taken", {"view": "b"}),
        (Full(), 409, "error.many_views", {"n": 7}),
        (OSError(28, "No space left on device"), 507, "error.not_kept", {"why": "No space left on device"}),
    ],
)
def test_each_refusal_has_a_status_and_words_of_its_kind(raised, status, key, variables):
    with pytest.raises(ApiError) as refusal, answered("view", "a", to="b", most=7):
        raise raised
    assert (refusal.value.status, refusal.value.key, refusal.value.vars) == (status, key, variables)


def test_what_goes_well_and_faults_of_our_own_pass():
    with answered("rule", most=1):
        pass
    with pytest.raises(ZeroDivisionError), answered("rule", most=1):
        raise ZeroDivisionError
