"""Links between operators: from the graph where there is one, else inferred from their data."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.recorded_statistics import AnyStatistics
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry

Fingerprint: TypeAlias = tuple[tuple[int, ...], AnyStatistics] | tuple[str, str]

MAX_SOURCES: Final = 4  # operators considered as the source of one tensor


@dataclass(frozen=True, slots=True)
class Link:
    """Link: a tensor passed from one operator to another. Names are as recorded; unknown slots are ""."""

    source: str
    source_slot: str
    target: str
    target_slot: str
    certain: bool  # from the graph; otherwise inferred from equal values


def graph_links(operators: Iterable[Operator]) -> list[Link]:
    """Links of the graph; sources that are no operators of the dump (parameters) keep their own names."""
    all_operators = list(operators)
    recorded = {operator.name: operator.recorded for operator in all_operators}
    return [
        Link(recorded.get(source, source), "", operator.recorded, "", certain=True)
        for operator in all_operators
        for source in operator.sources
    ]


def content_links(results: Iterable[TensorResult]) -> list[Link]:
    """Links inferred from contents: an input is linked to the last outputs before it with the same content.

    There can be several: a module outputs what the last function inside it did. ``results`` are the measured
    tensors of one step in the order they were written. Tensors with equal fingerprints count as equal.
    """
    written: dict[Fingerprint, deque[TensorEntry]] = defaultdict(lambda: deque(maxlen=MAX_SOURCES))
    links = []
    for result in results:
        entry = result.entry
        content = fingerprint(result)
        if content is None:
            continue
        if entry.direction == "output":
            written[content].append(entry)
            continue
        for source in written.get(content, ()):
            if source.recorded != entry.recorded:
                links.append(Link(source.recorded, source.slot, entry.recorded, entry.slot, certain=False))
    return links


def inputs_of(operator: str, links: Sequence[Link]) -> list[Link]:
    """Links to an operator, by its recorded name."""
    return [link for link in links if link.target == operator]


def outputs_of(operator: str, links: Sequence[Link]) -> list[Link]:
    """Links from an operator, by its recorded name."""
    return [link for link in links if link.source == operator]


def fingerprint(result: TensorResult) -> Fingerprint | None:
    """Fingerprint of a tensor's content: the recorded checksum, or else its shape and all statistics."""
    recorded = result.entry.statistics
    if recorded is not None and recorded.checksum:
        return (recorded.checksum_kind, recorded.checksum)
    return None if result.measurement is None else (result.measurement.shape, result.measurement.statistics)


_SUMS: Final = frozenset(
    ["sum", "reducesum", "mean", "reducemean", "matmul", "mm", "bmm", "batchmatmul", "mv", "dot", "linear",
     "dense", "addmm", "baddbmm", "addmv", "conv1d", "conv2d", "conv3d", "convolution"]
)  # fmt: skip


def canonical(operator: str) -> str:
    """An operator type in lower case letters and digits: ``realdiv`` of "RealDiv", ``log`` of "at::log_"."""
    name = re.split(r"[.:/]", operator)[-1]
    return "".join(letter for letter in name.lower() if letter.isalnum())


def is_sum(operator: str) -> bool:
    """Whether an operator's results are sums or means, of elements or of products."""
    return canonical(operator) in _SUMS
