"""Sequence alignment, as in a diff, by a list of keys from strict to loose."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

Pair: TypeAlias = tuple[int, int]
Keys: TypeAlias = tuple[Callable[[int], Hashable], Callable[[int], Hashable]]  # of the left, of the right

_LARGEST: Final = 1 << 18  # comparisons; longer stretches are paired in order without a diff


def align(left: Sequence[int], right: Sequence[int], keys: Sequence[Keys]) -> list[Pair]:
    """Align two sequences: pairs of items, ascending in both.

    Items of equal first key are paired as ``difflib`` matches them; stretches between these by the next
    key; after the last key, first with first. Items without a counterpart are in no pair.
    """
    if not keys or len(left) == len(right) == 1 or not (left and right):
        return list(zip(left, right, strict=False))
    (key_left, key_right), *looser_keys = keys
    pairs: list[Pair] = []
    for equal, left_part, right_part in _matching_blocks(
        [key_left(item) for item in left], [key_right(item) for item in right]
    ):
        left_items, right_items = left[left_part], right[right_part]
        pairs += (
            zip(left_items, right_items, strict=True)
            if equal
            else align(left_items, right_items, looser_keys)
        )
    return pairs


def _matching_blocks(left: list[Hashable], right: list[Hashable]) -> list[tuple[bool, slice, slice]]:
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
