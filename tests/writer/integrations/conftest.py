"""Stand-ins for frameworks that are not installed here: the base classes our loggers derive from."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest


class Base:
    """A base class of a framework, which does nothing."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass


CLASSES = {
    "transformers": ["TrainerCallback"],
    "accelerate.tracking": ["GeneralTracker"],
}


@pytest.fixture
def frameworks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, classes in CLASSES.items():
        for depth in range(name.count(".") + 1):
            part = ".".join(name.split(".")[: depth + 1])
            if part not in sys.modules:
                monkeypatch.setitem(sys.modules, part, ModuleType(part))
        for kind in classes:
            monkeypatch.setattr(sys.modules[name], kind, type(kind, (Base,), {}), raising=False)
    for name in ("transformers", "accelerate"):  # loaded anew with the stand-ins, and forgotten with them
        monkeypatch.delitem(sys.modules, f"mindinsight.writer.integrations.{name}", raising=False)
    yield
    for name in ("transformers", "accelerate"):
        sys.modules.pop(f"mindinsight.writer.integrations.{name}", None)
