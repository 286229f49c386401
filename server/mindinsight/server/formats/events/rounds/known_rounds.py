"""Memory of rounds: those of one file are looked for in the next, as the runs of a project record the same.

Where one goes on, its headers are compared with all else that is the same in each round, so that it is known
in one comparison both where its records lie and what is in them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.formats.events.rounds.model import Round
from mindinsight.server.formats.events.schema import Schema

FEWEST: Final = 64  # records of rounds that are worth the set-up
_MOST: Final = 4  # rounds remembered by the length of their first record


class KnownRounds(NamedTuple):
    """Rounds of one model that follow each other."""

    row: int  # number of their first record
    model: Round
    repeats: int


def learn(data: bytes, start: int, model: Round, schema: Schema) -> None:
    """Remember a round, of which there was a frequent one at ``start``."""
    models = _models(data[start : start + HEADER_SIZE], schema)
    if model not in models:
        models.insert(0, model)
        del models[_MOST:]


def find(data: bytes, at: int, row: int, schema: Schema) -> KnownRounds | None:
    """The rounds that begin at ``at`` with record ``row``; None where none is known.

    The records of the first round have one step: rounds do not begin in the midst of one.
    """
    for model in _models(data[at : at + HEADER_SIZE], schema):
        length, most = len(model.shapes), (len(data) - at) // model.stride
        if most * length < FEWEST or not model.count(data, at, 1) or not _has_one_step(data, at, model):
            continue
        count = model.count(data, at, most)
        if count * length >= FEWEST:
            return KnownRounds(row, model, count)
    return None


def _has_one_step(data: bytes, at: int, model: Round) -> bool:
    steps = {
        data[at + begin + shape.event.step_at : at + begin + shape.event.step_at + shape.event.step_size]
        for begin, shape in zip(model.begins, model.shapes, strict=True)
    }
    return len(steps) == 1


@lru_cache(maxsize=1 << 8)
def _models(header: bytes, schema: Schema) -> list[Round]:
    """Models whose first record has this header, the newest first."""
    return []
