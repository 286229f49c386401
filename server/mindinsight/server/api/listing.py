"""Encoder and cache of the list of runs: a row is encoded when its run changes, the list once for all.

Every open page polls the list each second, for up to a thousand runs of which fifty grow.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from mindinsight.server.api.lineage_values import hyper_of, metrics_of
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.store.run import Run, Snapshot, Trouble
from mindinsight.server.store.run_state import torn_since
from mindinsight.server.workspace.defaults import Default
from mindinsight.server.workspace.notes import Note

FRESH: Final = 1.0  # seconds for which one answer is given to all: it tells the time, too
_LEVEL: Final = 1  # of compression: twice as fast as the usual one, a fifth larger
_NO_NOTE: Final = Note()


class Encoded(NamedTuple):
    """Encoded response, plain and compressed."""

    plain: bytes
    packed: bytes  # gzip


class Marks(NamedTuple):
    """What the workspace holds of runs, and of pages."""

    notes: Mapping[str, Note] = {}  # by run
    slots: Mapping[str, int] = {}  # colour slot by job
    defaults: Mapping[str, Default] = {}  # settings by page


class Listing:
    """Cache of encoded rows and of the whole list, for one server; thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._making = LruCache[Encoded](0)  # others wait for what the first one makes
        self._rows: dict[str, tuple[Run, Note, int, bytes]] = {}
        self._whole: tuple[Any, float, Encoded] = (None, 0.0, Encoded(b"", b""))

    def whole(self, snapshot: Snapshot, marks: Marks, key: Any, troubles: Iterable[Trouble] = ()) -> Encoded:
        """Every run; ``key`` changes when anything else does. ``troubles`` of the server come first."""
        known, made, answer = self._whole
        if known == key and self._clock() - made <= FRESH:
            return answer

        def make() -> Encoded:
            plain = self.some(snapshot, marks, snapshot.runs.values(), troubles)
            answer = Encoded(plain, gzip.compress(plain, _LEVEL, mtime=0))
            self._whole = (key, self._clock(), answer)
            self._rows = {run: row for run, row in self._rows.copy().items() if run in snapshot.runs}
            return answer

        return self._making.get(key, make)

    def some(
        self,
        snapshot: Snapshot,
        marks: Marks,
        runs: Iterable[Run],
        troubles: Iterable[Trouble] = (),
    ) -> bytes:
        """The given runs of a snapshot."""
        rows = b",".join(
            [self._row(run, marks.notes.get(run.id, _NO_NOTE), marks.slots.get(run.job, 0)) for run in runs]
        )
        return _json(_head(snapshot, troubles, marks.defaults))[:-1] + b',"runs":[' + rows + b"]}"

    def _row(self, run: Run, note: Note, slot: int) -> bytes:
        known = self._rows.get(run.id)
        if known is None or known[0] is not run or known[1] is not note or known[2] != slot:
            known = self._rows[run.id] = (run, note, slot, _json({**_summary(run, note), "slot": slot}))
        return known[3]


def _json(content: Any) -> bytes:
    """JSON in UTF-8; lone surrogates are escaped as JSON has it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _head(snapshot: Snapshot, troubles: Iterable[Trouble], defaults: Mapping[str, Default]) -> dict[str, Any]:
    return {
        "version": snapshot.version,
        "base": snapshot.base,
        "bases": [asdict(base) for base in snapshot.bases],
        "base_missing": snapshot.base_missing,
        "left_out": snapshot.left_out,
        "watch": snapshot.watch,
        "scanned": snapshot.scanned,
        "now": time.time(),
        "defaults": {view: default.query for view, default in defaults.items()},
        "errors": [{"path": error.path, "reason": error.reason} for error in (*troubles, *snapshot.errors)],
    }


def _summary(run: Run, note: Note) -> dict[str, Any]:
    kinds = {kind: len(tags) for kind, tags in sorted(run.references.items()) if tags}
    return {
        "id": run.id,
        "name": run.name,
        "job": run.job,
        "rank": run.rank,
        "created": run.created,
        "updated": run.updated,
        "first_event": run.first_event,
        "last_event": run.last_event,
        "finished": run.finished,
        "failure": run.failure,
        "torn_since": min(torn_since(run).values(), default=None),
        "size": run.size,
        "read": run.read,
        "total": run.total,
        "damage": sum(len(file.damage) + bool(file.error) for file in run.files),
        "step": max((series.last_step for series in run.scalars.values()), default=-1),
        "kinds": {"scalar": len(run.scalars), **kinds} if run.scalars else kinds,
        "lineage": run.lineage is not None,
        "pipeline": run.lineage is not None and run.lineage.dataset_graph is not None,
        "hyper": non_finite_as_text(hyper_of(run.lineage)),
        "metrics": non_finite_as_text(metrics_of(run.lineage)),
        "dumps": list(run.dumps),
        "hidden": note.hidden,
        "pinned": note.pinned,
        "note": note.note,
        "labels": note.labels,
        "chosen": note.colour,
    }
