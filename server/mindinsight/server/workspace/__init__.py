"""Workspace: notes, colours, views, default settings, reports and alert rules of the users, as JSON files."""

from collections.abc import Callable, Iterable
from pathlib import Path

from mindinsight.server.settings.base_dirs import Bases, home
from mindinsight.server.store.run import Watched
from mindinsight.server.workspace.alert_rules import Deliveries, Rules
from mindinsight.server.workspace.colour_slots import BaseSlots, MultiBaseSlots, Slots
from mindinsight.server.workspace.job_requests import JobRequests
from mindinsight.server.workspace.notes import MultiBaseNotes, Notes
from mindinsight.server.workspace.report_documents import Reports
from mindinsight.server.workspace.saved_views import Defaults, Views


class Workspace:
    """Stored data of users in `folder`, for one base directory or for several."""

    def __init__(self, folder: Path, bases: Bases, now: Callable[[], Iterable[Watched]]) -> None:
        """Open the stores in `folder`, where `now` returns the base directories that currently exist, if
        several."""
        base = home(bases)
        self.notes = Notes(folder, base) if base == bases else MultiBaseNotes(folder, now)
        self.slots: Slots = BaseSlots(folder, base) if base == bases else MultiBaseSlots(folder, now)
        self.rules = Rules(folder, base)
        self.views = Views(folder, base)
        self.defaults = Defaults(folder, base)
        self.reports = Reports(folder, base)
        self.deliveries = Deliveries(folder, base)
        self.job_requests = JobRequests(folder / "jobs")
