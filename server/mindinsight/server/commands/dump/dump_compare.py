"""Command ``mindinsight dump compare``: compares two dumps, ranks, steps, or every step of two dumps."""

import argparse
import contextlib
import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias

from mindinsight.server.claims import Claim, exit_code
from mindinsight.server.commands import terminal
from mindinsight.server.commands.dump.dump_selection import open_single_dump, worker_pool
from mindinsight.server.commands.options import add_command, add_executor, add_flag, add_json, resolve_path
from mindinsight.server.debug.compare import comparison_export, step_comparison
from mindinsight.server.debug.compare.divergence import Outcome, decide
from mindinsight.server.debug.compare.dump_comparison import Row, Side, compare_sides, lost_first
from mindinsight.server.debug.compare.row_states import state
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.debug.fault import gaps_at
from mindinsight.server.errors import bad_settings
from mindinsight.server.formats.dumps.dump_types import Dump, FileDamage

_LISTED: Final = 20  # rows that differ, without --all
_COLUMNS: Final = {  # and their headings
    "target": "tensor",
    "matched_by": "matched_by",
    "lost": "non_finite",
    "cosine": "cosine",
    "max_absolute": "max_abs",
    "max_relative": "max_relative",
    "one_thousandth": "one_thousandth",
    "five_thousandths": "five_thousandths",
    "norm_error": "norm_error",
    "messages": "messages",
}


def register(actions: Any) -> None:
    """Add `mindinsight dump compare` to the actions."""
    parser = add_command(actions, "compare", run)
    parser.add_argument("target", metavar="DUMP", type=resolve_path)
    parser.add_argument("reference", metavar="REFERENCE", type=resolve_path)
    for name in ("rank", "step"):
        parser.add_argument(f"--{name}", type=int)
        parser.add_argument(f"--reference-{name}", type=int)
    add_flag(parser, "every-step")
    parser.add_argument("--map", type=Path)
    parser.add_argument("--cosine", type=float)
    parser.add_argument("--relative", type=float)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--msprobe", type=Path)
    add_flag(parser, "all")
    add_json(parser)
    add_executor(parser)


@terminal.report_errors
def run(options: argparse.Namespace) -> int:
    """Print the differences of two dumps, and return 0 if they agree, 1 if they differ, 2 if unknown. It is
    unknown, for example, when nothing could be compared."""
    if options.every_step:
        names = read_names(options.map) if options.map else {}
        return compare_every_step(options, names, Tolerance(options.relative, options.cosine))
    target, reference = _sides(options)
    count = len(target.entries())
    names = read_names(options.map) if options.map else {}
    with worker_pool(options.executor, options.target, options.reference) as executor:
        comparison = compare_sides(target, reference, names, executor)
        rows = list(terminal.progress(comparison, count, "cli.progress.tensors_compared"))
    tolerance = Tolerance(options.relative, options.cosine)
    unlisted = target.unlisted() + reference.unlisted()
    outcome = decide(rows, tolerance, unlisted)
    gaps = step_comparison.gap_claims(target.gaps(), reference.gaps())
    gaps += step_comparison.unused_names(names, rows)
    outcome = replace(outcome, claims=(*outcome.claims, *gaps, *_left_out(options, target, reference)))
    differing = [row for row in rows if state(row, tolerance) == "differ"]
    if options.csv:
        with _open_csv(options.csv) as file:
            comparison_export.write_csv(rows, file)
        _say_written(len(rows), options.csv)
    if options.msprobe:
        _write_msprobe(rows, options.msprobe)
    shown = lost_first(rows if options.all else differing)
    sides = _places((target, reference))
    unread = [row.compared.damage for row in rows if row.compared.damage is not None]
    damage = [*target.damage(), *reference.damage(), *unread]
    print(_json(shown, outcome, sides, damage) if options.json else _text(shown, outcome, sides, options.all))
    terminal.report_damage(damage)
    return exit_code(outcome.claims, hidden=bool(unread or unlisted))


def _write_msprobe(rows: Sequence[Row], path: Path) -> None:
    """Write the report with msprobe's columns. Raises BadSettings if the package for Excel is missing."""
    if path.suffix.lower() == ".xlsx":
        if not comparison_export.has_xlsx():
            raise bad_settings("excel_package")
        with path.open("wb") as book:
            comparison_export.write_msprobe_xlsx(rows, book)
    else:
        with _open_csv(path) as file:
            comparison_export.write_msprobe_csv(rows, file)
    _say_written(len(rows), path)


def _say_written(rows: int, path: Path) -> None:
    terminal.say(terminal.localize("cli.dump.rows_written", {"n": rows, "path": path}))


def _open_csv(path: Path) -> TextIO:
    return path.open("w", newline="", encoding="utf-8", errors="backslashreplace")


def read_names(path: Path) -> Mapping[str, str]:
    """Read a mapping file: a JSON object of names, or CSV lines `name,name in the reference`. Raises
    ValueError if it is neither."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        names = json.loads(text)
        if not all(isinstance(name, str) for name in names.values()):
            raise ValueError(terminal.localize("cli.dump.map_value", {"path": path}))
        return dict(names)
    rows = [row for row in csv.reader(text.splitlines()) if row]
    if any(len(row) != 2 for row in rows):
        raise ValueError(terminal.localize("cli.dump.map_line", {"path": path}))
    return {name.strip(): reference_name.strip() for name, reference_name in rows}


def _sides(options: argparse.Namespace) -> tuple[Side, Side]:
    target = _side(options.target, options.rank, options.step)
    rank = options.rank if options.reference_rank is None else options.reference_rank
    step = options.step if options.reference_step is None else options.reference_step
    reference = _side(options.reference, rank, step)
    if rank is None and (ranks := sorted(set(target.dump.ranks) & set(reference.dump.ranks))):
        target, reference = (
            _side(path, ranks[0], number)
            for path, number in ((options.target, options.step), (options.reference, step))
        )
    common = _common(target, reference)
    if options.step is None and options.reference_step is None and common:
        return replace(target, step=common[0]), replace(reference, step=common[0])
    return target, reference


def _common(target: Side, reference: Side) -> list[int]:
    return sorted(set(target.dump.steps(target.rank)) & set(reference.dump.steps(reference.rank)))


def _left_out(options: argparse.Namespace, target: Side, reference: Side) -> Iterator[Claim]:
    """Yield claims about the ranks and steps that a default selection leaves out."""
    if options.rank is None and options.reference_rank is None:
        yield from step_comparison.left_out_ranks(target.dump, reference.dump, target.rank)
    if options.step is not None or options.reference_step is not None:
        return
    yield from step_comparison.other_step(target, reference)
    if left_out := _common(target, reference)[1:]:
        yield step_comparison.left_out_claim(left_out)


def _places(sides: Sequence[Side]) -> dict[str, dict[str, int]]:
    """Return rank and step of each side, which may differ because each defaults to its first."""
    names = ("target", "reference")
    return {name: {"rank": side.rank, "step": side.step} for name, side in zip(names, sides, strict=True)}


def _side(path: Path, rank: int | None, step: int | None) -> Side:
    dump = open_single_dump(path, "compare")
    if not dump.folders:
        raise ValueError(terminal.localize("cli.dump.no_tensors", {"path": path}))
    rank = dump.ranks[0] if rank is None else rank
    steps = dump.steps(rank)
    if not steps:
        words = {"path": path, "rank": rank, "ranks": ", ".join(map(str, dump.ranks))}
        raise ValueError(terminal.localize("cli.dump.no_rank", words))
    if step is not None and step not in steps:
        words = {"path": path, "step": step, "rank": rank, "steps": ", ".join(map(str, steps))}
        raise ValueError(terminal.localize("cli.dump.no_step_of", words))
    return Side(dump, rank, steps[0] if step is None else step)


def _text(shown: Sequence[Row], outcome: Outcome, sides: Mapping[str, Mapping[str, int]], every: bool) -> str:
    listed = shown if every else shown[:_LISTED]
    cells = [_cells(row) for row in listed]
    heads = terminal.heads(*_COLUMNS.values())
    lines = [terminal.table(heads, cells, terminal.terminal_width())] if shown else []
    if left := len(shown) - len(listed):
        lines.append(terminal.localize("cli.dump.rows_left", {"n": left}))
    places = {f"{side}_{name}": sides[side][name] for side in sides for name in sides[side]}
    lines.append(terminal.localize("cli.dump.compared", places))
    counts = terminal.localize("cli.comma").join(
        terminal.localize(f"dump.compare.counts.{name}", {"n": n}) for name, n in outcome.counts.items() if n
    )
    tensors = terminal.count_text(sum(outcome.counts.values()), "tensor")
    words = {"tensors": tensors, "counts": counts or terminal.localize("cli.none")}
    lines.append(terminal.localize("cli.dump.counted", words))
    return "\n".join([*lines, *_tolerance_lines(outcome), *map(terminal.localize_claim, outcome.claims)])


def _cells(row: Row) -> list[object]:
    """Return the cells of a row, with matching and messages in the language of the terminal."""
    columns = comparison_export.fields(row)
    columns["matched_by"] = terminal.localize(f"dump.compare.by.{columns['matched_by']}")
    codes = comparison_export.message_codes(row)
    columns["messages"] = "; ".join(terminal.localize(f"dump.compare.code.{code}") for code in codes)
    return [columns[name] for name in _COLUMNS]


def _tolerance_lines(*outcomes: Outcome) -> list[str]:
    """Return the line with the tolerances that were applied, if any."""
    limits = {dtype: limit for outcome in outcomes for dtype, limit in outcome.tolerances.items()}
    texts = ", ".join(f"{dtype} {limit:g}" for dtype, limit in sorted(limits.items()))
    return [terminal.localize("cli.dump.tolerance", {"limits": texts})] if texts else []


def _json(
    shown: Sequence[Row],
    outcome: Outcome,
    sides: Mapping[str, Mapping[str, int]],
    damage: Sequence[FileDamage],
) -> str:
    rows = [
        comparison_export.fields(row)
        | {"codes": row.codes, "measures": row.compared.measures and asdict(row.compared.measures)}
        for row in shown
    ]
    claims = [claim.as_json() for claim in outcome.claims]
    about = {"counts": outcome.counts, "tolerances": outcome.tolerances, "damage": list(map(asdict, damage))}
    return terminal.as_json({"claims": claims, **sides, **about, "tensors": rows})


_HEADS: Final = ("rank", "step", "tensors", "differ", "first_difference")

_Write: TypeAlias = Callable[[step_comparison.StepComparison], None]


@dataclass(frozen=True, slots=True)
class StepSummary:
    """Outcome of the comparison of one step of one rank, and the number of its tensors."""

    rank: int
    step: int
    tensors: int
    outcome: Outcome

    @property
    def differing(self) -> int:
        """Return the number of tensors that differ."""
        return self.outcome.counts["differ"]

    @property
    def operator(self) -> str | None:
        """Return the operator of the first difference, or None if no tensor differs."""
        entry = self.outcome.first[0].compared.pair.target if self.outcome.first else None
        return entry.operator if entry else None


def compare_every_step(options: argparse.Namespace, names: Mapping[str, str], tolerance: Tolerance) -> int:
    """Compare all steps, print a line for each that differs, and return 0 if all agree, 1 if any differs, 2
    if unknown. Raises ValueError if `options` select other ranks or steps of the reference, or msprobe's
    report, or if the dumps have no step in common."""
    if options.msprobe or options.reference_rank is not None or options.reference_step is not None:
        others = "--msprobe, --reference-rank, --reference-step"
        raise ValueError(terminal.localize("cli.dump.every_step_alone", {"names": others}))
    target, reference = (
        open_single_dump(options.target, "compare"),
        open_single_dump(options.reference, "compare"),
    )
    steps = _common_steps(target, reference, options)
    summaries: list[StepSummary] = []
    mapped: list[Row] = []
    damage: list[FileDamage] = [*target.damage, *reference.damage]
    pool = worker_pool(options.executor, options.target, options.reference)
    with _csv_report(options.csv) as write, pool as executor:
        comparisons = step_comparison.compare_steps(target, reference, steps, names, executor)
        for comparison in terminal.progress(comparisons, len(steps), "cli.progress.steps_compared"):
            write(comparison)
            mapped += [row for row in comparison.rows if row.compared.pair.way == "map"]
            summaries.append(_summary(comparison, tolerance))
            damage += comparison.damage
    if options.csv:
        _say_written(sum(summary.tensors for summary in summaries), options.csv)
    shown = [summary for summary in summaries if options.all or exit_code(summary.outcome.claims)]
    outcomes = {(summary.rank, summary.step): summary.outcome for summary in summaries}
    ranks, numbers = (None if option is None else [option] for option in (options.rank, options.step))
    gaps = step_comparison.gap_claims(*(gaps_at(dump, ranks, numbers) for dump in (target, reference)))
    claims = [*step_comparison.decide_steps(outcomes, _unpaired(target, reference, options)), *gaps]
    claims += step_comparison.unused_names(names, mapped)
    if options.json:
        print(_json_of_steps(summaries, shown, claims, damage))
    else:
        print(_text_of_steps(summaries, shown, claims))
    terminal.report_damage(damage)
    return exit_code(claims, hidden=bool(damage))


def _unpaired(target: Dump, reference: Dump, options: argparse.Namespace) -> list[tuple[int, int]]:
    """Return the selected ranks and steps that only one dump has."""
    steps = {(rank, step) for dump in (target, reference) for rank in dump.ranks for step in dump.steps(rank)}
    return sorted(_selected(steps - set(step_comparison.common_steps(target, reference)), options))


def _selected(steps: Iterable[tuple[int, int]], options: argparse.Namespace) -> list[tuple[int, int]]:
    """Return the pairs of rank and step that --rank and --step select."""
    return [
        (rank, step) for rank, step in steps if options.rank in (None, rank) and options.step in (None, step)
    ]


def _common_steps(target: Dump, reference: Dump, options: argparse.Namespace) -> list[tuple[int, int]]:
    """Return the selected ranks and steps that both dumps have. Raises ValueError if there is none."""
    steps = _selected(step_comparison.common_steps(target, reference), options)
    if not steps:
        chosen = [
            f"{name} {value}" for name in ("rank", "step") if (value := getattr(options, name)) is not None
        ]
        text = f"cli.dump.nothing_common{'_of' * bool(chosen)}"
        raise ValueError(terminal.localize(text, {"choice": ", ".join(chosen)}))
    return steps


@contextlib.contextmanager
def _csv_report(path: Path | None) -> Iterator[_Write]:
    """Yield a function that appends the rows of a step to a file. Without a path it does nothing."""
    if path is None:
        yield lambda comparison: None
        return
    with _open_csv(path) as file:
        report = comparison_export.CsvReport(file)
        yield lambda comparison: report.write(comparison.rows, rank=comparison.rank, step=comparison.step)


def _summary(comparison: step_comparison.StepComparison, tolerance: Tolerance) -> StepSummary:
    rows = comparison.rows
    return StepSummary(
        comparison.rank, comparison.step, len(rows), decide(rows, tolerance, comparison.unlisted)
    )


def _text_of_steps(
    summaries: Sequence[StepSummary], shown: Sequence[StepSummary], claims: Sequence[Claim]
) -> str:
    cells = [
        (summary.rank, summary.step, summary.tensors, summary.differing, summary.operator or "-")
        for summary in shown
    ]
    lines = [terminal.table(terminal.heads(*_HEADS), cells, terminal.terminal_width())] if shown else []
    ranks = len({summary.rank for summary in summaries})
    tensors = sum(summary.tensors for summary in summaries)
    steps = len({summary.step for summary in summaries})
    counts = {
        "steps": terminal.count_text(steps, "step"),
        "ranks": terminal.count_text(ranks, "rank"),
        "tensors": terminal.count_text(tensors, "tensor"),
    }
    lines.append(terminal.localize("cli.dump.steps_counted", counts))
    lines += _tolerance_lines(*(summary.outcome for summary in summaries))
    return "\n".join([*lines, *map(terminal.localize_claim, claims)])


def _json_of_steps(
    summaries: Sequence[StepSummary],
    shown: Sequence[StepSummary],
    claims: Sequence[Claim],
    damage: Sequence[FileDamage],
) -> str:
    return terminal.as_json(
        {
            "claims": [claim.as_json() for claim in claims],
            "damage": [asdict(entry) for entry in damage],
            "steps": len({summary.step for summary in summaries}),
            "tensors": sum(summary.tensors for summary in summaries),
            "differing": [
                {
                    "rank": summary.rank,
                    "step": summary.step,
                    "tensors": summary.tensors,
                    "differing": summary.differing,
                    "operator": summary.operator,
                }
                for summary in shown
            ],
        }
    )
