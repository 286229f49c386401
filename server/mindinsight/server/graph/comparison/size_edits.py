"""Lengths of axes that changed in several parameters, such as the width of a network, as one edit."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Final, TypeAlias

from mindinsight.server.claims import Claim, few
from mindinsight.server.graph.comparison.graph_comparison import Change, Comparison, first_users
from mindinsight.server.graph.model.node_details import output_of
from mindinsight.server.graph.scopes.folding import merged

Groups: TypeAlias = dict[tuple[str, Hashable], list[Change]]  # by name of the claim and key
Length: TypeAlias = tuple[int, int]  # of an axis, in the left and in the right graph

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_NAMED: Final = 3  # parameters that one sentence names
_LENGTHS: Final = 4  # lengths that one sentence names


def size_claims(comparison: Comparison, groups: Groups) -> list[Claim]:
    """Return one claim for each set of parameters that change by the same factors. The groups of these
    changes are removed from ``groups``, and so are those of attributes and constants whose numbers change
    by the same factors. A group of parameters without another group is left."""
    claims = []
    for lengths, keys in _sets(comparison, groups):
        factors = _factors(lengths)
        scaled = [key for key, changes in groups.items() if _is_scaled(key[0], changes[0], factors)]
        if len(keys) + len(scaled) < 2:
            continue
        resized = [[*groups.pop(key)] for key in keys]
        counts = [
            sum(map(len, resized)),
            len({change.position for key in scaled for change in groups.pop(key)}),
        ]
        parts = [
            Claim(f"claim.part.graph.{name}", "note", {"n": count})
            for name, count in zip(("resized", "scaled"), counts, strict=True)
            if count
        ]
        sizes = [f"{before} → {after}" for (before, after), _ in lengths.most_common()]
        names = dict.fromkeys(merged(change.subject for change in changes) for changes in resized)
        values = {
            "n": len(sizes),
            "sizes": few(sizes, _LENGTHS),
            "parts": parts,
            "names": few([*names], _NAMED),
        }
        left, right = first_users(comparison, *resized[0][0].position)
        evidence = ({"left": left, "right": right},) if min(left, right) >= 0 else ()
        claims.append(Claim("claim.graph.sizes", "found", values, evidence))
    return claims


def _sets(
    comparison: Comparison, groups: Groups
) -> Iterator[tuple[Counter[Length], list[tuple[str, Hashable]]]]:
    """Yield the groups of parameters that share a factor, with the number of uses of each changed length."""
    waiting = {key: own for key, changes in groups.items() if (own := _lengths(comparison, key[0], changes))}
    while waiting:
        keys = [next(iter(waiting))]
        lengths = Counter(waiting.pop(keys[0]))
        while near := [key for key, own in waiting.items() if _factors(own) & _factors(lengths)]:
            for key in near:
                lengths += waiting.pop(key)
            keys += near
        yield lengths, keys


def _factors(lengths: Counter[Length]) -> set[Fraction]:
    return {Fraction(after, before) for before, after in lengths}


def _lengths(comparison: Comparison, kind: str, changes: list[Change]) -> Counter[Length]:
    """Return the changed lengths of a group of parameters, empty if anything else differs."""
    if kind != "resized":
        return Counter()
    before, after = (
        output_of(tree.graph, node) for tree, node in zip(comparison.trees, changes[0].position, strict=True)
    )
    shapes = *before.shapes, *after.shapes
    if len(shapes) != 2 or len(shapes[0]) != len(shapes[1]) or before.type != after.type:
        return Counter()
    pairs = [lengths for lengths in zip(*shapes, strict=True) if lengths[0] != lengths[1]]
    return Counter(pairs * len(changes)) if all(min(lengths) > 0 for lengths in pairs) else Counter()


def _is_scaled(kind: str, change: Change, factors: set[Fraction]) -> bool:
    """Return True if the numbers that differ in an attribute or a constant change by one of the factors."""
    texts = change.left, change.right
    numbers = [[*map(Fraction, _NUMBER.findall(text))] for text in texts]
    if kind not in ("attribute", "constant") or len({_NUMBER.sub("#", text) for text in texts}) > 1:
        return False
    differing = [pair for pair in zip(*numbers, strict=True) if pair[0] != pair[1]]
    return bool(differing) and all(before and after / before in factors for before, after in differing)
