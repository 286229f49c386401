"""Comparison of many steps and ranks of two dumps, each with the same step and rank of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, TypeAlias

from mindinsight.server.claims import Claim, exit_code, few
from mindinsight.server.compute.parallel_map import BATCH, spread
from mindinsight.server.debug.compare.divergence import Outcome
from mindinsight.server.debug.compare.dump_comparison import (
    Parameters,
    Row,
    Side,
    compare_batch,
    judged_rows,
    name_parameters,
    needs_no_file,
    pair_batches,
    parameters_of,
)
from mindinsight.server.debug.compare.error_measures import Compared
from mindinsight.server.debug.compare.operator_matching import Pair
from mindinsight.server.debug.compare.rounding import RoundingNotes
from mindinsight.server.debug.fault import not_recorded_claim
from mindinsight.server.formats.dumps.dump_types import Dump, FileDamage, NotRecorded

_NAMED: Final = 5  # steps in a sentence

_Numbered: TypeAlias = tuple[int, list[list[Pair]]]  # number of a step, and a batch of it


@dataclass(frozen=True, slots=True)
class StepComparison:
    """Comparison of one step of one rank."""

    rank: int
    step: int
    rows: list[Row]
    damage: list[FileDamage]  # files that could not be listed or read
    unlisted: int = 0  # number of files that could not be listed


def common_steps(target: Dump, reference: Dump) -> list[tuple[int, int]]:
    """Return (rank, step) of everything that both dumps have, by rank, then by step."""
    return [
        (rank, step)
        for rank in target.ranks
        if rank in reference.ranks
        for step in sorted(set(target.steps(rank)) & set(reference.steps(rank)))
    ]


def compare_steps(
    target: Dump,
    reference: Dump,
    steps: Sequence[tuple[int, int]],
    names: Mapping[str, str] | None = None,
    executor: Executor | None = None,
) -> Iterator[StepComparison]:
    """Yield the comparison of each (rank, step), in order. Tensors of several steps are read together."""
    damage: dict[int, list[FileDamage]] = {}
    unlisted: dict[int, int] = {}
    parameters: dict[int, tuple[Parameters, Parameters]] = {}

    def batches() -> Iterator[_Numbered]:
        for number, (rank, step) in enumerate(steps):
            sides = Side(target, rank, step), Side(reference, rank, step)
            entries = sides[0].entries(), sides[1].entries()
            damage[number] = [*sides[0].damage(), *sides[1].damage()]
            unlisted[number] = sides[0].unlisted() + sides[1].unlisted()
            arguments = sides[0].arguments(), sides[1].arguments()
            parameters[number] = parameters_of(*sides)
            for batch in pair_batches(*entries, names, arguments, BATCH):
                yield number, batch

    measured = spread(_compare_numbered, batches(), executor, easy=_needs_no_file)
    upcoming = next(measured, None)
    for number, (rank, step) in enumerate(steps):
        rows: list[Row] = []
        notes = RoundingNotes()
        while upcoming is not None and upcoming[0] == number:
            rows += name_parameters(judged_rows(upcoming[1], notes), parameters[number])
            upcoming = next(measured, None)
        unread = [row.compared.damage for row in rows if row.compared.damage is not None]
        del parameters[number]
        yield StepComparison(rank, step, rows, damage.pop(number) + unread, unlisted.pop(number))


def decide_steps(
    outcomes: Mapping[tuple[int, int], Outcome], unpaired: Sequence[tuple[int, int]] = ()
) -> list[Claim]:
    """Return the claims on a comparison of many steps, given the outcome of each (rank, step). The claims
    are those of the first step that differs, else of the first undecided one. ``unpaired`` are steps that
    only one side has. They make an agreement unknown, but are not a difference."""
    ordered = sorted(outcomes.items(), key=lambda item: (item[0][1], item[0][0]))
    codes = [exit_code(outcome.claims) for _, outcome in ordered]
    worst = 1 if 1 in codes else 2 if 2 in codes else 0
    claims = []
    if worst or not codes:
        claims = [
            Claim("claim.dump.at_step", claim.verdict, {"rank": rank, "step": step, "claim": claim})
            for (rank, step), outcome in ordered[codes.index(worst) :][:1]
            for claim in outcome.claims
        ]
    else:
        claims = _agreement(ordered)
    undecided = [at for (at, _), code in zip(ordered, codes, strict=True) if code == 2]
    if len(codes) > 1 and undecided:
        names = few([f"rank {rank} step {step}" for rank, step in undecided], _NAMED)
        values = {"n": len(undecided), "all": len(codes), "names": names}
        claims.append(Claim("claim.dump.steps_undecided", "unknown", values))
    if unpaired:
        names = few([f"rank {rank} step {step}" for rank, step in unpaired], _NAMED)
        claims.append(Claim("claim.dump.steps_missing", "unknown", {"n": len(unpaired), "names": names}))
    return claims


def _agreement(outcomes: Sequence[tuple[tuple[int, int], Outcome]]) -> list[Claim]:
    """Return the claims on steps that all agree: either that they are equal, or their largest difference.
    The tensors that were compared by checksums only are counted."""
    values: dict[str, Any] = {"n": len({step for (_, step), _ in outcomes})}
    claims = [(claim, *at) for at, outcome in outcomes for claim in outcome.claims]
    differing = [
        (claim.values["amount"], claim.values["name"], rank, step)
        for claim, rank, step in claims
        if claim.key == "claim.dump.agree"
    ]
    checksums = sum(
        claim.values["n"]
        for claim, _, _ in claims
        if claim.key in ("claim.dump.by_checksum", "claim.dump.same_checksums")
    )
    notes = [Claim("claim.dump.by_checksum", "note", {"n": checksums})] if checksums else []
    if not differing:
        return [Claim("claim.dump.steps_equal", "clear", values), *notes]
    amount, name, rank, step = max(differing, key=itemgetter(0))
    values |= {"amount": amount, "name": name, "rank": rank, "step": step}
    return [Claim("claim.dump.steps_agree", "clear", values), *notes]


def gap_claims(target: Sequence[NotRecorded], reference: Sequence[NotRecorded]) -> list[Claim]:
    """Return a claim for each side whose dump lacks operators that ran."""
    return [
        claim
        for name, gaps in (("target", target), ("reference", reference))
        for claim in not_recorded_claim(
            "claim.dump.not_recorded", gaps, side=Claim(f"claim.part.{name}", "note")
        )
    ]


def unused_names(names: Iterable[str], rows: Iterable[Row]) -> Iterator[Claim]:
    """Yield a claim about the ``names`` in the mapping file that matched no operator, if there are any."""
    matched = {
        name
        for row in rows
        if row.compared.pair.way == "map" and (entry := row.compared.pair.target) is not None
        for name in (entry.recorded, entry.operator)
    }
    if unused := [name for name in names if name not in matched]:
        yield Claim("claim.dump.map_unused", "note", {"n": len(unused), "names": few(unused, _NAMED)})


def left_out_ranks(target: Dump, reference: Dump, rank: int) -> Iterator[Claim]:
    """Yield claims about ranks other than ``rank``: those of both dumps, and those of one."""
    if both := [other for other in target.ranks if other in reference.ranks and other != rank]:
        yield Claim("claim.dump.ranks_left_out", "note", {"n": len(both), "names": few(both, _NAMED)})
    for name, dump, other in (("target", target, reference), ("reference", reference, target)):
        if alone := [number for number in dump.ranks if number not in other.ranks]:
            side = Claim(f"claim.part.{name}", "note")
            values = {"n": len(alone), "names": few(alone, _NAMED), "side": side}
            yield Claim("claim.dump.ranks_alone", "note", values)


def other_step(target: Side, reference: Side) -> Iterator[Claim]:
    """Yield a claim if different steps are compared because both sides have no step in common."""
    common = set(target.dump.steps(target.rank)) & set(reference.dump.steps(reference.rank))
    if not common and target.step != reference.step:
        steps = {"target": target.step, "reference": reference.step}
        yield Claim("claim.dump.other_step", "note", steps)


def left_out_claim(steps: Sequence[int]) -> Claim:
    """Return the claim that ``steps``, which both dumps have, were not compared."""
    names = [str(step) for step in steps[:_NAMED]] + (["…"] if len(steps) > _NAMED else [])
    return Claim("claim.dump.steps_left_out", "note", {"n": len(steps), "names": names})


def _compare_numbered(numbered: _Numbered) -> tuple[int, list[list[Compared]]]:
    number, batch = numbered
    return number, compare_batch(batch)


def _needs_no_file(numbered: _Numbered) -> bool:
    return needs_no_file(numbered[1])
