"""Linear recurrence over a column by a parallel prefix scan."""

from __future__ import annotations

from typing import Final

from mindinsight.server.types import Doubles

_NOTHING: Final = 1e-20  # a share below double precision; kept, it would end in slow denormal numbers


def scan(factor: Doubles, term: Doubles) -> Doubles:
    """x_i = factor_i * x_(i-1) + term_i for all i: a prefix scan in log2(n) passes (Hillis, Steele 1986)."""
    factor, term = factor.copy(), term.copy()
    distance = 1
    while distance < len(term) and factor[distance:].any():
        term[distance:] += factor[distance:] * term[:-distance].copy()
        factor[distance:] = factor[distance:] * factor[:-distance].copy()
        factor[:distance] = 0.0
        factor[factor < _NOTHING] = 0.0
        distance *= 2
    return term
