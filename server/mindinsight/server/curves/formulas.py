"""Formulas over scalars, such as ``log(train/loss)``, ``a - b`` and ``ema(x, 0.9)``.

Python's grammar is parsed with `ast` and evaluated node by node with NumPy. Nothing is ever executed.
"""

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np

from mindinsight.server.curves.smoothing import exponential
from mindinsight.server.types import Doubles

MAX_LENGTH: Final = 500  # characters; the grammar's recursion is bounded by them
_LARGEST: Final = 1e300  # of a constant; an int beyond 1e308 has no float
_NODES: Final = 200  # of a syntax tree, each of which computes at most one array
# A number, a quoted tag, or a name: letters, digits and _, with / . : between them as in train/loss.
_TOKEN: Final = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r'|"(?P<quoted>[^"]+)"'
    r"|(?P<name>[^\W\d]\w*(?:[./:]\w+)*)"
)
_BINARY: Final[dict[type[ast.operator], Callable[..., Any]]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.float_power,
}
_FUNCTIONS: Final[dict[str, tuple[int, Callable[..., Any]]]] = {  # name -> number of arguments, function
    "abs": (1, np.abs),
    "exp": (1, np.exp),
    "log": (1, np.log),
    "log10": (1, np.log10),
    "sqrt": (1, np.sqrt),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "ema": (2, lambda values, weight: exponential(np.atleast_1d(values), float(weight))),
}


class BadFormula(ValueError):  # noqa: N818
    """Error: the text is no formula."""


@dataclass(frozen=True, slots=True)
class Formula:
    """Parsed formula over scalars, with their tags. `tags` are the scalars that it names, in order of their
    first use."""

    tags: tuple[str, ...]
    tree: ast.expr

    def value(self, columns: Iterable[Doubles]) -> Doubles:
        """Return the formula's values [n] for the values [n] of each of its ``tags``, in their order.
        Undefined values are non-finite."""
        with np.errstate(all="ignore"):
            return np.asarray(_value(self.tree, list(columns)), np.float64)


def parse_formula(text: str) -> Formula:
    """Parse a formula. A tag with other characters is put in double quotes. `/` in a name belongs to it.
    Raises BadFormula if the text is no formula, or names no scalar."""
    tags: list[str] = []

    def placeholder(match: re.Match[str]) -> str:
        if match["number"] or (match["name"] in _FUNCTIONS and text[match.end() :].lstrip().startswith("(")):
            return match[0]
        tag = match["quoted"] or match["name"]
        if tag not in tags:
            tags.append(tag)
        return f"t{tags.index(tag)}"

    if len(text) > MAX_LENGTH:
        raise BadFormula(text)
    try:
        tree = ast.parse(_TOKEN.sub(placeholder, text).strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadFormula(text) from None
    nodes = list(ast.walk(tree))
    if not tags or len(nodes) > _NODES or not all(map(_is_allowed, nodes)):
        raise BadFormula(text)
    return Formula(tuple(tags), tree)


def _is_allowed(node: ast.AST) -> bool:
    """Return True if a node of the syntax tree is allowed in a formula."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        fits = name in _FUNCTIONS and len(node.args) == _FUNCTIONS[name][0] and not node.keywords
        return fits and (name != "ema" or 0 <= _number(node.args[1]) < 1)
    if isinstance(node, ast.Constant):
        return bool(np.isfinite(_number(node)))
    if isinstance(node, ast.BinOp):
        return type(node.op) in _BINARY
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub | ast.UAdd)
    return isinstance(node, ast.Name | ast.operator | ast.unaryop | ast.expr_context)


def _number(node: ast.expr) -> float:
    """Return the number of a constant, or NaN for anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    return float(value) if isinstance(value, int | float) and abs(value) < _LARGEST else np.nan


def _value(node: ast.expr, columns: list[Doubles]) -> Any:
    """Return the value of a node: an array [n] or a number."""
    if isinstance(node, ast.Constant):
        return np.float64(_number(node))
    if isinstance(node, ast.Name):
        return columns[int(node.id[1:])]
    if isinstance(node, ast.UnaryOp):
        value = _value(node.operand, columns)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)](_value(node.left, columns), _value(node.right, columns))
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return _FUNCTIONS[node.func.id][1](*[_value(argument, columns) for argument in node.args])


def common_steps(steps: Iterable[Any]) -> Any:
    """Return the steps that all of one or more arrays (ascending, unique) hold, ascending."""
    return reduce(lambda left, right: np.intersect1d(left, right, assume_unique=True), steps)
