"""What people keep: notes on runs, views by name, rules for alerts. JSON in the workspace, theirs alone."""

from __future__ import annotations

from pathlib import Path

from mindinsight.server.workspace.notes import Notes
from mindinsight.server.workspace.rules import Rules
from mindinsight.server.workspace.views import Views


class Workspace:
    """What is kept in ``folder`` for one base directory."""

    def __init__(self, folder: Path, base: Path) -> None:
        self.notes = Notes(folder, base)
        self.rules = Rules(folder, base)
        self.views = Views(folder, base)
