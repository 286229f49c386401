"""Alignment of all scalars of two runs, ranked."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from mindinsight.server.curves.alignment import ORDER, Alignment, align
from mindinsight.server.store.run import Run

_DECORATION: Final = frozenset({"train", "training", "auto", "scalar", "scalars"})


@dataclass(frozen=True, slots=True)
class TagAlignment:
    """The alignment of one scalar."""

    tag: str
    other: str  # its name in the run that is measured; mostly the same
    alignment: Alignment


def alignments(run: Run, baseline: Run, tolerance: float) -> list[TagAlignment]:
    """Each scalar that both runs have: drifts first, the earliest of them first."""
    rows = []
    for tag, other in _pairs(list(baseline.scalars), list(run.scalars)):
        base, line = baseline.scalars[tag].line(), run.scalars[other].line()
        aligned = align(line.steps, line.values, base.steps, base.values, tolerance)
        rows.append(TagAlignment(tag, other, aligned))
    return sorted(rows, key=_rank)


def _rank(row: TagAlignment) -> tuple[int, float, float, str]:
    aligned = row.alignment
    order = ORDER.index(aligned.verdict)
    begins = aligned.onset is not None
    return (0 if begins else order), (aligned.onset or 0 if begins else 0), -aligned.largest, row.tag


def headline(rows: list[TagAlignment]) -> dict[str, Any]:
    """What one sentence needs: the main tag and where its agreement ends, and the tag that drifts first."""
    main = min(rows, key=lambda row: _interest(row.tag), default=None)
    first = next((row for row in rows if row.alignment.onset is not None), None)
    return {
        "main": main.tag if main else None,
        "verdict": main.alignment.verdict if main else None,
        "agrees_to": main.alignment.agrees_to if main else None,
        "beyond": main.alignment.beyond if main else None,
        "first": first.tag if first else None,
        "onset": first.alignment.onset if first else None,
        "drifting": sum(row.alignment.onset is not None for row in rows),
    }


def _interest(tag: str) -> tuple[bool, bool, int, str]:
    """The loss first: of several the one with the plainest name."""
    return not re.search("loss", tag, re.IGNORECASE), bool(re.search("val|eval|test", tag)), len(tag), tag


def _pairs(base_tags: list[str], tags: list[str]) -> list[tuple[str, str]]:
    """Tags of the baseline with those of the other run: of one name, or alike where that is plain."""
    pairs = [(tag, tag) for tag in base_tags if tag in set(tags)]
    base_alike, alike = _by_likeness(base_tags, tags), _by_likeness(tags, base_tags)
    for name, rest in base_alike.items():
        if len(rest) == 1 and len(alike.get(name, ())) == 1:
            pairs.append((rest[0], alike[name][0]))
    return pairs


def _by_likeness(tags: list[str], without: list[str]) -> dict[str, list[str]]:
    """Tags that are not in ``without``, by their name less what recorders put around it."""
    groups: dict[str, list[str]] = defaultdict(list)
    common = set(without)
    for tag in tags:
        if tag not in common:
            groups[plain_name(tag)].append(tag)
    return groups


def plain_name(tag: str) -> str:
    """``train/loss``, ``loss/auto`` and ``Loss`` -> ``loss``."""
    parts = [part for part in tag.lower().split("/") if part not in _DECORATION]
    return "/".join(parts) or tag.lower()
