"""Markdown as a tree: known elements only, and nothing of a text is HTML or loads anything."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mindinsight.server.formats.markdown_tree import MAX_TEXT, TAGS, markdown_tree


def tags_of(nodes: Any) -> Iterator[Any]:
    for node in nodes:
        if not isinstance(node, str):
            yield node[0]
            yield from tags_of(node[2])


def addresses_of(nodes: Any) -> Iterator[Any]:
    for node in nodes:
        if not isinstance(node, str):
            yield from (value for name, value in node[1].items() if name == "href")
            yield from addresses_of(node[2])


def test_elements() -> None:
    text = "# Title\n\na **bold** *word* ~~gone~~ `code`\n\n3. three\n\n"
    text += "| a |\n|---|\n| 1 |\n\n```py\nx < 1\n```\n\n---"
    assert markdown_tree(text) == [
        ["h1", {}, ["Title"]],
        ["p", {}, ["a ", ["strong", {}, ["bold"]], " ", ["em", {}, ["word"]], " ", ["s", {}, ["gone"]], " ",
                   ["code", {}, ["code"]]]],
        ["ol", {"start": 3}, [["li", {}, ["three"]]]],
        ["table", {}, [["thead", {}, [["tr", {}, [["th", {}, ["a"]]]]]],
                       ["tbody", {}, [["tr", {}, [["td", {}, ["1"]]]]]]]],
        ["pre", {}, [["code", {}, ["x < 1\n"]]]],
        ["hr", {}, []],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<!-- <b> -->",
        "<a href='javascript:alert(1)'>x</a>",
    ],
)
def test_html_stays_text(text: str) -> None:
    tree = markdown_tree(text)
    assert set(tags_of(tree)) <= {"p"}
    assert text in "".join(str(part) for node in tree for part in node[2])


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "/v2/runs",
        "//host/x",
        "vbscript:x",
        "file:///x",
    ],
)
def test_an_address_of_another_scheme_is_no_link(address: str) -> None:
    tree = markdown_tree(f"[click]({address}) ![picture]({address}) <{address}>")
    assert list(addresses_of(tree)) == []
    assert "click" in json.dumps(tree)


def test_links_and_pictures_are_links() -> None:
    tree = markdown_tree("[a](https://a.example/x) ![b](http://b.example/y.png) <c@d.example>")
    assert list(addresses_of(tree)) == ["https://a.example/x", "http://b.example/y.png", "mailto:c@d.example"]


@pytest.mark.parametrize(
    "text", ["> " * 5000, "*a " * 20_000, "[" * 20_000, "- " * 3000, "`" * 50_000, "|a" * 20_000]
)
def test_what_is_nested_or_long_is_answered(text: Any) -> None:
    assert set(tags_of(markdown_tree(text))) <= TAGS


def test_a_text_that_is_too_long_is_cut() -> None:
    assert len(json.dumps(markdown_tree("a" * (2 * MAX_TEXT)))) < MAX_TEXT + 100
