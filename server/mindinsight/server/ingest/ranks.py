"""Which runs are the ranks of one training, told from where they lie and how their files are named."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

Place = tuple[str, "int | None"]  # id of the job, rank

_RANK: Final = re.compile(r"(?:rank|device)[_-]?(\d{1,9})", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(.*?)[_.-]?(\d{1,9})")


def is_rank(name: str) -> bool:
    """Whether a folder is named like one rank of a job."""
    return _RANK.fullmatch(name) is not None


def places(devices: Mapping[str, frozenset[int]]) -> dict[str, Place]:
    """Job and rank of each run, given the device ids in its files' names.

    Two ways are known: ``job/rank_0``, ``job/rank_1``; and ``job0``, ``job1`` beside each other. The
    second is believed only where the device id in the file names is the number of the folder:
    experiments are numbered too, but each of them ran on device 0.
    """
    found = {run: _by_folder(run) or (run, None) for run in devices}
    found.update(_by_siblings({run: ids for run, ids in devices.items() if found[run][1] is None}))
    return found


def _by_folder(run: str) -> Place | None:
    parts = run.split("/")
    for depth in range(len(parts) - 1, 0, -1):
        match = _RANK.fullmatch(parts[depth])
        if match:
            return "/".join(parts[:depth]) if depth > 1 else "./", int(match[1])
    return None


def _by_siblings(devices: Mapping[str, frozenset[int]]) -> dict[str, Place]:
    groups: dict[str, dict[str, int]] = defaultdict(dict)
    for run, ids in devices.items():
        parent, _, name = run.rpartition("/")
        match = _NUMBERED.fullmatch(name)
        if match and ids == {int(match[2])}:
            groups[f"{parent}/{match[1]}"][run] = int(match[2])
    return {
        run: (job if job == "./" else job.rstrip("/"), rank)
        for job, ranks in groups.items()
        if len(ranks) > 1 and len(set(ranks.values())) == len(ranks)
        for run, rank in ranks.items()
    }
