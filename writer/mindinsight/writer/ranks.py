"""Which process of a training am I, and which directory is mine."""

from __future__ import annotations

import os
import re
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


class Rank(NamedTuple):
    """Number of this process among ``world`` processes."""

    number: int
    world: int


def rank_of(environment: Mapping[str, str] = os.environ) -> Rank:
    """What the first launcher that set both of its variables says; rank 0 of 1 without one."""
    for number, world in _LAUNCHERS:
        if environment.get(number, "").isdecimal() and environment.get(world, "").isdecimal():
            return Rank(int(environment[number]), int(environment[world]))
    return Rank(0, 1)


def directory_of(directory: Path, rank: int | None, environment: Mapping[str, str] = os.environ) -> Path:
    """``directory`` itself for a lone process, ``directory/rank_N`` for one of several or a given ``rank``.

    A directory already named ``rank_N`` is taken as it is: whoever wrote that has thought of ranks.
    """
    known = rank_of(environment)
    if (rank is None and known.world <= 1) or re.fullmatch(r"rank_\d+", directory.name):
        return directory
    return directory / f"rank_{known.number if rank is None else rank}"


def device_of(rank: int | None, environment: Mapping[str, str] = os.environ) -> int:
    """The number in a file's name: the rank among several or as given, else ``DEVICE_ID``, else 0."""
    known = rank_of(environment)
    if rank is not None or known.world > 1:
        return known.number if rank is None else rank
    device = environment.get("DEVICE_ID", "")
    return int(device) if device.isdecimal() else 0
