"""Collective operations: what they give a rank comes from the other ranks, too."""

from __future__ import annotations

from typing import Final

_SHARED: Final = ("allreduce", "allgather", "broadcast")  # the same result on all ranks
_SPLIT: Final = ("reducescatter", "alltoall", "recv", "receive")
_SHAPING: Final = ("broadcastto", "broadcasttensors", "broadcastgradientargs")  # no collectives
_PARTS: Final = (*_SPLIT, "collectivescatter", "neighborexchange")


def is_collective(operator_type: str) -> bool:
    """Whether an operator type is a collective operation: ``allreduce_`` of PyTorch, ``AllReduce``, ..."""
    name = _canonical(operator_type)
    return name.startswith(_SHARED + _SPLIT) and not name.startswith(_SHAPING)


def gives_all_the_same(operator_type: str) -> bool:
    """Whether all ranks of the group get the same from it, whatever each of them puts in."""
    name = _canonical(operator_type)
    return name.startswith(_SHARED) and not name.startswith(_SHAPING)


def gives_each_its_part(operator_type: str) -> bool:
    """Whether ranks get other parts from it, even where all put in the same."""
    name = _canonical(operator_type)
    return name.startswith(_PARTS) or name == "scatter"


def _canonical(operator_type: str) -> str:
    name = operator_type.rpartition(".")[2].rpartition(":")[2]
    return "".join(letter for letter in name.lower() if letter.isalnum()).removeprefix("dist")
