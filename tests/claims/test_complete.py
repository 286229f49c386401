"""Every claim of the locale files has a situation that must bring it about, and a near miss that must not.

A text that may state something about data is a claim unless ``labels.txt`` lists it: names of columns,
buttons, hints, values as they were recorded, and errors of a request. A new text is therefore listed there or
gets its situations.
"""

import re
from pathlib import Path

from mindinsight.server.texts import language_texts
from tests.claims.situation import all_situations

PARTS = ("claim.missing.", "claim.part.")  # texts inside a claim
TEXTS = language_texts("en")
LABELS = re.sub(r"(?m)#.*$", "", Path(__file__).with_name("labels.txt").read_text(encoding="utf-8")).split()
STATING = re.compile(  # words, besides values, by which a short text states something
    r"\b(identical|equal|agrees?|differs?|diverge\w*|drifts?|best|lowest|highest|worst|dead|vanish\w*|explod\w*"
    r"|jumps?|frozen|(un)?changed|anomal\w*|faults?|missing|cannot|no|none|nothing|never|NaN|infinit\w*"
    r"|(non-)?finite|running|stopped|finished|failed|killed|crash\w*|complete|pruned|introduced|received|unknown"
    r"|silent|important|only|same|different|begins?|onset|wrong|damaged|truncated|lost|interrupted)\b",
    re.IGNORECASE,
)
_LONG = 4  # words from which a text is a sentence


def states_something(text: str) -> bool:
    """Return True if a text holds a value, a stating word, or so many words that it may be a sentence."""
    return "{" in text or len(text.split()) >= _LONG or STATING.search(text) is not None


def is_label(key: str) -> bool:
    """Return True if ``labels.txt`` lists a key, or a beginning of it that ends with ``*``."""
    return key in LABELS or any(key.startswith(label[:-1]) for label in LABELS if label.endswith("*"))


CLAIMS = {
    key
    for key, text in TEXTS.items()
    if not key.startswith(PARTS)
    and (key.startswith("claim.") or (states_something(text) and not is_label(key)))
}


def test_every_claim_is_confirmed_by_a_situation() -> None:
    confirmed = {key for entry in all_situations() for key in entry.makes}
    assert sorted(CLAIMS - confirmed) == []
    assert sorted(confirmed - TEXTS.keys()) == []


def test_every_claim_has_a_near_miss() -> None:
    confirmed = {key for entry in all_situations() for key in entry.makes}
    missed = {key for entry in all_situations() for key in entry.never}
    assert sorted((CLAIMS | confirmed) - missed) == []
    assert sorted(missed - TEXTS.keys()) == []


def test_labels_are_texts_and_no_claims() -> None:
    confirmed = {key for entry in all_situations() for key in entry.makes}
    assert sorted(key for key in confirmed if is_label(key)) == []
    unused = [
        label
        for label in LABELS
        if not any(key == label or key.startswith(label.rstrip("*")) for key in TEXTS)
    ]
    assert unused == []


def test_a_new_text_that_states_something_is_a_claim() -> None:
    for text in ("{n} runs differ", "No rank is slow", "The learning rate was too high", "Frozen"):
        assert states_something(text)
    for text in ("Step", "Learning rate", "Save as PNG"):
        assert not states_something(text)
    assert not is_label("scalar.healthy")
