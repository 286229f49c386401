"""Everything of 3.0.0 that somebody may rely on is still there: `tests/data/public_3.0.0.txt` holds the list.

Imports, the calls of what is imported, URLs with parameters, commands with options, and the numbers of
fields in files. Formats that are only read are held by the files in `tests/data`. A release adds what the
list lacks: `python -m tests.test_public >> tests/data/public_3.0.0.txt`. Only a major version removes a line.
"""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor
from starlette.datastructures import State
from starlette.routing import Route

import mindinsight
from mindinsight import writer
from mindinsight.proto import lineage_pb2, summary_pb2
from mindinsight.server.api.pages import WEB, Pages
from mindinsight.server.api.v2 import create_interface
from mindinsight.server.app import V1
from mindinsight.server.commands.main import parser
from mindinsight.server.http.static_files import Assets
from mindinsight.server.v1 import create_v1

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "data" / "public_3.0.0.txt"
METHODS = ("get", "post", "put", "patch", "delete")


def imports() -> Iterator[str]:
    """Yield each public name, each parameter of its call and each method of a class."""
    for package in (mindinsight, writer):
        for name in package.__all__:
            yield from _names_of(f"{package.__name__}.{name}", getattr(package, name))
    for path in sorted((ROOT / "writer" / "mindinsight" / "writer" / "integrations").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:  # their frameworks are not installed
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                yield f"import mindinsight.writer.integrations.{path.stem}.{node.name}"


def _names_of(name: str, value: object) -> Iterator[str]:
    yield f"import {name}"
    if inspect.isclass(value):
        ours = [base for base in value.__mro__ if base.__module__.startswith("mindinsight.")]
        for method in {method for base in ours for method in vars(base) if not method.startswith("_")}:
            yield f"import {name}.{method}"
    if callable(value):
        with suppress(ValueError):  # a dict's own constructor says nothing
            parameters = inspect.signature(value).parameters
            yield from (f"call {name}({parameter})" for parameter in parameters)


def urls() -> Iterator[str]:
    """Yield method and path of each route, and each parameter of it."""
    for prefix, app in ((V1, create_v1(State())), ("", create_interface(State()))):
        for path, routes in app.openapi()["paths"].items():
            for method in METHODS:
                if method in routes:
                    yield f"url {method.upper()} {prefix}{path}"
                    for parameter in routes[method].get("parameters", ()):
                        yield f"url {method.upper()} {prefix}{path} {parameter['in']} {parameter['name']}"
    yield "url GET /health"
    yield from (f"url GET {route.path}" for route in Pages(Assets(WEB)).routes() if isinstance(route, Route))


def options(top: argparse.ArgumentParser, command: str = "mindinsight") -> Iterator[str]:
    """Yield each command, its options and what they may be."""
    yield f"command {command}"
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from options(below, f"{command} {name}")
        else:
            for option in action.option_strings or [action.dest.upper()]:
                yield f"command {command} {option}"
                yield from (f"command {command} {option} {choice}" for choice in action.choices or ())


def fields() -> Iterator[str]:
    """Yield number and type of each field that files contain."""
    for module in (summary_pb2, lineage_pb2):
        for message in module.DESCRIPTOR.message_types_by_name.values():
            yield from _fields_of(message)


def _fields_of(message: Descriptor) -> Iterator[str]:
    for field in message.fields:
        yield f"field {message.full_name}.{field.name} number {field.number} type {field.type}"
    for nested in message.nested_types:
        yield from _fields_of(nested)


def public() -> set[str]:
    """Return a line for everything that a user, a script or a file may depend on."""
    return {*imports(), *urls(), *options(parser()), *fields()}


@pytest.fixture(scope="module")
def present() -> set[str]:
    return public()


@pytest.mark.parametrize("sort", ["import", "call", "url", "command", "field"])
def test_everything_that_was_public_still_is(present: set[str], sort: str) -> None:
    listed = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line.startswith(f"{sort} ")]
    assert len(listed) > 50
    assert [line for line in listed if line not in present] == []


if __name__ == "__main__":
    known = set(LIST.read_text(encoding="utf-8").splitlines()) if LIST.exists() else set()
    print("\n".join(sorted(public() - known)))
