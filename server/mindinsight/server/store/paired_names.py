"""Names of scalars and settings that mean the same in two runs, as different recorders give them."""

from collections import defaultdict
from typing import Final

_DECORATION: Final = frozenset({"train", "training", "auto", "scalar", "scalars"})
_SYNONYMS: Final = {
    "accuracy": "acc",
    "batch_size": "batch",
    "eval": "val",
    "learning_rate": "lr",
    "opt": "optimizer",
    "valid": "val",
    "validation": "val",
}


def paired_tags(base_tags: list[str], tags: list[str]) -> list[tuple[str, str]]:
    """Return the pairs (base tag, tag) of tags that are equal, then of those with the same `plain_name`, if
    no other remaining tag of either side has it. Tags without a partner are left out."""
    known = set(tags)
    pairs = [(tag, tag) for tag in base_tags if tag in known]
    base_alike, alike = _byplain_name(base_tags, tags), _byplain_name(tags, base_tags)
    for name, rest in base_alike.items():
        if len(rest) == 1 and len(alike.get(name, ())) == 1:
            pairs.append((rest[0], alike[name][0]))
    return pairs


def _byplain_name(tags: list[str], without: list[str]) -> dict[str, list[str]]:
    """Group the tags that are not in `without` by their plain name."""
    groups: dict[str, list[str]] = defaultdict(list)
    common = set(without)
    for tag in tags:
        if tag not in common:
            groups[plain_name(tag)].append(tag)
    return groups


def plain_name(tag: str) -> str:
    """Return a tag without prefixes and suffixes of recorders: `train/loss`, `loss/auto` and `Loss` become
    `loss`. Parts that mean the same have one name: `eval/loss` and `validation/loss` become `val/loss`."""
    parts = [_SYNONYMS.get(part, part) for part in tag.lower().split("/") if part not in _DECORATION]
    return "/".join(parts) or tag.lower()
