"""Grouping of runs into jobs: the ranks of one training, by their paths and file names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from mindinsight.server.ingest.discovery.folder_listing import Stamp
from mindinsight.server.store import file_names


class JobRank(NamedTuple):
    """Job and rank of a run."""

    job: str  # id
    rank: int | None


_RANK: Final = re.compile(r"(?:rank|device)[_-]?(\d{1,9})", re.IGNORECASE)
_START_APART: Final = 600.0  # seconds between the starts of two ranks at most
_NUMBERED: Final = re.compile(r"(.*?)[_.-]?(\d{1,9})")


def is_rank(name: str) -> bool:
    """Whether a folder is named like one rank of a job."""
    return _RANK.fullmatch(name) is not None


def concurrent_ranks(files: Mapping[str, Stamp]) -> frozenset[int]:
    """Ranks in the names of the event files of one folder, if two ranks wrote at the same time; else none.

    A training that is resumed on another device names its files after that device, but it writes after
    the one before it has stopped; the ranks of a job start together.
    """
    if len(files) < 2:
        return frozenset()
    events = sorted(
        (seconds, rank, stamp.modified / 1e9)
        for name, stamp in files.items()
        if file_names.role(name) == "summary"
        and (rank := file_names.device(name)) is not None
        and (seconds := file_names.created(name)) is not None
    )
    together = any(
        rank != other and created - started <= _START_APART and created <= written
        for (started, rank, written), (created, other, _) in pairwise(events)
    )
    return frozenset(rank for _, rank, _ in events) if together else frozenset()


def job_ranks(devices: Mapping[str, frozenset[int]]) -> dict[str, JobRank]:
    """Job and rank of each run, given the device ids in its files' names.

    Known forms: ``job/rank_0``, ``job/rank_1``; ``job0``, ``job1`` beside each other; both at once,
    ``job0/rank_0``, ``job1/rank_1``; and ``job`` with the files of one rank beside folders of the others.
    Siblings are believed only where the number of the folder is that of the rank (or the device id in the
    file names): experiments are numbered too, but each of them ran on device 0.
    """
    jobs = {run: _by_folder(run) or JobRank(run, None) for run in devices}
    jobs.update(_by_numbered_jobs(jobs))
    jobs.update(_by_siblings({run: ids for run, ids in devices.items() if jobs[run].rank is None}))
    jobs.update(_above_ranks(jobs, devices))
    return jobs


def _by_folder(run: str) -> JobRank | None:
    parts = run.split("/")
    for depth in range(len(parts) - 1, 0, -1):
        match = _RANK.fullmatch(parts[depth])
        if match:
            return JobRank("/".join(parts[:depth]) if depth > 1 else "./", int(match[1]))
    return None


def _by_siblings(devices: Mapping[str, frozenset[int]]) -> dict[str, JobRank]:
    numbers = {run: next(iter(ids)) for run, ids in devices.items() if len(ids) == 1}
    return _numbered(numbers)


def _by_numbered_jobs(runs: Mapping[str, JobRank]) -> dict[str, JobRank]:
    """Runs whose job is named after their rank: ``job0/rank_0`` beside ``job1/rank_1``."""
    ranks: dict[str, set[int]] = defaultdict(set)
    for job, rank in runs.values():
        if rank is not None:
            ranks[job].add(rank)
    joined = _numbered({job: next(iter(numbers)) for job, numbers in ranks.items() if len(numbers) == 1})
    return {run: joined[job] for run, (job, rank) in runs.items() if rank is not None and job in joined}


def _above_ranks(runs: Mapping[str, JobRank], devices: Mapping[str, frozenset[int]]) -> dict[str, JobRank]:
    """Runs that are a job themselves and hold the files of one rank that its folders lack."""
    taken = {position for position in runs.values() if position.rank is not None}
    jobs = {job for job, _ in taken}
    numbers = {run: next(iter(ids)) for run, ids in devices.items() if run in jobs and len(ids) == 1}
    return {run: JobRank(run, rank) for run, rank in numbers.items() if (run, rank) not in taken}


def _numbered(numbers: Mapping[str, int]) -> dict[str, JobRank]:
    """Job and rank of folders that differ in a number at the end, each its own and that of its rank."""
    groups: dict[str, dict[str, int]] = defaultdict(dict)
    for folder, number in numbers.items():
        parent, _, name = folder.rpartition("/")
        match = _NUMBERED.fullmatch(name)
        if match and number == int(match[2]):
            groups[f"{parent}/{match[1]}"][folder] = number
    return {
        folder: JobRank(job if job == "./" else job.rstrip("/"), rank)
        for job, ranks in groups.items()
        if len(ranks) > 1 and len(set(ranks.values())) == len(ranks)
        for folder, rank in ranks.items()
    }
