"""Renderer of Markdown as a tree of elements, from which the page builds nodes without parsing HTML.

A text may come from any user. HTML stays text, a link needs the scheme http, https or mailto, and a picture
becomes a link to it. Therefore nothing is loaded before a click. Nodes are texts or ``[tag, attributes,
children]`` with the tags of ``TAGS``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Node: TypeAlias = "str | list[Any]"
MAX_TEXT: Final = 1 << 18  # characters that are rendered
_MAX_NODES: Final = 20_000  # of one text; bounds the work of the page for hostile texts
_MAX_DEPTH: Final = 50  # of nested elements. The parser and the page recurse
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS: Final = ("p", "blockquote", "ul", "ol", "li", "hr", "pre")
_TABLES: Final = ("table", "thead", "tbody", "tr", "th", "td")
TAGS: Final = frozenset((*_HEADINGS, *_BLOCKS, *_TABLES, "code", "em", "strong", "s", "a", "br"))
_SCHEMES: Final = ("http://", "https://", "mailto:")


def markdown_tree(text: str) -> list[Node]:
    """Return a Markdown text as nodes: texts, and elements [tag, attributes, children]. Only the first
    MAX_TEXT characters are rendered."""
    builder = _Builder()
    builder.add_all(_parser().parse(text[:MAX_TEXT]))
    return builder.root


@cache
def _parser() -> MarkdownIt:
    """Return the cached Markdown parser."""
    from markdown_it import MarkdownIt  # loaded with the first text

    options = {"html": False, "linkify": False, "typographer": False, "maxNesting": _MAX_DEPTH}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


class _Builder:
    """Builder of the tree from a flat list of tokens, in which elements open and close."""

    def __init__(self) -> None:
        self.root: list[Node] = []
        self._open: list[list[Node]] = [self.root]
        self._count = 0

    def add_all(self, tokens: Iterable[Token]) -> None:
        """Add tokens until the tree has more than ``_MAX_NODES`` nodes."""
        for token in tokens:
            if self._count > _MAX_NODES:
                return
            self._add(token)

    def _add(self, token: Token) -> None:
        """Add one token."""
        self._count += 1
        if token.type == "inline":
            self.add_all(token.children or ())
        elif token.type in ("fence", "code_block"):
            self._open[-1].append(["pre", {}, [["code", {}, [token.content]]]])
        elif token.type == "code_inline":
            self._open[-1].append(["code", {}, [token.content]])
        elif token.type == "image":
            self._open[-1].append(_link(str(token.attrGet("src") or ""), [token.content or "image"]))
        elif token.type == "softbreak":
            self._open[-1].append("\n")
        elif token.type == "hardbreak":
            self._open[-1].append(["br", {}, []])
        elif token.nesting == 0:
            self._open[-1].append(["hr", {}, []] if token.type == "hr" else token.content)
        elif token.nesting < 0:
            if len(self._open) > 1 and not token.hidden:
                self._open.pop()
        elif not token.hidden:
            self._enter(token)

    def _enter(self, token: Token) -> None:
        """Open the element of a token."""
        children: list[Node] = []
        if token.type == "link_open":
            self._open[-1].append(_link(str(token.attrGet("href") or ""), children))
        else:
            tag = token.tag if token.tag in TAGS else "p"
            start = token.attrGet("start") if tag == "ol" else None
            attributes = {"start": int(start)} if start is not None else {}
            self._open[-1].append([tag, attributes, children])
        self._open.append(children)


def _link(address: str, children: list[Node]) -> list[Any]:
    """Return a link element, or its text in italics if the scheme is not allowed."""
    allowed = address.lower().startswith(_SCHEMES)
    return ["a", {"href": address}, children] if allowed else ["em", {}, children]
