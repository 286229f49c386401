"""Claims that runs may belong to different experiments, so that their values cannot be compared."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from mindinsight.server.api.run_answers import hyper_of
from mindinsight.server.claims import Claim, few
from mindinsight.server.store.run import Run

_NAMED: Final = 3  # runs or values in a claim
_ALIKE: Final = 0.5  # share of the scalars of two runs that both have, below which they are of two kinds
_KIND: Final = re.compile(
    r"(^|[:._/-])(architecture|arch|backbone|corpus|data_?set|experiment|model|network|project|task)(_name)?$",
    re.IGNORECASE,
)


def mixed_claims(runs: Sequence[Run]) -> Iterator[Claim]:
    """Claim that some runs record other scalars than most, and that data set, model or task are not the same.

    Paths are no names of a model or a data set.
    """
    known = [run for run in runs if run.scalars]
    usual = Counter(frozenset(run.scalars) for run in known).most_common(1)
    others = [run for run in known if _shared(set(run.scalars), usual[0][0]) < _ALIKE]
    if others:
        names = few([run.id.removeprefix("./") for run in others], _NAMED)
        values = {"n": len(others), "count": len(known), "runs": names}
        yield Claim("claim.why.mixed_scalars", "unknown", values, tuple({"run": run.id} for run in others))
    settings = [hyper_of(run.lineage) for run in runs]
    for name in sorted({name for own in settings for name in own if _KIND.search(name)}):
        texts = {value for own in settings if isinstance(value := own.get(name), str)}
        if 1 < len(texts) < max(len(runs), 3) and not any("/" in text for text in texts):
            values = {"setting": name, "values": few(sorted(texts), _NAMED), "n": len(texts)}
            yield Claim("claim.why.mixed_setting", "note", values, ({"setting": name},))


def _shared(ours: set[str], theirs: frozenset[str]) -> float:
    return len(ours & theirs) / len(ours | theirs)
