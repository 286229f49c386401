"""Changes of norms between the last healthy step and the step of a fault, by module and by weight.

One function decides which module and which weight changed, or that the norms do not decide it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

from mindinsight.server.claims import Claim, few, format_number
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from mindinsight.server.formats.dumps.recorder_files import Health
from mindinsight.server.formats.sanitizer import show_name

# Ten steps apart, norms of healthy trainings changed up to 19-fold: the output of a head in its first steps.
# `check_norms_of_healthy_trainings_change_little` of tests/interop/flight_in_torch.py measures it.
CHANGED: Final = 30.0
_STEP: Final = 10.0  # times the change of the modules before. Growth over the depth brings two a module
_SMALL: Final = 0.1  # of the median norm. What begins near zero, such as a bias, changes by large factors
_SAME_ORDER: Final = 0.1  # of the largest change of a norm, from which another is of its order
_MOVED: Final = 1.5  # factor of a norm from which a weight moved far. In ten healthy steps most move less
_OWN_SHARE: Final = 0.5  # of the whole change, as a logarithm: what brings most of it is named
_NAMED: Final = 4  # names in a sentence


class _Change(NamedTuple):
    """Norm of a module's output or of a weight at the healthy step and at the fault."""

    name: str
    then: float
    now: float

    @property
    def factor(self) -> float:
        """Return the norm now in units of the healthy one, infinity if the norm now is non-finite."""
        return self.now / self.then if math.isfinite(self.now) else math.inf

    def words(self) -> dict[str, object]:
        """Return the values to fill into a sentence about the change."""
        numbers = {"then": self.then, "now": self.now, "factor": self.factor, "limit": CHANGED}
        shown = {
            key: value if math.isfinite(value) else format_number(value) for key, value in numbers.items()
        }
        return {"name": _label(self.name), **shown}


def norm_claims(health: Health, step: int, rank: int, located: bool = False) -> list[Claim]:
    """Return the claims about norms at the fault against those of the healthy step, in order of cause.

    ``located`` is True if the operator that first had a non-finite value at this step is known.

    A weight that changed comes before the outputs that follow from it. Modules are in the order of execution.
    Claims with the verdict "found" have the name of a module or weight as evidence: the one at which the
    change began, or, of the claims in `UNLOCATED`, the one that changed most.
    """
    if health.step < 0:
        return [Claim("claim.growth.no_healthy", "unknown", {"step": step}, (), (_EVERY_STEP,))]
    weights, lacking = _changes(health.weights, health.weights_now)
    narrower = (_EVERY_STEP,) if step - health.step > 1 else ()
    by_weight, common, grown = _of_weights(weights, narrower)
    by_output, left_out = _NO_OUTPUTS, list[str]()
    if health.outputs_now is not None:
        outputs, left_out = _changes(health.outputs, health.outputs_now, health.repeated)
        by_output = _of_outputs(outputs, common, grown, located)
    order = (by_weight, by_output) if by_weight[0].verdict == "found" else (by_output, by_weight)
    facts = {"healthy": health.step, "step": step, "rank": rank, "n": step - health.step}
    claims = [_place(health, facts), *order[0], *order[1]]
    if health.damaged:
        claims.append(Claim("claim.growth.fields", "unknown", {"fields": list(health.damaged)}))
    for key, names in (("modules", left_out), ("weights", lacking)):
        if names:
            shown = few([_label(name) for name in names[:_NAMED]] + names[_NAMED : _NAMED + 1], _NAMED)
            claims.append(Claim(f"claim.growth.{key}_left_out", "unknown", {"n": len(names), "names": shown}))
    return claims


def _place(health: Health, facts: Mapping[str, object]) -> Claim:
    """Return the claim about the two compared steps, and the outputs that were zero at both."""
    now = health.outputs_now or {}
    zeros = [_label(name) for name, norm in health.outputs.items() if norm == 0 and now.get(name) == 0]
    if not zeros:
        return Claim("claim.growth.place", "note", facts)
    facts = {**facts, "n": len(zeros), "names": few(zeros, _NAMED)}
    missing = (_EVERY_STEP,) if facts["step"] != health.step + 1 else ()
    return Claim("claim.growth.place_zero", "unknown", facts, (), missing)


UNLOCATED: Final = tuple(
    f"claim.growth.{name}"
    for name in ("weights_together", "weights_spread", "outputs_together", "outputs_gradual")
)
_EVERY_STEP: Final = "claim.missing.every_step"
_NO_OUTPUTS: Final = [Claim("claim.growth.no_outputs", "unknown", {}, (), ("claim.missing.new_recorder",))]


def _label(name: str) -> str | Claim:
    return show_name(name) if name else Claim("claim.part.growth.network", "note")


def _changes(
    then: Mapping[str, float], now: Mapping[str, float], repeated: Sequence[str] = ()
) -> tuple[list[_Change], list[str]]:
    """Return the changes of norms in the order of ``now``, and the names whose change is unknown."""
    both = then.keys() & now.keys() - set(repeated)
    usable = {name for name in both if 0 < then[name] < math.inf and not now[name] < 0}
    zeros = {name for name in both if then[name] == now[name] == 0}
    changes = [_Change(name, then[name], now[name]) for name in now if name in usable]
    return changes, [name for name in dict.fromkeys((*now, *then)) if name not in usable | zeros]


def _judged(changes: Sequence[_Change], limit: float = CHANGED) -> tuple[list[_Change], list[_Change]]:
    """Return the changes of norms that are not negligible, and among these the changes by a factor of
    ``limit`` or more. A norm that grew must have reached the former median. A norm that shrank must not
    have been small before."""
    middle = median([change.then for change in changes]) if changes else 0.0
    known = [change for change in changes if change.then >= _SMALL * middle or not change.now < middle]
    changed = [
        change
        for change in known
        if (change.factor >= limit and not change.now < middle)
        or (change.factor <= 1 / limit and change.then >= _SMALL * middle)
    ]
    return known, changed


def _size(change: _Change) -> float:
    """Return the absolute logarithm of the factor of a change, infinity if a norm is zero or non-finite."""
    return abs(math.log(change.factor)) if 0 < change.factor < math.inf else math.inf


def _of_weights(
    changes: Sequence[_Change], missing: tuple[str, ...]
) -> tuple[list[Claim], bool, frozenset[str]]:
    """Return the claims about weights, whether weights of several modules changed, and the changed weights'
    names."""
    known, changed = _judged(changes)
    if not known:
        return [Claim("claim.growth.no_weights", "unknown")], False, frozenset()
    names = frozenset(change.name for change in changed)
    largest = max(changed or known, key=_size)
    moved = [change for change in known if change.now != change.then]
    count = len(changed)
    words = {**largest.words(), "n": count, "count": len(moved)}
    evidence = ({"weight": largest.name},)
    if not changed:
        return [Claim("claim.growth.weights_same", "note", words, evidence)], False, names
    if len({change.name.rpartition(".")[0] for change in changed}) > 1:  # modules
        claim = Claim("claim.growth.weights_together", "found", words, evidence, missing)
        return [claim], True, names
    if others := _moved_as_far(largest, known):
        named = [Claim("claim.part.growth.moved", "note", change.words()) for change in (largest, *others)]
        facts = {"n": len(named), "names": few(named, _NAMED)}
        claim = Claim("claim.growth.weights_spread", "found", facts, evidence, missing)
        return [claim], True, names | {change.name for change in others}
    key = "weight" if math.isfinite(largest.now) else "weight_non_finite"
    return [Claim(f"claim.growth.{key}", "found", words, evidence)], False, names


def _moved_as_far(largest: _Change, known: Sequence[_Change]) -> list[_Change]:
    """Return the weights of other modules that changed by amounts of the same order, the largest first.
    Empty if ``largest`` is non-finite. A weight that drifts by a small share of its norm does not count."""
    module, least = largest.name.rpartition(".")[0], _SAME_ORDER * abs(largest.now - largest.then)
    others = [
        change
        for change in known
        if change.name.rpartition(".")[0] != module
        and math.isfinite(least)
        and abs(change.now - change.then) >= least
        and _size(change) >= math.log(_MOVED)
    ]
    return sorted(others, key=lambda change: -abs(change.now - change.then))


def _of_outputs(
    changes: Sequence[_Change], common: bool, weights: frozenset[str], located: bool
) -> list[Claim]:
    """Return the claims about the norms of module outputs: where a change began, or that it has no single
    place. ``weights`` are the names of changed weights, and ``common`` says that they belong to several
    modules. No module is named if weights before it changed as well."""
    known, changed = _judged(changes)
    if not known:
        return [Claim("claim.growth.nothing_compared", "unknown")]
    if not changed:
        largest = max(known, key=_size)
        return [Claim("claim.growth.outputs_same", "note", largest.words(), ({"module": largest.name},))]
    last = max(changed, key=_size)
    ends = {"first": known[0].factor, "first_name": _label(known[0].name)}
    facts = {**last.words(), **ends, "n": len(changed), "count": len(known)}
    positions = [*_positions(known, changes, grow=False), *_positions(known, changes, grow=True)]
    owners = {name.rpartition(".")[0] for name in weights}
    earlier = {change.name for change in known[: min(positions, default=0)]}
    if common and (not earlier or owners & earlier):
        return [Claim("claim.growth.outputs_together", "found", facts, ({"module": last.name},))]
    if positions:
        return [_of_module(known, position, weights, located) for position in sorted(positions)]
    return [Claim("claim.growth.outputs_gradual", "found", facts, ({"module": last.name},))]


def _positions(known: Sequence[_Change], changes: Sequence[_Change], grow: bool) -> Iterator[int]:
    """Yield the position of the module that causes most of the growth (or shrinkage), if there is one. Its
    factor over all modules before it is at least `_STEP`, and half of the whole change as a logarithm. A
    finite change takes precedence over the overflow that follows from it."""
    large = set(_judged(changes, _STEP)[1])
    factors = [
        change.factor if grow else (1 / change.factor if change.factor else math.inf) for change in known
    ]
    finite = [factor for factor in factors if math.isfinite(factor)]
    whole = max([*finite, 1.0])
    before, first = 1.0, -1
    for position, (change, factor) in enumerate(zip(known, factors, strict=True)):
        alone = factor / before
        if change in large and alone >= _STEP:
            if math.isinf(factor):
                first = position if first < 0 and before < _STEP else first
            elif whole >= CHANGED and math.log(alone) >= _OWN_SHARE * math.log(whole):
                first = position if first < 0 else first
                break
        before = max(before, factor) if math.isfinite(factor) else before
    if first >= 0:
        yield first


def _of_module(known: Sequence[_Change], position: int, weights: frozenset[str], located: bool) -> Claim:
    """Return the claim about the module at a position. It is unknown whether the input of the first one
    changed."""
    change, evidence = known[position], ({"module": known[position].name},)
    earlier = [other.factor for other in known[:position]]
    prefix = f"{change.name}." if change.name else ""
    own = any(name.startswith(prefix) for name in weights)
    words = {**change.words(), "n": position, "count": len(known)}
    if not earlier and not own and located and not math.isfinite(change.now):
        return Claim("claim.growth.output_first_fault", "note", words, evidence)
    if not earlier and not own:
        key, missing = "claim.growth.output_first", ("claim.missing.healthy_dump",)
        return Claim(key, "unknown", words, evidence, missing)
    if not earlier:
        return Claim("claim.growth.output_own", "found", words, evidence)
    words |= {"low": min(earlier), "high": max(earlier)}
    key = "output" if change.now > change.then else "output_shrunk"
    key = key if math.isfinite(change.now) else "output_non_finite"
    return Claim(f"claim.growth.{key}", "found", words, evidence)


def tensor_of(entries: Iterable[TensorEntry], named: Mapping[str, object]) -> TensorEntry | None:
    """Return the tensor that a claim's evidence names, or None if it was not dumped. It is the weight, or
    the last forward result inside the module. The whole network is no module here."""
    if "weight" in named:
        weights = (entry for entry in entries if entry.direction == "parameter")
        return next((entry for entry in weights if entry.operator == named["weight"]), None)
    module = str(named["module"])
    results = (entry for entry in entries if entry.direction == "output" and module)
    within = [entry for entry in results if f"{_module_of(entry.operator)}.".startswith(f"{module}.")]
    return within[-1] if within else None


def _module_of(operator: str) -> str:
    """Return the module of a forward operator: ``layers.0`` of ``Default/layers-ModuleList/0-Linear/mm``."""
    first, *scopes = operator.split("/")
    return ".".join(scope.rpartition("-")[0] for scope in scopes[:-1]) if first == "Default" else ""
