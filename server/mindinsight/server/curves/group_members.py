"""Claims about members of a group whose values do not all count in the mean of the group."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.types import Floats, Ints

_NAMED: Final = 3  # members that are named below a chart; the count tells how many there are


def non_finite_members(names: Sequence[str], curves: Sequence[tuple[Ints, Floats]]) -> list[Claim]:
    """Return a claim about the members [m] that are non-finite up to their end, and one about those with
    gaps.

    Each claim has the first step. The mean leaves out the former from that step on, and interpolates the
    gaps.
    """
    lasting: list[tuple[int, str]] = []
    between: list[tuple[int, str]] = []
    for name, (steps, values) in zip(names, curves, strict=True):
        bad = np.flatnonzero(~np.isfinite(values))
        finite = np.flatnonzero(np.isfinite(values))
        end = int(finite[-1]) + 1 if len(finite) else 0
        if end < len(values):
            lasting.append((int(steps[end]), name))
        if len(bad) and bad[0] < end:
            between.append((int(steps[bad[0]]), name))
    claims = []
    for key, members in (("claim.group.non_finite", lasting), ("claim.group.gaps", between)):
        if members:
            members.sort()
            facts = {"n": len(members), "step": members[0][0], "names": few([m for _, m in members], _NAMED)}
            claims.append(Claim(key, "found", facts))
    return claims
