"""Objects are known by the package of their class; a framework is imported when one of its objects comes."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import frameworks
from mindinsight.writer.frameworks import framework_of


def instance(module: Any, base: Any = object) -> Any:
    return type("Thing", (base,), {"__module__": module})()


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What was imported instead of the modules of the frameworks."""
    names = []
    monkeypatch.setattr(frameworks, "import_module", lambda name: names.append(name) or name)
    return names


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("torch.nn.modules.linear", "torch"),
        ("torch", "torch"),
        ("mindspore.nn.cell", "mindspore"),
        ("jax._src.core", "jax"),
        ("jaxlib._jax", "jax"),
    ],
)
def test_the_package_of_the_class_decides(imported: Any, module: str, name: str) -> None:
    assert framework_of(instance(module)) == f"mindinsight.writer.frameworks.{name}"


def test_a_class_of_the_users_counts_for_what_it_derives_from(imported: Any) -> None:
    base = type("Module", (), {"__module__": "torch.nn.modules.module"})
    assert framework_of(instance("my_networks", base)) == "mindinsight.writer.frameworks.torch"


@pytest.mark.parametrize("value", [None, 3, "torch", np.ones(2), instance("torchvision_like"), len])
def test_everything_else_is_of_no_framework(imported: Any, value: Any) -> None:
    assert framework_of(value) is None
    assert imported == []


def test_the_public_names_need_no_framework() -> None:
    program = """
import sys
from mindinsight import writer
for name in writer.__all__:
    getattr(writer, name)
print(sorted({"torch", "jax", "mindspore"} & set(sys.modules)))
"""
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert shown.stdout == "[]\n"
