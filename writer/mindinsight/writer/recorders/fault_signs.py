"""Detectors of training faults: jumps, dead layers, overflows of the loss scale, and diverging ranks."""

from __future__ import annotations

import json
import logging
import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from mindinsight.writer.files.event_file import private_folder

if TYPE_CHECKING:
    import torch


FINE: Final = 0
SILENT: Final = 1  # a module gives zeros only: no fault yet
SHARED: Final = 2  # observed in the gradients, which all ranks share after a reduction
OWN: Final = 3  # observed in a rank's loss or outputs

_TOLERANCE: Final = 1e-4  # relative difference of gradient norms that are the same number
_SAME_WEIGHTS: Final = 1e-6  # of weights: replicas compute the same bits, and devices of two types nearly so
_LEARNED: Final = 5  # steps in a row with equal gradients after which different ones are a fault


class Examined(NamedTuple):
    """Anomaly of a step as text ("" if none), a code for where it was observed, ``FINE``, ``SILENT``,
    ``SHARED`` or ``OWN``, and whether it is that ranks differ."""

    reason: str
    cause: int
    ranks_differ: bool = False


class RankSign(NamedTuple):
    """Observation of one rank in a step: its cause, and the norms of its gradients and weights."""

    cause: int  # ``FINE`` to ``OWN``
    norm: float  # NaN without gradients
    weights: float = math.nan  # norm of all weights, NaN in steps in which it is not measured


class Replicas:
    """Check that the ranks of a data-parallel training have the same gradients and weights.

    ``declared`` says whether the ranks have the same gradients. With None, the first steps decide: ranks with
    equal weights at the beginning must keep them, and ranks with equal gradients in five consecutive steps
    must keep those. Gradients that differ from the first step on prove nothing, because they differ while
    gradients are accumulated.
    """

    def __init__(self, declared: bool | None) -> None:
        self._declared = declared
        self._equal = 0  # steps in a row with equal gradients
        self._replicated: bool | None = None  # None until weights were measured
        self._since = 0  # the last step at which the weights were equal

    def check(self, step: int, signs: Sequence[RankSign]) -> str:
        """Return a description of the ranks that diverge, "" if none does, or the ranks are no replicas.
        ``signs`` has one entry for each rank, in their order. One rank alone never diverges."""
        if self._declared is False or len(signs) < 2:
            return ""
        return self._gradients([sign.norm for sign in signs]) or self._weights(
            step, [sign.weights for sign in signs]
        )

    def _gradients(self, norms: Sequence[float]) -> str:
        if not all(math.isfinite(norm) and norm > 0 for norm in norms):
            return ""
        away = _away(norms, _TOLERANCE)
        armed = self._declared or self._equal >= _LEARNED
        self._equal = self._equal + 1 if not away else 0
        if not away or not armed:
            return ""
        self._replicated = False  # weights that differ from now on follow from it
        return f"the gradients {_who(away, norms)}: norm {_by_rank(norms)}"

    def _weights(self, step: int, norms: Sequence[float]) -> str:
        if not all(map(math.isfinite, norms)):
            return ""
        away = _away(norms, _SAME_WEIGHTS)
        if self._replicated is None:
            self._replicated = not away
        if away and self._replicated:
            self._replicated = False  # reported once, because weights stay different
            equal = f"were equal at step {self._since}"
            return f"the weights {_who(away, norms)} and {equal}: norm {_by_rank(norms)}"
        self._since = step if not away else self._since
        return ""


def combined(signs: Sequence[RankSign], own: Examined, rank: int) -> Examined:
    """Return the worst anomaly among all ranks, with the ranks that reported it, or ``own`` if no rank has
    one. All ranks then dump the step. ``signs`` has one entry for each rank. ``own`` is the anomaly of
    this rank."""
    worst = max(sign.cause for sign in signs)
    if worst:
        first = [number for number, sign in enumerate(signs) if sign.cause == worst]
        if first == [rank]:
            return own
        others = f"rank {_joined(first)} reported it" if worst != SHARED else ""
        parts = [own.reason if worst in {own.cause, OWN} else "", others]
        return Examined("; ".join(filter(None, parts)) or "another rank reported a fault", worst)
    return own


def _away(norms: Sequence[float], tolerance: float) -> list[int]:
    """Return the ranks whose norm differs from the median by more than ``tolerance`` times the largest
    norm."""
    middle = median(norms)
    return [number for number, norm in enumerate(norms) if abs(norm - middle) > tolerance * max(norms)]


def _who(away: Sequence[int], norms: Sequence[float]) -> str:
    """Return a clause that names the ranks that differ, but neither of only two ranks, because either may be
    right."""
    return f"of rank {_joined(away)} differ" if len(norms) > 2 else "differ between the ranks"


def _by_rank(norms: Sequence[float]) -> str:
    """Return the norms by rank, with as many digits as tell different ones apart, three at least."""
    for digits in range(3, 18):
        texts = [f"{norm:.{digits}g}" for norm in norms]
        if len(set(texts)) == len(set(norms)):
            break
    return ", ".join(f"{text} on rank {number}" for number, text in enumerate(texts[:8]))


def _joined(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks[:8]))


_PERSISTENT: Final = 8  # steps without a gradient. Randomly dropped layers return earlier
_CONFIRMED: Final = 2  # watched steps in a row
_SETTLED: Final = 8  # steps after which weights that began with zeros have moved
_FADED: Final = 0.01  # of the largest norm of an output
_HEALTHY: Final = 20  # steps between two faults


class Watched(NamedTuple):
    """Measurements of a watched step: outputs of modules, and modules whose weights have zero gradients."""

    outputs: Mapping[str, float]  # module -> L2 norm of its output, in the order in which they ended
    highest: Mapping[str, float]  # module without a gradient -> largest element of its output
    quiet: frozenset[str]  # modules of which all trainable weights have a gradient of zeros only


class SilentGradients:
    """Check that counts the weights with an all-zero gradient. It is called once for each step."""

    def __init__(self) -> None:
        self._counts: deque[int] = deque(maxlen=_PERSISTENT)
        self._known = 0

    def suspicious(self, count: int) -> bool:
        """Record how many weights of a step have all-zero gradients, and return True if that is too many.
        It is if each of the last eight counts exceeds the accepted number: the lowest since the last
        ``settle``, or zero before the first."""
        self._counts.append(count)
        lasting = min(self._counts) if len(self._counts) == _PERSISTENT else 0
        self._known = min(self._known, count)
        return lasting > self._known

    @property
    def lasting(self) -> bool:
        """Return True if each of the last eight steps had a weight with an all-zero gradient. It need not
        have been the same weight."""
        return len(self._counts) == _PERSISTENT and min(self._counts) > 0

    def settle(self) -> None:
        """Accept the weights that have no gradient now as normal."""
        self._known = self._counts[-1] if self._counts else 0


class DeadLayers:
    """Check for layers that have died, called once for each watched step.

    A module is dead if its output was nonzero and is now all zeros, while weights have no gradient. An output
    that had faded to a hundredth before did not die: decay drives weights to zero if nothing is learned. A
    functional ReLU shows in the module before it: no output element is positive and none of the module's
    weights has a gradient. Both must hold in two consecutive watched steps.
    """

    def __init__(self) -> None:
        self._begin: float = math.inf  # first watched step
        self._alive: dict[str, tuple[float, int]] = {}  # module -> norm of its output, and the step
        self._peaks: dict[str, float] = {}  # module -> largest norm of its output
        self._trained: set[str] = set()  # modules with a gradient at some time
        self._streaks: dict[str, int] = {}
        self._told: set[str] = set()

    def check(self, step: int, watched: Watched) -> str:
        """Return a description of a layer that has died, "" if none. A layer that stays dead is described
        once. Of layers that die together only the first is described."""
        self._begin = min(self._begin, step)
        reasons = self._candidates(step, watched)
        self._streaks = {name: self._streaks.get(name, 0) + 1 for name in reasons}
        self._told &= reasons.keys()
        for name, norm in watched.outputs.items():
            if norm > 0:
                self._alive[name] = norm, step
                self._peaks[name] = max(norm, self._peaks.get(name, 0.0))
        self._trained |= watched.outputs.keys() - watched.quiet
        dead = [name for name, streak in self._streaks.items() if streak >= _CONFIRMED]
        new = [name for name in dead if name not in self._told]
        self._told |= set(dead)
        return reasons[new[0]] if new else ""

    @property
    def undecided(self) -> bool:
        """Return True if a layer looked dead in the last watched step and is not yet reported."""
        return any(name not in self._told for name in self._streaks)

    def _candidates(self, step: int, watched: Watched) -> dict[str, str]:
        reasons: dict[str, str] = {}
        if not watched.quiet:
            return reasons
        for name, norm in watched.outputs.items():
            if norm == 0 and name in self._alive:
                before, seen = self._alive[name]
                if before < _FADED * self._peaks[name]:
                    return {}  # the missing gradients follow from it
                where = name or "the network"
                reasons[name] = f"every output of {where} is zero; its norm was {before:.3g} at step {seen}"
        for name, highest in watched.highest.items():
            since_begin = step - self._begin >= _SETTLED
            if highest <= 0 and name in watched.quiet and (name in self._trained or since_begin):
                reasons.setdefault(
                    name,
                    f"no output of {name} is above zero and no gradient reaches its weights:"
                    " as before a ReLU that is dead",
                )
        return reasons


class OngoingFault:
    """Consecutive broken steps of one fault. Twenty healthy steps in a row end it.

    A fault that only the outputs of modules showed may last in the steps that do not measure them. Healthy
    steps count from the first that does.
    """

    def __init__(self) -> None:
        self._healthy = _HEALTHY  # steps in a row
        self._hidden = False

    def begins(self, hidden: bool) -> bool:
        """Record a broken step, and return True if a new fault begins with it. ``hidden``: only outputs of
        modules showed the fault, so steps without measured outputs do not count as healthy."""
        new = self._healthy >= _HEALTHY
        self._healthy, self._hidden = 0, hidden
        return new

    def pass_healthy(self, watched: bool) -> None:
        """Record a step without a sign of a fault. ``watched`` says whether outputs were measured."""
        self._hidden = self._hidden and not watched
        self._healthy += not self._hidden


# Thresholds without a reason of their own report no healthy series of benchmarks/results/recorders.md.
_DECAY: Final = 0.9  # of the running mean: about the last ten values
_HISTORY: Final = 50  # recent values. Longer than most cycles of a training, such as accumulation
_BEYOND_MAXIMUM: Final = 0.2  # of the factor: a value this far above all recent ones needs no mean
# Factor above all earlier values. Batches of a converged classifier reach thousands of times its mean loss,
# but not more than its first losses. An explosion exceeds those within a few steps.
_BEYOND_ALL: Final = 5.0
_GROWTH: Final = (5, 10, 20, 40)  # values in which steady growth adds up: fast and slow explosions
_GROWN: Final = 0.5  # of the factor that it adds up to
_RISING: Final = 0.8  # share of rises in steady growth: noise interrupts some
_BLOCKS: Final = 4  # of values. Their medians rise even if noise hides the rise of single steps
_BLOCK: Final = 5  # values of a block, at least
_EACH_BLOCK: Final = 0.15  # of steady growth, as a logarithm, that each block brings
# Of steady growth, as a logarithm, that one step may bring: a change of level brings more.
_ONE_STEP: Final = 0.6
_ACCEPTED: Final = 20  # reported values after which the new level is the normal one


class JumpDetector:
    """Check of one number a step: the loss, or the norm of all gradients.

    After ``warmup`` values other than zero, a value is a jump if its magnitude is more than ``factor`` times
    the running mean of magnitudes, or a fifth of that times their recent maximum, and five times all before.
    Growth to half of it within twenty steps is reported too. A value that is reported does not enter the mean
    until twenty in a row have been.
    """

    def __init__(self, name: str, factor: float, warmup: int) -> None:
        self.name = name
        self._factor = factor
        self._warmup = max(warmup, 1)
        self._seen = 0
        self._mean = 0.0
        self._earlier = 0.0  # maximum of the values that are no longer recent
        self._recent: deque[float] = deque(maxlen=_HISTORY)  # with their signs
        self._reported: list[float] = []  # values in a row

    def check(self, value: float) -> str:
        """Return a description of the anomaly of a value, "" if the value is normal. Learn a normal value. A
        non-finite value is always an anomaly."""
        if not math.isfinite(value):
            return f"the {self.name} is {_spelled(value)}"
        magnitude = abs(value)
        reason = self._anomaly(value, magnitude) if self._seen >= self._warmup else ""
        if not reason:
            self._reported = []
            self._learn(value)
        elif len(self._reported) + 1 >= _ACCEPTED:
            self._start_again()
        else:
            self._reported.append(value)
        return reason

    def _anomaly(self, value: float, magnitude: float) -> str:
        """Return a description of a jump or of growth that ends with ``value``, "" if there is none."""
        if magnitude <= _BEYOND_ALL * self._earlier:
            return ""
        sizes = [*map(abs, self._recent)]
        highest, least = max(sizes), _GROWN * self._factor * min(sizes)
        if magnitude <= _BEYOND_ALL * highest and magnitude < least:
            return ""  # neither a jump nor growth, as in nearly every step
        jumped = magnitude > self._factor * self._mean
        if magnitude > _BEYOND_ALL * highest and (
            jumped or magnitude > _BEYOND_MAXIMUM * self._factor * highest
        ):
            times, known = (self._mean, "its running mean") if jumped else (highest, "the largest of late")
            return f"the {self.name} jumped to {value:.6g}, {magnitude / times:.3g} times {known}"
        for count in _GROWTH:
            if (start := self._grown_from(value, count)) is not None:
                grown = f"grew from {start:.6g} to {value:.6g} in {count} steps"
                return f"the {self.name} {grown}, beyond all before"
        return ""

    def _grown_from(self, value: float, count: int) -> float | None:
        """Return the value ``count`` steps ago if the values have grown steadily since, beyond all earlier
        ones. Return None otherwise, and for values that change their sign, such as a loss around zero."""
        values = [*self._recent, value]
        grown, earlier = values[-count - 1 :], values[: -count - 1]
        if len(earlier) < self._warmup or min(grown) * max(grown) <= 0:
            return None
        sizes = [abs(number) for number in grown]
        least = _GROWN * self._factor
        if sizes[-1] < max(least * sizes[0], _BEYOND_ALL * max(map(abs, earlier))):
            return None
        rises = sum(after > before for before, after in pairwise(sizes))
        if rises >= _RISING * count and _is_steady(sizes, least, 0):
            return grown[0]
        size = count // _BLOCKS
        blocks = [median(sizes[end - size : end]) for end in range(count + 1, size, -size)][::-1]
        return grown[0] if size >= _BLOCK and _is_steady(blocks, least, _EACH_BLOCK) else None

    def _learn(self, value: float) -> None:
        magnitude = abs(value)
        if magnitude == 0:
            return  # no gradient, or a loss that is masked: no ground to compare with
        if len(self._recent) == _HISTORY:
            self._earlier = max(self._earlier, abs(self._recent[0]))
        self._mean = magnitude if not self._seen else _DECAY * self._mean + (1 - _DECAY) * magnitude
        self._recent.append(value)
        self._seen += 1

    def _start_again(self) -> None:
        """Accept the level of the last values as normal, for example after a change of the loss's weights."""
        values, self._reported = self._reported, []
        self._seen, self._earlier, self._mean = 0, 0.0, 0.0
        self._recent.clear()
        for value in values:
            self._learn(value)


def _spelled(value: float) -> str:
    """Return the name of a non-finite number, as rules spell it."""
    return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"


def _is_steady(sizes: Sequence[float], least: float, share: float) -> bool:
    """Return True if positive numbers grow at least ``least``-fold, with no step that accounts for most of
    it. Each step must account for at least ``share`` of the growth. Shares are those of its logarithm."""
    growth = sizes[-1] / sizes[0]
    if growth < least:
        return False
    steps = [math.log(after / before) / math.log(growth) for before, after in pairwise(sizes)]
    return max(steps) <= _ONE_STEP and (not share or min(steps) >= share)


_GROWN_NORM: Final = 10.0  # times the last healthy norm from which a weight is named


class HealthRecord:
    """L2 norms of parameters and of module outputs by name, from the last healthy watched step."""

    def __init__(self) -> None:
        self.step = -1
        self.outputs: Mapping[str, float] = {}
        self.weights: Mapping[str, float] = {}

    def update(self, step: int, outputs: Mapping[str, float], weights: Mapping[str, float]) -> None:
        """Replace the norms by those of a healthy step."""
        self.step, self.outputs, self.weights = step, outputs, weights

    def grown(self, now: Mapping[str, float]) -> str:
        """Return a sentence about a weight whose norm is non-finite, else about the one that grew most, ""
        if none has ten times its healthy norm. ``now`` are the present norms by name. Weights without a
        healthy norm above zero are left out."""
        healthy = [(name, norm) for name, norm in now.items() if self.weights.get(name)]
        for name, norm in healthy:
            if not math.isfinite(norm):
                before = f"it was {self.weights[name]:.3g} at step {self.step}"
                return f"The norm of the weight {name} is {_spelled(norm)}; {before}."
        ratios = [(norm / self.weights[name], name) for name, norm in healthy]
        if not ratios or max(ratios)[0] < _GROWN_NORM:
            return ""
        ratio, name = max(ratios)
        since = f"{self.weights[name]:.3g} at step {self.step}"
        return f"The weight {name} has norm {now[name]:.3g}, {ratio:.3g} times as much as {since}."

    def write(
        self,
        rank: Path,
        step: int,
        weights: Mapping[str, float],
        outputs: Mapping[str, float],
        repeated: Collection[str],
        examined: Examined,
        again: bool,
    ) -> None:
        """Write healthy and current norms, what was ``examined``, and whether the step broke ``again``
        when it was dumped, to ``health_<step>.json`` in the folder of a rank. ``repeated`` are the
        modules that ran several times with different norms, of which the last is known."""
        content = {
            "step": step,
            "reason": examined.reason,
            "ranks_differ": examined.ranks_differ,
            "broke_again": again,
            "healthy_step": self.step,
            "outputs": self.outputs,
            "outputs_now": outputs,
            "repeated": sorted(repeated),
            "weights": self.weights,
            "weights_now": weights,
        }
        file = private_folder(rank) / f"health_{step}.json"
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")


_LEAST: Final = 1.0  # a scale that has fallen to it does not make gradients overflow any more
_log: Final = logging.getLogger(__name__)


class LossScale:
    """Loss scale of a ``GradScaler``, which searches for it in the first steps and after doubling it.

    Non-finite gradients show the scaler that its scale is too large. It then skips the update of the weights
    and halves the scale. Such gradients are no fault while the scale is above one.
    """

    def __init__(self, scaler: torch.amp.GradScaler | None) -> None:
        self._scaler = scaler if scaler is not None and scaler.is_enabled() else None
        self._logged = False

    def mends(self, norm: float) -> bool:
        """Return True if a scaler handles a non-finite norm: it skips the update, and its scale is above
        one."""
        if self._scaler is None or math.isfinite(norm):
            return False
        scale = float(self._scaler.get_scale())
        if scale > _LEAST and not self._logged:
            self._logged = True
            _log.info(
                "gradients overflow at a loss scale of %g: GradScaler skips such steps and lowers the scale,"
                " so they are not reported as faults",
                scale,
            )
        return scale > _LEAST

    def remark(self, norm: float) -> str:
        """Return a clause that the loss scale has fallen to one, "" for finite gradients or without a
        scaler."""
        if self._scaler is None or math.isfinite(norm):
            return ""
        return f" although the loss scale has fallen to {self._scaler.get_scale():g}"

    def advice(self, norm: float) -> str:
        """Return a hint to pass the GradScaler to the recorder, "" for finite gradients or with a scaler."""
        if self._scaler is not None or math.isfinite(norm):
            return ""
        return "With a GradScaler this is normal: give it to the recorder as scaler=."
