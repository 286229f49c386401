"""Rank of this process among those of one training, and the directory of that rank."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

# Launchers and the variables they set: MindSpore and Ascend, torchrun, Slurm, Open MPI, MPICH.
_LAUNCHERS: Final = (
    ("RANK_ID", "RANK_SIZE"),
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
)
_NUMBERED: Final = re.compile(r"(?P<stem>.*?)(?P<number>\d+)", re.ASCII)
_RANK_WORD: Final = re.compile(r"(rank|device|card|gpu|npu|worker|proc(ess)?)[-_.]?$", re.IGNORECASE)


class Rank(NamedTuple):
    """Number of this process among ``world`` processes."""

    number: int
    world: int


def rank_of(environment: Mapping[str, str] = os.environ) -> Rank:
    """Rank by the variables of the first launcher that set both; rank 0 of 1 without one."""
    for number, world in _LAUNCHERS:
        if environment.get(number, "").isdecimal() and environment.get(world, "").isdecimal():
            return Rank(int(environment[number]), int(environment[world]))
    return Rank(0, 1)


def directory_of(directory: Path, rank: int | None, environment: Mapping[str, str] = os.environ) -> Path:
    """``directory`` itself for a lone process, ``directory/rank_N`` for one of several or a given ``rank``.

    A directory that carries the rank already is taken as it is: one named ``rank_N``, or whose name ends in
    this rank's number behind a word for ranks (``run-device3``). With MindSpore loaded any name that ends in
    the number will do, as its tutorials write ``"summary_dir" + str(get_rank())``; unless the directory has
    folders of ranks, which another process made because it was given the same name (``run1``).
    """
    launched = rank_of(environment)
    if (rank is None and launched.world <= 1) or re.fullmatch(r"rank_\d+", directory.name):
        return directory
    number = launched.number if rank is None else rank
    return directory if _carries_rank(directory, number) else directory / f"rank_{number}"


def url_of(url: str, rank: int | None, environment: Mapping[str, str] = os.environ) -> str:
    """``directory_of`` for a directory in a store, of which nothing is listed."""
    launched = rank_of(environment)
    name = url.rpartition("/")[2]
    if (rank is None and launched.world <= 1) or re.fullmatch(r"rank_\d+", name):
        return url
    number = launched.number if rank is None else rank
    match = _NUMBERED.fullmatch(name)
    carried = match is not None and int(match["number"]) == number and _RANK_WORD.search(match["stem"])
    return url if carried else f"{url}/rank_{number}"


def device_of(rank: int | None, environment: Mapping[str, str] = os.environ) -> int:
    """The number in a file's name: the rank among several or as given, else ``DEVICE_ID``, else 0."""
    launched = rank_of(environment)
    if rank is not None or launched.world > 1:
        return launched.number if rank is None else rank
    device = environment.get("DEVICE_ID", "")
    return int(device) if device.isdecimal() else 0


def _carries_rank(directory: Path, rank: int) -> bool:
    match = _NUMBERED.fullmatch(directory.name)
    if match is None or int(match["number"]) != rank:
        return False
    if _RANK_WORD.search(match["stem"]):
        return True
    return "mindspore" in sys.modules and not any(map(_is_run, directory.glob("rank_*")))


def _is_run(directory: Path) -> bool:
    """Whether a recorder made ``directory``: it has event files or is still empty."""
    return directory.is_dir() and (any(directory.glob("*.summary.*")) or not any(directory.iterdir()))
