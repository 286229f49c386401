"""The directions of import that .importlinter lays down, and what an import brings along."""

import ast
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("proto", "server", "web", "writer")


@pytest.fixture
def side_by_side(tmp_path: Path) -> Any:
    """The four parts below one folder without a top module: the linter takes each part for a package."""
    package = tmp_path / "mindinsight"
    package.mkdir()
    for part in PARTS:
        (package / part).symlink_to(ROOT / part / "mindinsight" / part)
    return tmp_path


def test_imports_go_in_one_direction(side_by_side: Any) -> None:
    # Without the site module, as the installed package's folders would come before those of the parts.
    path = [str(side_by_side), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    code = (
        f"import sys; sys.path += {path}; from importlinter.cli import lint_imports_command; "
        "lint_imports_command(['--no-cache'])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert "0 broken" in done.stdout


def imported(code: Any) -> set[Any]:
    """The parts that are loaded after a piece of code."""
    shown = f"{code}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return {name.split(".")[1] for name in done.stdout.split() if name.startswith("mindinsight.")}


def test_the_package_by_itself_loads_no_part() -> None:
    assert imported("import mindinsight") == set()


def test_who_writes_loads_no_server() -> None:
    assert imported("from mindinsight.writer import SummaryRecord") == {"proto", "writer"}


def test_who_reads_loads_no_writer() -> None:
    assert imported("from mindinsight import open") == {"proto", "server"}


def test_reading_and_showing_are_offered_and_nothing_else() -> None:
    import mindinsight

    assert mindinsight.open.__module__ == "mindinsight.server.client.reader"
    assert mindinsight.show.__module__ == "mindinsight.server.client.notebook"
    with pytest.raises(AttributeError, match="nothing"):
        mindinsight.nothing  # noqa: B018


def test_nothing_private_of_other_packages_is_imported() -> None:
    """Underscored modules and names of dependencies change without notice."""
    private = [
        f"{path.relative_to(ROOT)}: {module}.{alias.name}"
        for part in PARTS
        for path in (ROOT / part).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom | ast.Import)
        for module in [getattr(node, "module", None) or ""]
        for alias in node.names
        if not module.startswith("mindinsight") and not getattr(node, "level", 0)
        if any(re.match("_[a-z]", name) for name in f"{module}.{alias.name}".split("."))
    ]
    # PyTorch offers no other way to see every operator, and none to run operators that nobody sees
    assert {name.rpartition("/")[2] for name in private} == {
        "torch_operators.py: torch.utils._python_dispatch.TorchDispatchMode",
        "torch_tensors.py: torch.utils._python_dispatch._disable_current_modes",
    }
