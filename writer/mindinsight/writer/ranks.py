"""Rank of this process in a training, and the directory of the rank."""

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
    """Rank of this process: its number, and the number of processes as ``world``."""

    number: int
    world: int


def rank_of(environment: Mapping[str, str] = os.environ) -> Rank:
    """Return the rank from the first launcher that set both its variables to numbers, or rank 0 of 1."""
    for number, world in _LAUNCHERS:
        if environment.get(number, "").isdecimal() and environment.get(world, "").isdecimal():
            return Rank(int(environment[number]), int(environment[world]))
    return Rank(0, 1)


def directory_of(directory: Path, rank: int | None, environment: Mapping[str, str] = os.environ) -> Path:
    """Return ``directory`` for a single process, ``directory/rank_N`` for one of several or a given ``rank``.

    A directory whose name contains the rank is returned unchanged: ``rank_N``, or a name that ends in a word
    for ranks and the number (``run-device3``). With MindSpore loaded, any name that ends in the number
    counts, because its tutorials write ``"summary_dir" + str(get_rank())``. A directory that has folders of
    ranks does not count: another process made them under the same name (``run1``).
    """
    number = _rank_to_add(directory.name, rank, environment)
    return directory if number is None or _carries_rank(directory, number) else directory / f"rank_{number}"


def url_of(url: str, rank: int | None, environment: Mapping[str, str] = os.environ) -> str:
    """Return ``url`` for a single process, ``url/rank_N`` for one of several or a given ``rank``. A URL whose
    last name is ``rank_N`` or ends in a word for ranks and the number is returned unchanged."""
    name = url.rpartition("/")[2]
    number = _rank_to_add(name, rank, environment)
    match = _NUMBERED.fullmatch(name)
    carried = match is not None and int(match["number"]) == number and _RANK_WORD.search(match["stem"])
    return url if number is None or carried else f"{url}/rank_{number}"


def _rank_to_add(name: str, rank: int | None, environment: Mapping[str, str]) -> int | None:
    """Return the rank for which a directory may need a folder, or None for a single process or ``rank_N``."""
    launched = rank_of(environment)
    if (rank is None and launched.world <= 1) or re.fullmatch(r"rank_\d+", name):
        return None
    return launched.number if rank is None else rank


def device_of(rank: int | None, environment: Mapping[str, str] = os.environ) -> int:
    """Return the number in a file's name: the rank among several or as given, else ``DEVICE_ID``, else 0."""
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
    runs = (  # directories with event files, or empty
        rank.is_dir() and (any(rank.glob("*.summary.*")) or not any(rank.iterdir()))
        for rank in directory.glob("rank_*")
    )
    return "mindspore" in sys.modules and not any(runs)
