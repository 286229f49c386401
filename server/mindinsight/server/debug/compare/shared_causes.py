"""Causes that many differences of two dumps share: other modules, other input data, other initial weights."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.compare.compared_rows import (
    both_sides,
    entry_of,
    evidence,
    is_backward,
    is_output,
    parameter_name,
    tensor_name,
)
from mindinsight.server.debug.compare.dump_comparison import Row
from mindinsight.server.debug.compare.row_states import agrees_by, difference_clause
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.debug.operator_links import draws_random

_NAMED: Final = 5  # names in a sentence
_UNRELATED: Final = 0.5  # cosine below which two weights have nothing in common; training seldom goes there
_MOST: Final = 0.9  # share of the weights that differ which have to be unrelated
_HALF: Final = 0.5  # share of all weights that have to be unrelated, and of modules of another class at most
_FEWEST: Final = 3  # weights from which an initialization is spoken of
_SAME_CLASS: Final = {"Dense": "Linear"}  # of MindSpore: of PyTorch

Classes = Mapping[str, str]  # class of each module, by path


def unrelated_weights(rows: Sequence[Row]) -> list[Row]:
    """Return the weights with a cosine near 0 to the reference's, if nearly all differing weights are
    such, else []. It is empty if some weights differ only by training, or if most weights are equal
    (constant initial values are). Another initialization is not the cause then."""
    weights: dict[str, Row] = {}
    for row in rows:
        if not is_output(row) and (name := parameter_name(row)):
            weights.setdefault(name, row)
    differing = [
        row for row in weights.values() if (m := row.compared.measures) and m.differing and m.count > 1
    ]
    unrelated = [row for row in differing if _is_unrelated(row)]
    few_others = len(unrelated) >= max(_FEWEST, _MOST * len(differing), _HALF * len(weights))
    return unrelated if few_others else []


def _is_unrelated(row: Row) -> bool:
    measures = row.compared.measures
    return measures is not None and measures.cosine is not None and abs(measures.cosine) < _UNRELATED


def weights_claim(rows: Sequence[Row], unrelated: Sequence[Row]) -> Claim:
    """Return the claim that nearly all weights are unrelated to those of the reference."""
    names = {name for row in rows if not is_output(row) and (name := parameter_name(row))}
    values = {"n": len(unrelated), "all": len(names), "cosine": _UNRELATED}
    return Claim("claim.dump.unrelated_weights", "found", values, evidence(unrelated[:_NAMED]))


def data_claim(rows: Sequence[Row], first: Row) -> Iterator[Claim]:
    """Yield a claim if the first tensor that differs is input data, because nothing recorded before it has
    weights. It is an input of the forward pass that no recorded operator produced, or the output of an
    operator that draws random numbers and has no input. All tensors before it must have been compared."""
    entry = entry_of(first)
    at = next(i for i, row in enumerate(rows) if row is first)
    if first.compared.pair.target is None or first.compared.pair.argument is not None:
        return
    if is_backward(entry.recorded) or is_backward(entry.operator) or _is_weight(first):
        return
    if any(map(_is_weight, rows[:at])):
        return
    if is_output(first):
        own = [row for row in rows if entry_of(row).recorded == entry.recorded]
        records_inputs = any(entry_of(row).direction == "input" for row in rows)
        if not (records_inputs and draws_random(entry.type) and all(map(is_output, own))):
            return
    elif any(is_output(row) and _may_be(row, first) for row in rows[:at]):
        return
    yield Claim("claim.dump.data_differs", "found", {"name": tensor_name(first)}, evidence([first]))


def _is_weight(row: Row) -> bool:
    return entry_of(row).direction == "parameter" or bool(parameter_name(row))


def _may_be(output: Row, other: Row) -> bool:
    """Return True if the target may pass an output as the input ``other``, judged by shape and statistics."""
    measured, of_other = output.compared.target, other.compared.target
    return measured is None or of_other is None or measured == of_other


def optimizer_claim(rows: Sequence[Row], differing: Sequence[Row]) -> Iterator[Claim]:
    """Yield a claim if only results of the optimizer differ although its inputs, and both passes, agree.
    ``differing`` are the rows that differ, at least one. The layout has to name the optimizer as a scope.
    A recorder with such a layout records no scalar arguments."""
    first = differing[0]
    parameters = {id(row) for row in differing if entry_of(row).type == "Parameter"}  # after the step
    inside = [row for row in differing if id(row) not in parameters]
    others = [row for row in rows if not in_optimizer(row) and entry_of(row).type != "Parameter"]
    passes = {is_backward(entry_of(row).recorded) or is_backward(entry_of(row).operator) for row in others}
    if not is_output(first) or passes != {False, True} or not all(map(in_optimizer, inside)):
        return
    values = {"operator": entry_of(first).operator, "how": difference_clause(first)}
    yield Claim("claim.dump.optimizer_differs", "found", values, evidence([first]))


def in_optimizer(row: Row) -> bool:
    """Return True if a row is of an operator in the scope of an optimizer."""
    return any(scope.startswith("optimizer-") for scope in entry_of(row).operator.split("/"))


def weight_within(rows: Sequence[Row]) -> Iterator[Claim]:
    """Yield a claim if the first small difference, within the tolerance, is that of a weight. Nothing is
    claimed if anything compared before the weight is not equal."""
    unequal = [row for row in rows if row.compared.measures and row.compared.measures.differing]
    operator = [row for row in unequal if entry_of(row).recorded == entry_of(unequal[0]).recorded]
    first = next((row for row in operator if not is_output(row)), None)  # listed after the outputs by some
    if first is not None and (name := parameter_name(first)):
        values = {"name": name, "how": difference_clause(first)}
        yield Claim("claim.dump.weight_within", "note", values, evidence([first]))


def rounding_claims(rows: Sequence[Row], tolerance: Tolerance) -> Iterator[Claim]:
    """Yield claims about the rows that are within the tolerance only because rounding explains their
    difference."""
    if rounded := [row for row in rows if agrees_by(row, tolerance, "rounding")]:
        about = {"n": len(rounded), "name": tensor_name(rounded[0])}
        yield Claim("claim.dump.zero_by_rounding", "note", about, evidence(rounded[:_NAMED]))
    if coarser := [row for row in rows if agrees_by(row, tolerance, "coarser")]:
        about = {"n": len(coarser), "name": tensor_name(coarser[0]), "dtype": coarser[0].coarser}
        yield Claim("claim.dump.computed_coarser", "note", about, evidence(coarser[:_NAMED]))


def module_claims(rows: Sequence[Row]) -> Iterator[Claim]:
    """Yield claims about modules of another class on the reference's side, and modules that only one side
    has. Of nested modules only the outermost is named. Nothing is claimed if most modules have other
    classes, as in a network of another framework."""
    if all(None not in (row.compared.pair.target, row.compared.pair.reference) for row in rows):
        return
    target, reference = _classes(rows, 0), _classes(rows, 1)
    common = target.keys() & reference.keys()
    other = {path for path in common if _class(target[path]) != _class(reference[path])}
    if not common or len(other) > _HALF * len(common):
        return
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for path in (path for path in target if path in other and not _below(path, other)):
        groups[_pattern(path), target[path], reference[path]].append(path)
    if groups:
        names = [_other_class(name, paths, classes) for (name, *classes), paths in groups.items()]
        values = {"n": sum(map(len, groups.values())), "names": few(names, _NAMED)}
        yield Claim("claim.dump.other_modules", "found", values)
    for side, own, others in (("target", target, reference), ("reference", reference, target)):
        alone = [path for path in own if path not in others and not _below(path, own.keys() - common | other)]
        alone = [path for path in alone if "." not in path or path.rpartition(".")[0] in common]
        if 0 < len(alone) <= _HALF * len(common):
            names = few([f"{path} ({own[path]})" for path in alone], _NAMED)
            about = {"n": len(alone), "names": names, "side": Claim(f"claim.part.{side}", "note")}
            yield Claim("claim.dump.modules_alone", "found", about)


def _other_class(pattern: str, paths: Sequence[str], classes: Sequence[str]) -> Claim:
    """Return the part of a sentence about modules with one path pattern and their class on either side."""
    values = {"n": len(paths), "name": paths[0] if len(paths) == 1 else pattern}
    return Claim("claim.part.other_class", "note", {**values, "target": classes[0], "reference": classes[1]})


def _class(name: str) -> str:
    return _SAME_CLASS.get(name, name)


def _below(path: str, others: set[str]) -> bool:
    """Return True if a module that contains the module at ``path`` is in ``others``."""
    parts = path.split(".")
    return any(".".join(parts[:n]) in others for n in range(1, len(parts)))


def _pattern(path: str) -> str:
    return re.sub(r"(?<![^.])\d+(?![^.])", "*", path)


def _classes(rows: Sequence[Row], side: int) -> dict[str, str]:
    """Return the class of each module of one side, by path, in execution order."""
    classes: dict[str, str] = {}
    for row in rows:
        entry = list(both_sides(row))[side][0]
        if entry is not None and not is_backward(entry.recorded) and not is_backward(entry.operator):
            for path, name in _modules(entry.operator):
                classes.setdefault(path, name)
    return classes


def _modules(operator: str) -> Iterator[tuple[str, str]]:
    """Yield path and class of the modules that contain an operator, from its scopes
    ``blocks-List/0-Block/op``, or of the module ``Module.blocks.0.Block.forward.0``."""
    parts = operator.split(".")
    if parts[0] in ("Module", "Cell") and len(parts) > 4:
        yield ".".join(parts[1:-3]), parts[-3]
        return
    path: list[str] = []
    for scope in operator.split("/")[:-1]:
        name, dash, kind = scope.rpartition("-")
        if dash and name:
            path.append(name)
            yield ".".join(path), kind


def renamed_claim(rows: Iterable[Row]) -> Iterator[Claim]:
    """Yield a claim with the names of modules under which the reference has those of the target, if they were
    matched so."""
    names = dict.fromkeys(
        f"{before} → {after}"
        for row in rows
        if row.compared.pair.way == "renamed"
        for before, after in _attribute_pairs(row)
        if before != after
    )
    if names:
        yield Claim(
            "claim.dump.modules_renamed", "note", {"n": len(names), "names": few(list(names), _NAMED)}
        )


def _attribute_pairs(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the attributes of the scopes around two matched operators, the target's first."""
    pair = row.compared.pair
    if pair.target is not None and pair.reference is not None and pair.target.type != "Parameter":
        sides = [
            [part.rpartition("-")[0] for part in entry.operator.split("/")[:-1]]
            for entry in (pair.target, pair.reference)
        ]
        yield from zip(*sides, strict=False)
