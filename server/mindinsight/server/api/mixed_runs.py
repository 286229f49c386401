"""Claims that runs may belong to different experiments, so that their values cannot be compared."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from mindinsight.server.api.run_answers import hyper_of
from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.importance import is_seed
from mindinsight.server.curves.setting_separation import names_runs
from mindinsight.server.store.paired_names import plain_name
from mindinsight.server.store.run import Run

_NAMED: Final = 3  # runs or values in a claim
_ALIKE: Final = 0.5  # share of the scalars of two runs that both have, below which they are of two kinds
_KIND: Final = re.compile(
    r"(^|[:._/-])(architecture|arch|backbone|corpus|data_?set|experiment|model|network|project|task)(_name)?$",
    re.IGNORECASE,
)


def mixed_claims(runs: Sequence[Run]) -> Iterator[Claim]:
    """Yield claims about signs that runs belong to different experiments. Some runs record other scalars
    or settings than most, or data set, model or task differ. A path does not count as the name of a model
    or a data set."""
    tags = {run.id: frozenset(map(plain_name, run.scalars)) for run in runs if run.scalars}
    named = {run.id: frozenset(map(plain_name, filter(_is_setting, hyper_of(run.lineage)))) for run in runs}
    names = {run: own for run, own in named.items() if own}
    for key, sets in (("mixed_scalars", tags), ("mixed_settings", names)):
        usual = Counter(sets.values()).most_common(1)
        others = [run for run, own in sets.items() if _shared(own, usual[0][0]) < _ALIKE]
        # a run that records fewer, or more, may be of the same kind
        others = [run for run in others if sets[run] - usual[0][0] and usual[0][0] - sets[run]]
        if others and 2 * len(others) >= len(sets):  # no kind is that of most runs
            common = frozenset.intersection(*sets.values())
            values: dict[str, Any] = {
                "n": len(common),
                "all": len(frozenset.union(*sets.values())),
                "count": len(sets),
            }
            yield Claim(f"claim.why.{key.replace('mixed', 'unlike')}", "unknown", values)
        elif others:
            few_runs = few([run.removeprefix("./") for run in others], _NAMED)
            values = {"n": len(others), "count": len(sets), "runs": few_runs}
            yield Claim(f"claim.why.{key}", "unknown", values, tuple({"run": run} for run in others))
    settings = [hyper_of(run.lineage) for run in runs]
    for name in sorted({name for own in settings for name in own if _KIND.search(name)}):
        texts = {value for own in settings if isinstance(value := own.get(name), str)}
        if 1 < len(texts) < max(len(runs), 3) and not any("/" in text for text in texts):
            values = {"setting": name, "values": few(sorted(texts), _NAMED), "n": len(texts)}
            yield Claim("claim.why.mixed_setting", "note", values, ({"setting": name},))


def _is_setting(name: str) -> bool:
    """Return True if a name is that of a real setting, not of a random seed, or of a place, time or label of
    a run."""
    return not is_seed(name, ()) and not names_runs(name, (0, 1))


def _shared(ours: frozenset[str], theirs: frozenset[str]) -> float:
    return len(ours & theirs) / len(ours | theirs)
