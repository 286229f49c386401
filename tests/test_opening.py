"""Files are opened and folders listed in one module; whoever else does it is named here, with the reason."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).parents[1] / "server" / "mindinsight" / "server"
OPENING = {
    *("open", "fdopen", "read_text", "read_bytes", "scandir", "listdir", "walk", "fwalk", "iterdir"),
    *("glob", "rglob", "memmap", "ZipFile", "fromfile", "load_library"),
}
ALLOWED = {
    "files/opener.py": "the opener",
    # no files
    "curves/formulas.py": "the syntax tree of a formula",
    # what was opened before
    "formats/arrays/npy.py": "members of an open archive",
    "formats/file_bytes.py": "values of an open file",
    "formats/events/__init__.py": "a stream over an open descriptor",
    # the product's own files
    "api/pages.py": "templates",
    "http/static_files.py": "scripts and styles",
    "http/health.py": "folders of installed packages",
    "texts.py": "texts",
    "ingest/index_cache.py": "the cache in the workspace",
    "ingest/cold_columns.py": "the cache in the workspace",
    "ingest/loader.py": "the cache in the workspace",
    "ingest/mirrors.py": "copies in the workspace",
    "files/own_files.py": "files of the workspace",
    "files/placeholders.py": "copies in the workspace",
    "workspace/job_requests.py": "requests of jobs in the workspace",
    "workspace/json_store.py": "notes and rules in the workspace",
    "process/daemon.py": "the state of running servers",
    "settings/base_dirs.py": "whether a base directory can be listed",
    "tuning/published_study.py": "output",
    "tuning/study.py": "studies in the workspace",
    "plugins/alert/webhook_sender.py": "requests to the URLs of the command line",
    # the system's
    "compute/memory_budget.py": "the memory that is free",
    "ingest/filesystems.py": "the table of mounts",
    "ingest/watcher.py": "the process's own descriptors",
    # what a user names on the command line or in a notebook
    "client/export.py": "output",
    "client/page_copy.py": "answers that it wrote",
    "client/payload_kinds.py": "output",
    "tuning/tuning_file.py": "the tuning file",
    "commands/main.py": "the null device",
    "commands/site.py": "output",
    "commands/open.py": "graphs in the workspace",
    "commands/dump/dump_compare.py": "a table of names, and output",
    "commands/dump/dump_convert.py": "output",
}


def calls(path: Any) -> Iterator[Any]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", "")
            if name in OPENING or (isinstance(node.func, ast.Name) and node.func.id == "open"):
                yield f"{name or 'open'} in line {node.lineno}"


def test_readers_go_through_the_opener() -> None:
    modules = [path for path in sorted(SERVER.rglob("*.py")) if str(path.relative_to(SERVER)) not in ALLOWED]
    assert len(modules) > 200
    assert {path.name: opened for path in modules if (opened := list(calls(path)))} == {}


@pytest.mark.parametrize("module", ALLOWED)
def test_exceptions_are_needed(module: Any) -> None:
    assert list(calls(SERVER / module))
