"""What we depend on: bounds for users, a lock for the tests, and a reason and a licence for each."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements" / "test.lock").read_text()
PROJECT = (ROOT / "pyproject.toml").read_text()


def requirements(*lists: Any) -> Iterator[Any]:
    """The requirements in these lists of the project file."""
    for name in lists:
        (text,) = re.findall(rf"^{name} = \[(.*?)\]$", PROJECT, re.MULTILINE | re.DOTALL)
        for line in re.findall(r'"([^"]+)"', text):
            yield Requirement(line)


def locked() -> Any:
    """Versions in the lock by name; some have one for each of several versions of Python."""
    versions: dict[Any, Any] = {}
    for line in LOCK.splitlines():
        requirement = Requirement(line)
        (pin,) = requirement.specifier
        pins = versions.setdefault(requirement.name, [])
        pins.append((Version(pin.version), requirement.marker, pin.operator))
    return versions


LICENCE = re.compile(r"MIT|BSD|Apache|ISC|MPL-2.0")
USERS = [
    requirement.name for requirement in requirements("dependencies", "arrow", "notebook", "remote", "tune")
]


def test_every_line_of_the_lock_is_one_version_and_no_address() -> None:
    assert "://" not in LOCK
    assert {operator for pins in locked().values() for _, _, operator in pins} == {"=="}


def test_the_lock_has_everything_that_is_asked_for_and_keeps_its_bounds() -> None:
    pins = locked()
    for requirement in requirements("dependencies", "test"):
        versions = pins[requirement.name]
        assert all(version in requirement.specifier for version, _, _ in versions), requirement


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
def test_each_python_has_one_version_of_everything(python: str) -> None:
    about = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": "linux"}
    about |= {"platform_python_implementation": "CPython", "platform_machine": "x86_64"}
    for name, pins in locked().items():
        fitting = [version for version, marker, _ in pins if marker is None or marker.evaluate(about)]
        assert len(fitting) <= 1, name
        assert fitting or name not in {
            requirement.name for requirement in requirements("dependencies", "test")
        }, name


def test_users_are_asked_for_no_newer_versions_than_needed() -> None:
    """A lower bound and nothing else, but for protobuf, whose next major version may refuse our code."""
    for requirement in requirements("dependencies", "arrow", "notebook", "remote", "tune"):
        operators = sorted(specifier.operator for specifier in requirement.specifier)
        assert operators == (["<", ">="] if requirement.name == "protobuf" else [">="]), requirement


def test_the_lowest_versions_are_those_of_the_project() -> None:
    printed = subprocess.run(
        [sys.executable, ROOT / "tests" / "lowest.py"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(printed) == {
        f"{requirement.name}=={low(requirement)}"
        for requirement in requirements("dependencies", "arrow", "notebook", "remote", "tune")
    }


def low(requirement: Any) -> Any:
    return next(specifier.version for specifier in requirement.specifier if specifier.operator == ">=")


def rows() -> list[list[str]]:
    """Return the cells of each row of a package in the tables of the document."""
    lines = re.findall(r"^\| (.*) \|$", (ROOT / "docs" / "dependencies.md").read_text(), re.MULTILINE)
    return [re.split(r" \| ", line) for line in lines]


def test_the_tables_name_each_dependency_with_its_licence_and_nothing_else() -> None:
    extras = re.search(r"^\[project.optional-dependencies\]\n(.*?)\n\n", PROJECT, re.MULTILINE | re.DOTALL)
    lists = ["dependencies", *re.findall(r"^(\w+) = \[", extras[1] if extras else "", re.MULTILINE)]
    needed = {requirement.name for requirement in requirements(*lists)}
    assert len(needed) > len(USERS)
    licences = {
        cell: cells[at + 1] for cells in rows() for at, cell in enumerate(cells[:2]) if cell in needed
    }
    assert licences.keys() == needed
    assert [name for name, licence in licences.items() if not LICENCE.search(licence)] == []
    extras_rows = [cells for cells in rows() if cells[0] in lists and not LICENCE.search(cells[1])]
    named = {cells[1] if cells in extras_rows else cells[0] for cells in rows()}
    assert named - needed == {"package", "extra", "see below"}


@pytest.mark.parametrize("name", USERS)
def test_no_dependency_has_a_licence_that_binds_others(name: Any) -> None:
    about: Any = metadata.metadata(name)
    licences = " ".join([about.get("License-Expression") or "", (about.get("License") or "")[:100]])
    licences += " ".join(
        classifier for classifier in about.get_all("Classifier", []) if classifier.startswith("License")
    )
    assert re.search(r"MIT|BSD|Apache", licences), (name, licences)
    assert "GPL" not in licences, (name, licences)
