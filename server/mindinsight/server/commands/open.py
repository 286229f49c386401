"""Command `mindinsight open`: shows graph files in the format of Model Explorer that belong to no run."""

import argparse
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from mindinsight.server.client.export import safe, unused
from mindinsight.server.commands.options import add_command, add_options
from mindinsight.server.commands.start import start
from mindinsight.server.commands.terminal import describe_reason
from mindinsight.server.errors import BadSettings, bad_settings, os_reason
from mindinsight.server.files.own_files import open_own, own_folder
from mindinsight.server.formats.graphs.model_explorer import graphs_of
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.text_files import read_json
from mindinsight.server.texts import terminal_text


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "open", open_files)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    add_options(parser, os.environ)


def open_files(options: argparse.Namespace) -> int:
    """Write the graphs of each file, as a run, into a directory of the workspace, in place of earlier ones,
    start a server on it, and return the exit code of `start`. Raises BadSettings if a file has no graph that
    can be read, or the workspace cannot be written."""
    graphs = {path: _graphs(path) for path in options.files}
    names = "\0".join(str(path.absolute()) for path in options.files)
    workspace = options.workspace.expanduser().absolute()
    folder = workspace / "opened" / sha256(names.encode()).hexdigest()[:12]
    taken: set[Path] = set()
    try:
        for path, files in graphs.items():
            run = unused(folder / safe(path.stem), taken)
            for part in (folder.parent, folder, run):
                own_folder(part)
            for earlier in run.glob("*.pb"):
                earlier.unlink()
            for name, data in files:
                target = unused(run / safe(name), taken)
                descriptor = open_own(
                    target.with_name(f"{target.name}.pb"), os.O_WRONLY | os.O_CREAT | os.O_EXCL
                )
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
    except OSError as error:
        why = f"{error.filename}: {os_reason(error)}"
        raise bad_settings("workspace", path=workspace, why=why) from error
    options.summary_base_dir = [str(folder)]
    return start(options)


def _graphs(path: Path) -> list[tuple[str, bytes]]:
    """Return name and content of each graph in a file. Raises BadSettings."""
    if path.is_dir():
        raise BadSettings(terminal_text("cli.opened.directory", {"path": path}))
    try:
        return graphs_of(read_json(path.absolute()))
    except UnreadableError as error:
        why = describe_reason(error.reason, error.detail)
        raise BadSettings(terminal_text("cli.opened.not_shown", {"path": path, "why": why})) from error
    except OSError as error:
        words = {"path": path, "why": os_reason(error)}
        raise BadSettings(terminal_text("cli.opened.not_shown", words)) from error
