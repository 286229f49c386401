"""Command `mindinsight compare`: compares the scalars of a run with the scalars of a reference."""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from mindinsight.server.claims import Claim, exit_code
from mindinsight.server.client.reader import Summary
from mindinsight.server.commands.options import add_bases, add_command, add_json
from mindinsight.server.commands.terminal import (
    as_json,
    damage_lines,
    localize,
    localize_claim,
    report_errors,
    say,
    table,
    terminal_width,
)
from mindinsight.server.curves.alignment import align
from mindinsight.server.curves.alignment_claims import (
    claim_of,
    one_sided_claims,
    paired_claims,
    uncompared_claims,
)
from mindinsight.server.curves.curve_statistics import difference
from mindinsight.server.errors import BadSettings
from mindinsight.server.store.paired_names import paired_tags
from mindinsight.server.store.run import Run

UNITS: Final[Mapping[str, float]] = {"share": 1.0, "percent": 1e-2, "permille": 1e-3}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of a tag of the run with one of the reference, at their common steps."""

    tag: str
    reference_tag: str
    steps: int  # common steps
    first: int | None  # first step beyond the tolerance
    beyond: int  # steps beyond it
    largest: float | None  # finite relative difference, share of the reference's value at the step
    largest_step: int | None
    absolute: bool  # the reference is 0 somewhere, so that a relative difference has no size
    claim: Claim
    uncompared: list[Claim]  # what is known of steps that only one of the two has


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "compare", compare)
    parser.add_argument("name", metavar="RUN")
    parser.add_argument("reference", metavar="REF")
    add_bases(parser)
    parser.add_argument("--tolerance", type=_tolerance, default=1.0)
    parser.add_argument("--unit", choices=tuple(UNITS), default="permille")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("--pair", action="append", default=[], type=_pair, metavar="TAG=REF_TAG")
    add_json(parser)


@report_errors
def compare(options: argparse.Namespace) -> int:
    """Print how the scalars of a run differ from a reference, and return 0 within the tolerance, 1 beyond it,
    2 if unknown. It is unknown if a run or tag is missing, or steps or a scalar of the reference could not be
    compared."""
    summary = Summary(options.summary_base_dir)
    run, reference = _run(summary, options.name), _run(summary, options.reference)
    pairs = list(_pairs(run, reference, options.tag, options.pair))
    tolerance = options.tolerance * UNITS[options.unit]
    rows = [_compared(run, reference, tag, other, tolerance, options.unit) for tag, other in pairs]
    alone: list[Claim] = []
    if not options.tag and not options.pair:
        ours, theirs = {tag for tag, _ in pairs}, {other for _, other in pairs}
        alone = one_sided_claims(sorted(set(run.scalars) - ours), sorted(set(reference.scalars) - theirs))
        alone += paired_claims(pairs)
    for claim in alone if rows else ():
        say(localize_claim(claim))
    for line in (line for side in (run, reference) for line in damage_lines(side, time.time())):
        say(line)
    if options.json:
        print(as_json([_json(row) for row in rows]))
    elif rows:
        names = ("tag", "reference", "steps", "beyond", "first", "largest", "at_step")
        unit = localize(f"cli.unit.{options.unit}")
        heads = [localize(f"cli.head.{name}", {"unit": unit}) for name in names]
        print(table(heads, (_row(row, UNITS[options.unit]) for row in rows), terminal_width()))
        for row in rows:
            for claim in (row.claim, *row.uncompared):
                facts = {"tag": row.tag, "claim": claim}
                print(localize_claim(Claim("claim.part.align_scalar", "note", facts)))
    if not any(row.steps for row in rows):
        if not rows:
            say(localize_claim(Claim("claim.align.no_common_scalar", "unknown")))
            say(localize("cli.pair"))
        return 2
    return exit_code([*(row.claim for row in rows), *alone])


def _run(summary: Summary, name: str) -> Run:
    """Return a run by its id below the given directories, or by its directory. Raises BadSettings if there is
    none."""
    for candidate in (name, f"./{name}".rstrip("/"), name.rstrip("/")):
        if candidate in summary.runs:
            return summary.run(candidate)
    if Path(name).is_dir():
        summary_of_directory = Summary(name)
        if len(summary_of_directory.runs) == 1:
            return summary_of_directory.run(summary_of_directory.runs[0])
    raise BadSettings(localize("cli.no_run", {"run": name}))


def _pairs(
    run: Run, reference: Run, tags: Sequence[str], chosen: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield pairs of a tag of the run and a tag of the reference. Raises BadSettings for a missing one."""
    for tag, other in (*((tag, tag) for tag in tags), *chosen):
        for owner, name in ((run, tag), (reference, other)):
            if name not in owner.scalars:
                raise BadSettings(localize("cli.no_scalar", {"run": owner.name, "tag": name}))
        yield tag, other
    if not tags and not chosen:
        pairs = paired_tags(list(reference.scalars), list(run.scalars))
        yield from sorted((tag, other) for other, tag in pairs)


def _compared(run: Run, reference: Run, tag: str, other: str, tolerance: float, unit: str) -> Comparison:
    line, base = run.scalars[tag].line(), reference.scalars[other].line()
    aligned = align(line.steps, line.values, base.steps, base.values, tolerance)
    compared = difference(line.steps, line.values, base.steps, base.values, tolerance)
    steps, sizes = compared.steps, np.abs(compared.relative)
    beyond = np.flatnonzero(~(sizes <= tolerance))
    finite = np.flatnonzero(np.isfinite(compared.difference))
    worst = int(finite[np.argmax(sizes[finite])]) if len(finite) else None
    if worst is not None and sizes[worst] == 0 and len(beyond):
        worst = None  # the finite values are equal, and the other differences have no size
    return Comparison(
        tag,
        other,
        len(steps),
        int(steps[beyond[0]]) if len(beyond) else None,
        len(beyond),
        None if worst is None else float(sizes[worst]),
        None if worst is None else int(steps[worst]),
        aligned.absolute,
        claim_of(aligned, tolerance, unit),
        uncompared_claims(aligned, len(line.steps)),
    )


def _row(row: Comparison, unit: float) -> tuple[object, ...]:
    largest = None if row.largest is None or row.absolute else row.largest / unit  # the claim has its size
    return row.tag, row.reference_tag, row.steps, row.beyond, row.first, largest, row.largest_step


def _json(row: Comparison) -> dict[str, Any]:
    return {
        "tag": row.tag,
        "reference_tag": row.reference_tag,
        "steps": row.steps,
        "beyond": row.beyond,
        "first_step": row.first,
        "largest": None if row.absolute else row.largest,
        "largest_step": row.largest_step,
        "claim": row.claim.as_json(),
        "uncompared": [claim.as_json() for claim in row.uncompared],
    }


def _tolerance(text: str) -> float:
    value = float(text)
    if not value >= 0 or value == float("inf"):
        raise argparse.ArgumentTypeError(localize("cli.error.tolerance", {"value": text}))
    return value


def _pair(text: str) -> tuple[str, str]:
    tag, equals, other = text.partition("=")
    if not (tag and equals and other):
        raise argparse.ArgumentTypeError(localize("cli.error.pair", {"value": text}))
    return tag, other
