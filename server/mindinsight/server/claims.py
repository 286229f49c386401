"""Claims: statements that interpret data, with their evidence and the data missing to decide them.

An analysis decides its claims in one function. Command line, HTTP, pages, reports and exit codes show them
and add no statement of their own. `tests/claims` has a situation in which each claim must be made and a near
miss in which it must not.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from mindinsight.server.texts import language_texts, message

Verdict: TypeAlias = Literal["found", "clear", "unknown", "note"]

_DIGITS: Final = 4  # significant digits of a number in a sentence: enough to compare, as pages show them
_EXACT_BELOW: Final = 1e7  # integers below are written out in full; above, as pages do, by exponent
_SMALL: Final = 1e-4  # below, a decimal fraction has more zeros than digits
_SEPARATORS: Final = {"en": ", ", "zh": "、"}


@dataclass(frozen=True)
class Claim:
    """One statement about data.

    ``verdict`` is "found" for a fault or a difference, "clear" if everything that was examined is free of it,
    "unknown" if the data cannot decide it, and "note" for a fact that is neither good nor bad.
    """

    key: str  # of its text: "claim.<area>.<name>" in locales/<language>/claim_<area>.json
    verdict: Verdict
    values: Mapping[str, Any] = field(default_factory=dict)  # strings, numbers, claims, or lists of these
    evidence: tuple[
        Mapping[str, Any], ...
    ] = ()  # what a page can link to: operator, tensor, index, run, step
    missing: tuple[str, ...] = ()  # keys "claim.missing.<name>": data that would decide an unknown

    def as_json(self) -> dict[str, Any]:
        """Return the claim for JSON, with its English text for scripts."""
        return {
            "key": self.key,
            "verdict": self.verdict,
            "values": {name: _json_value(value) for name, value in self.values.items()},
            "evidence": [dict(entry) for entry in self.evidence],
            "missing": list(self.missing),
            "text": sentence(self),
        }


def exit_code(claims: Iterable[Claim], hidden: bool = False) -> int:
    """Return a command's exit code: 1 for anything found, else 2 for anything unknown or ``hidden``, else
    0. With ``hidden``, damage or a lack of data hides something."""
    verdicts = {claim.verdict for claim in claims}
    if "found" in verdicts:
        return 1
    return 2 if hidden or "unknown" in verdicts else 0


def sentence(claim: Claim, language: str = "en", escape: Callable[[object], str] = str) -> str:
    """Return the text of a claim, followed by the texts of the data missing to decide it. `escape` is
    applied to each value, because values may come from a file."""
    words = {name: _words(value, language, escape) for name, value in claim.values.items()}
    words |= {"n": claim.values["n"]} if "n" in claim.values else {}  # chooses between "one | many"
    texts = [message(claim.key, words, language)]
    texts += [language_texts(language).get(key, key) for key in claim.missing]
    return ("" if language == "zh" else " ").join(texts).replace("….", "…")


def _words(value: Any, language: str, escape: Callable[[object], str]) -> str:
    if isinstance(value, Claim):
        return sentence(value, language, escape)
    if isinstance(value, list | tuple):
        return _SEPARATORS[language].join(_words(entry, language, escape) for entry in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format_number(value)
    return escape(value)


def format_number(value: float, digits: int = _DIGITS) -> str:
    """Return a number as pages show it: integers in full below ten million, else some significant digits."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "−Inf"
    if float(value).is_integer() and abs(value) < _EXACT_BELOW:
        return str(int(value)).replace("-", "−")
    if _SMALL <= abs(value) < _EXACT_BELOW:
        rounded = float(f"{value:.{digits - 1}e}")
        text = repr(rounded).removesuffix(".0")
    else:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return text.replace("-", "−")


def _json_value(value: Any) -> Any:
    if isinstance(value, Claim):
        return value.as_json()
    if isinstance(value, list | tuple):
        return [_json_value(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def few(items: Sequence[Any], limit: int) -> list[Any]:
    """Return the first ``limit`` items for a sentence, followed by "…" if there are more."""
    return [*items[:limit], *(["…"] if len(items) > limit else [])]


def range_claim(low: float, high: float) -> Claim:
    """Return a range of numbers as part of a claim, with as many digits as it takes to show its width."""
    ends: tuple[float | str, float | str] = low, high
    if low != high and format_number(low) == format_number(high):
        digits = next((n for n in range(_DIGITS, 17) if format_number(low, n) != format_number(high, n)), 17)
        ends = _in_full(low, digits), _in_full(high, digits)
    return Claim("claim.part.lineage.range", "note", {"low": ends[0], "high": ends[1]})


def _in_full(value: float, digits: int) -> str:
    """Return an integer with all its digits, another number with ``digits`` significant ones."""
    return str(value).replace("-", "−") if isinstance(value, int) else format_number(value, digits)
