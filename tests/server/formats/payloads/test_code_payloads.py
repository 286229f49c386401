"""Facts about a program: what is of another type is left out, what is no JSON object is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.payloads.code_payloads import Code, Git, code
from mindinsight.server.formats.read_limits import UnreadableError


def encoded(facts: Any) -> bytes:
    return Summary.Code(facts=json.dumps(facts).encode()).SerializeToString()


def test_facts_of_another_type_are_left_out() -> None:
    wrong = {
        "command": "train",
        "python": 3,
        "packages": ["numpy"],
        "environment": {"A": 1, "B": "\ud800"},
        "git": {"commit": "c", "diff": 1, "untracked": -1},
    }
    assert code(encoded(wrong)) == Code(environment={"A": "", "B": "\\ud800"}, git=Git("c"))
    assert code(b"") == Code()
    assert code(encoded({"git": {"branch": "main"}})).git is None


@pytest.mark.parametrize("facts", [b"{", b"[]", b"[" * 100_000, b"\xff", b'{"a": ' * 5000])
def test_what_is_no_json_object_is_an_error(facts: bytes) -> None:
    with pytest.raises(UnreadableError):
        code(Summary.Code(facts=facts).SerializeToString())
    with pytest.raises(UnreadableError):
        code(b"\x0a\xff")
