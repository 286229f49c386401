"""Interface for extensions that add a kind of data with a page, a dump layout, a tensor check or a command.

These names stay as they are within a major version; `API_VERSION` grows when one is added. How an extension
is made and installed: `docs/extensions.md`. Nothing else below `mindinsight.server` is meant for extensions.
"""

from typing import Final

from mindinsight.server.commands.options import add_bases, add_command
from mindinsight.server.debug.conditions import (
    Condition,
    Finding,
    Limits,
    Name,
    Parameter,
    Sample,
    Verdict,
    compared,
    condition,
)
from mindinsight.server.errors import ApiError, BadSettings
from mindinsight.server.files.opener import files_of, folders_of
from mindinsight.server.formats.dumps.dump_layout import Layout
from mindinsight.server.formats.dumps.dump_types import (
    Dump,
    FileDamage,
    Listing,
    StepFolder,
    TensorEntry,
    TensorHeader,
    TensorRef,
)
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.tensor_source import opened_tensor

API_VERSION: Final = 1  # grows with each name that is added

__all__ = [
    "API_VERSION",
    "ApiError",
    "BadSettings",
    "Condition",
    "CurrentService",
    "Dump",
    "FileDamage",
    "Finding",
    "Layout",
    "Limits",
    "Listing",
    "Name",
    "Parameter",
    "PayloadRoute",
    "Plugin",
    "Sample",
    "StepFolder",
    "TensorEntry",
    "TensorHeader",
    "TensorRef",
    "UnreadableError",
    "Verdict",
    "add_bases",
    "add_command",
    "compared",
    "condition",
    "files_of",
    "folders_of",
    "opened_tensor",
]
