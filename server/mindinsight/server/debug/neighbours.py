"""From an operator to those before and after it: by the graph where there is one, else by what was dumped."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from mindinsight.server.debug.examine import Answer
from mindinsight.server.debug.recorded import AnyStatistics
from mindinsight.server.formats.dumps.types import Operator, TensorEntry

Fingerprint: TypeAlias = tuple[tuple[int, ...], AnyStatistics] | tuple[str, str]

GIVERS: Final = 4  # operators that may have given the same tensor


@dataclass(frozen=True, slots=True)
class Link:
    """A tensor on its way from one operator to another. Names are as recorded; slots "" when unknown."""

    source: str
    source_slot: str
    target: str
    target_slot: str
    certain: bool  # the graph says so; otherwise output and input hold the same values


def graph_links(operators: Iterable[Operator]) -> list[Link]:
    """Links the graph of the dump knows; sources that left no operator (parameters) keep their own name."""
    listed = list(operators)
    recorded = {each.name: each.recorded for each in listed}
    return [
        Link(recorded.get(source, source), "", each.recorded, "", certain=True)
        for each in listed
        for source in each.sources
    ]


def content_links(answers: Iterable[Answer]) -> list[Link]:
    """Links concluded from contents: an input came from the last outputs before it that hold the same.

    There can be several: a module gives what the last function inside it gave. ``answers`` are the measured
    tensors of one step in the order they were written. Two tensors count as the same when their
    checksums are, or else their shape and all their statistics.
    """
    written: dict[Fingerprint, deque[TensorEntry]] = defaultdict(lambda: deque(maxlen=GIVERS))
    links = []
    for answer in answers:
        entry = answer.entry
        print_ = fingerprint(answer)
        if print_ is None:
            continue
        if entry.direction == "output":
            written[print_].append(entry)
            continue
        for source in written.get(print_, ()):
            if source.recorded != entry.recorded:
                links.append(Link(source.recorded, source.slot, entry.recorded, entry.slot, certain=False))
    return links


def inputs_of(operator: str, links: Sequence[Link]) -> list[Link]:
    """What feeds an operator, named as recorded."""
    return [link for link in links if link.target == operator]


def outputs_of(operator: str, links: Sequence[Link]) -> list[Link]:
    """Where the outputs of an operator go."""
    return [link for link in links if link.source == operator]


def fingerprint(answer: Answer) -> Fingerprint | None:
    """What two tensors of one content share: the recorded checksum, or else shape and all statistics."""
    recorded = answer.entry.statistics
    if recorded is not None and recorded.checksum:
        return (recorded.checksum_kind, recorded.checksum)
    return None if answer.measured is None else (answer.measured.shape, answer.measured.statistics)
