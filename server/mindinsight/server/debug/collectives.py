"""Collective operations: what they give a rank comes from the other ranks, too."""

from __future__ import annotations

from typing import Final

_SHARED: Final = ("allreduce", "allgather", "broadcast")  # the same result on all ranks
_SPLIT: Final = ("reducescatter", "alltoall", "recv", "receive")


def is_collective(operator_type: str) -> bool:
    """Whether an operator type is a collective operation: ``allreduce_`` of PyTorch, ``AllReduce``, ..."""
    return _canonical(operator_type).startswith(_SHARED + _SPLIT)


def gives_all_the_same(operator_type: str) -> bool:
    """Whether all ranks of the group get the same from it, whatever each of them puts in."""
    return _canonical(operator_type).startswith(_SHARED)


def _canonical(operator_type: str) -> str:
    name = operator_type.rpartition(".")[2].rpartition(":")[2]
    return "".join(letter for letter in name.lower() if letter.isalnum()).removeprefix("dist")
