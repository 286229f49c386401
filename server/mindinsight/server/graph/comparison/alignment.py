"""Alignment of two sequences, as a diff does it, by a list of keys from strict to loose."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

Pair: TypeAlias = tuple[int, int]
Keys: TypeAlias = tuple[Callable[[int], Hashable], Callable[[int], Hashable]]  # of the left, of the right

_LARGEST: Final = 1 << 18  # comparisons; what would take more is laid side by side in order


def align(left: Sequence[int], right: Sequence[int], keys: Sequence[Keys]) -> list[Pair]:
    """Align two sequences: pairs of items in the order of both.

    Items of equal first key are paired as far as the order of both allows, with the most pairs that
    ``difflib`` finds; what lies between them by the next key; what remains in the end, the first with the
    first. Items without a counterpart are in no pair.
    """
    if not keys or len(left) == len(right) == 1 or not (left and right):
        return list(zip(left, right, strict=False))
    (key_left, key_right), *others = keys
    pairs: list[Pair] = []
    for equal, here, there in _stretches(
        [key_left(item) for item in left], [key_right(item) for item in right]
    ):
        mine, its = left[here], right[there]
        pairs += zip(mine, its, strict=True) if equal else align(mine, its, others)
    return pairs


def _stretches(left: list[Hashable], right: list[Hashable]) -> list[tuple[bool, slice, slice]]:
    """Split both sequences into equal and unequal stretches; equal ends need no comparison of the middle."""
    shorter = min(len(left), len(right))
    head = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if left[-1 - i] != right[-1 - i]), rest)
    ends = len(left) - tail, len(right) - tail
    stretches = [(True, slice(0, head), slice(0, head))]
    if (ends[0] - head) * (ends[1] - head) > _LARGEST:
        stretches.append((False, slice(head, ends[0]), slice(head, ends[1])))
    else:
        matcher = SequenceMatcher(None, left[head : ends[0]], right[head : ends[1]], autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            stretches.append((tag == "equal", slice(head + i, head + j), slice(head + k, head + m)))
    return [*stretches, (True, slice(ends[0], len(left)), slice(ends[1], len(right)))]
