"""Points of scalars, and the LRU cache of encoded answers with them: pages ask again and again."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from mindinsight.server.api.listing import Encoded
from mindinsight.server.api.v1.json_router import json_text
from mindinsight.server.api.v1.sampling import SCALARS, extreme_rows
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.store.series import ScalarSeries

_ANSWERS: Final = 64  # of about 80 KB for each series in them
_MOST_SERIES: Final = 4  # in an answer that is cached
_LEVEL: Final = 4  # of compression


class Pair(NamedTuple):
    """A job and a tag as they were asked for, with the series."""

    run: str
    tag: str
    series: ScalarSeries

    def key(self) -> tuple[str, str, int, int, int]:
        """What an answer with this pair depends on."""
        return self.run, self.tag, self.series.version, self.series.generation, self.series.count


class ScalarAnswers:
    """Encoded answers by route, pairs and versions of their series, made anew when one of those changed."""

    def __init__(self) -> None:
        self._answers = LruCache[Encoded](_ANSWERS)

    def find(self, route: str, pairs: Sequence[Pair]) -> Encoded | None:
        """Return the answer of a route with the thinned points of these pairs, None if it is not cached."""
        return self._answers.find((route, *(pair.key() for pair in pairs)))

    def get(self, route: str, pairs: Sequence[Pair], content: Callable[[], dict[str, Any]]) -> Encoded:
        """Return the answer of a route. It is encoded from `content`, which is called unless it is cached."""
        if len(pairs) > _MOST_SERIES:
            return _encoded(content())
        key = (route, *(pair.key() for pair in pairs))
        return self._answers.get(key, lambda: _encoded(content()))


def _encoded(content: dict[str, Any]) -> Encoded:
    plain = json_text(content).encode()
    return Encoded(plain, gzip.compress(plain, _LEVEL, mtime=0))


def scalar_items(pairs: Sequence[Pair], full: bool) -> dict[str, Any]:
    """Content of an answer."""
    items = [
        {"train_id": pair.run, "tag": pair.tag, "values": points_of(pair.series, full)} for pair in pairs
    ]
    return {"scalars": items}


def points_of(series: ScalarSeries, full: bool) -> list[dict[str, Any]]:
    """Points of the line, ascending by step; a sample of them unless ``full``."""
    line = series.line()
    rows = slice(None) if full else extreme_rows(line.values, SCALARS)
    columns = (line.walls[rows].tolist(), line.steps[rows].tolist(), line.values[rows].tolist())
    return [
        {"wall_time": wall, "step": step, "value": value} for wall, step, value in zip(*columns, strict=True)
    ]
