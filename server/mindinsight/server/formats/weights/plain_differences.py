"""Differences of the numbers and texts beside the tensors of two files."""

import re
from typing import Final, NamedTuple

from mindinsight.server.formats.sanitizer import show_name
from mindinsight.server.formats.weights.weight_files import WeightFile

# Last word of the name of a number that counts the progress of a training: `step`, `last_epoch`, `iter_num`.
_COUNTER: Final = re.compile(
    r"(?:.*[._/-])?(?:steps?|epochs?|iter(?:ation)?s?|batche?s?|samples|tokens)"
    r"(?:[._-](?:num|count|idx|index|seen))?",
    re.IGNORECASE,
)


class PlainDifference(NamedTuple):
    """Value that differs between two files."""

    text: str  # "lr: 0.1 → 0.2"
    is_counter: bool  # an integer of progress in both files, which differs between any two steps


def compare_plain(first: WeightFile, second: WeightFile) -> list[PlainDifference]:
    """Return the numbers and texts that differ between two files, by name."""
    missing = object()
    pairs = {
        name: (first.plain.get(name, missing), second.plain.get(name, missing))
        for name in [*first.plain, *(name for name in second.plain if name not in first.plain)]
    }
    return [
        PlainDifference(
            f"{name}: {' → '.join('–' if value is missing else show_name(repr(value)) for value in pair)}",
            bool(_COUNTER.fullmatch(name)) and all(type(value) is int for value in pair),
        )
        for name, pair in pairs.items()
        if repr(pair[0]) != repr(pair[1])  # tells 1 from True and 1.0, and takes NaN for NaN
    ]
