"""Parser of MindSpore's ``.ir`` text: operators with their scopes, sources and call stacks.

Reads both generations of the format (full name as ``# Fullname with scope:`` or ``: full_name_with_scope:``,
source lines with or without columns). Unknown lines are skipped.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mindinsight.server.formats.budgets import IR
from mindinsight.server.formats.graphs.call_stacks import Frame, stacks_of
from mindinsight.server.formats.graphs.dataflow import Dataflow
from mindinsight.server.formats.text_files import read_lines

MAX_STATEMENT: Final = 1 << 20  # characters that are parsed; a literal tensor can be longer

_NODE: Final = re.compile(r"\s*%(?P<id>\d+)\((?P<alias>.*?)\) = (?P<op>[^\s(]+)\(")
_STARTS: Final = re.compile(r"\s*%\d+\(|  Return\(|      [:#]|%para|subgraph |\}|#")
_PARAMETER: Final = re.compile(r"%(para\d+_(\S+?)) ?: ")
_NAME: Final = re.compile(r"\s+[#:] ?[Ff]ull_?name_?[ _]?with_?[ _]?scope: \((.+)\)")
_SCOPE: Final = re.compile(r"\s+# Scope: \((.*)\)")
_ARGUMENT: Final = re.compile(r"%para\d+_[^\s,()]+|%\d+|[^\s,()%]+(?:\([^()]*\))?")


@dataclass(frozen=True, slots=True)
class IrNode:
    """An operator of an ``.ir`` text."""

    op: str
    name: str  # full name with scope, "" in texts written before names are assigned
    scope: str
    sources: tuple[str, ...]  # names of operators and parameters that feed it, past loads and tuples
    stacks: tuple[tuple[Frame, ...], ...]  # each innermost first


@dataclass(frozen=True, slots=True)
class IrText:
    """Parameters and operators of all subgraphs, in text order."""

    parameters: tuple[str, ...]
    nodes: tuple[IrNode, ...]


def read_ir(path: Path) -> IrText:
    """Read an ``.ir`` file. Raises UnreadableError if it cannot be opened or exceeds the budget ``IR``."""
    return parse_ir(line.rstrip("\r\n") for line in read_lines(path, IR, MAX_STATEMENT))


def parse_ir(lines: Iterable[str]) -> IrText:
    """Parse the lines of an ``.ir`` file; never raises, the result of any other text is empty."""
    statements = list(_statements(lines))
    parameters = [match for match in map(_PARAMETER.match, statements) if match]
    dataflow = Dataflow({f"%{match[1]}": (match[2],) for match in parameters})
    nodes = [node for node in (_node(block, dataflow) for block in _blocks(statements)) if node]
    return IrText(tuple(dict.fromkeys(match[2] for match in parameters)), tuple(nodes))


def read_ir_parameters(path: Path) -> tuple[str, ...]:
    """Read the names of the parameters only; they precede the first operator, the rest is not read.

    Raises UnreadableError.
    """
    lines = read_lines(path, IR, MAX_STATEMENT)
    head = itertools.takewhile(lambda line: not line.startswith("subgraph @"), lines)
    return tuple(dict.fromkeys(match[2] for match in map(_PARAMETER.match, head) if match))


def _node(block: list[str], dataflow: Dataflow) -> IrNode | None:
    """Parse the statements of one node; None for those before the first node."""
    head = _NODE.match(block[0])
    if head is None:
        return None
    op = head["op"].removeprefix("PrimFunc_")
    arguments = [text.removeprefix("I64(").rstrip(")") for text in _arguments(block[0], head.end())]
    name = _first(_NAME, block)
    sources = dataflow.add(f"%{head['id']}", op, name, arguments)
    stacks = tuple(stack[::-1] for stack in stacks_of(block))  # the text has the outermost frame first
    return IrNode(op, name, _first(_SCOPE, block) or name.rpartition("/")[0], sources, stacks)


def _statements(lines: Iterable[str]) -> Iterator[str]:
    """Join continuation lines (literals, code over two lines) to statements, cut at MAX_STATEMENT."""
    statement: list[str] = []
    length = 0
    for line in lines:
        if _STARTS.match(line) and statement:
            yield "\n".join(statement)[:MAX_STATEMENT]
            statement, length = [], 0
        if length < MAX_STATEMENT:
            statement.append(line)
            length += len(line) + 1
    yield "\n".join(statement)[:MAX_STATEMENT]


def _blocks(statements: Iterable[str]) -> Iterator[list[str]]:
    """Group statements by node: its own and the indented ones after it."""
    block: list[str] = []
    for statement in statements:
        if not statement.startswith("      ") and block:
            yield block
            block = []
        block.append(statement)
    if block:
        yield block


def _arguments(text: str, start: int) -> list[str]:
    """Names and literals up to the parenthesis that closes the one before ``start``."""
    depth = 1
    for parenthesis in re.finditer(r"[()]", text[start:]):
        depth += 1 if parenthesis[0] == "(" else -1
        if depth == 0:
            return _ARGUMENT.findall(text[start : start + parenthesis.start()])
    return _ARGUMENT.findall(text[start:])


def _first(pattern: re.Pattern[str], block: list[str]) -> str:
    match = next(filter(None, map(pattern.match, block)), None)
    return match[1] if match else ""
