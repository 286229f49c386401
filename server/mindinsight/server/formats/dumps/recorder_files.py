"""Files of recorders: logs of MindSpore's Running Data Recorder, norms of the flight recorder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from mindinsight.server.files.opener import files_of, folders_of
from mindinsight.server.formats.dumps.dump_types import Dump, LogFile
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.sanitizer import parse_json

_RANK: Final = re.compile(r"rank_(\d+)")
_FILE: Final = re.compile(
    r"(?P<module>[^.]+)\.(?P<name>.+?)(?:\.(?P<graph>\d+))?\.(?P<time>\d{14})(?:_(?P<sequence>\d+))?"
    r"\.(?P<kind>ir|pb|txt|json)",
    re.DOTALL,
)
_UNTIMED: Final = re.compile(r"(?P<name>.+)\.(?P<kind>ir|pb|txt|json)", re.DOTALL)
_KINDS: Final[dict[str, Literal["ir", "pb", "text", "json"]]] = {
    "ir": "ir",
    "pb": "pb",
    "txt": "text",
    "json": "json",
}


def recorder_logs(path: Path) -> tuple[LogFile, ...]:
    """Return the recorder files of all ranks below a directory, by rank, then in writing order."""
    parsed = []
    for rank in folders_of(path):
        match = _RANK.fullmatch(rank.name)
        if match:
            parsed += [_log(int(match[1]), rank / "rdr", name) for name in files_of(rank / "rdr")]
    logs = [log for log in parsed if log]
    return tuple(sorted(logs, key=lambda log: (log.rank, log.time, log.sequence or 0, log.path)))


def _log(rank: int, folder: Path, name: str) -> LogFile | None:
    """Parse the name of a recorder file. Return None for other files."""
    match = _FILE.fullmatch(name) or _UNTIMED.fullmatch(name)
    if match is None:
        return None
    parts = match.groupdict()
    graph, sequence = parts.get("graph"), parts.get("sequence")
    return LogFile(
        rank,
        str(folder / name),
        parts.get("module", ""),
        parts["name"],
        int(graph) if graph else None,
        parts.get("time", ""),
        int(sequence) if sequence else None,
        _KINDS[parts["kind"]],
        (folder / name).lstat().st_size,
    )


MAX_BYTES: Final = 64 << 20  # read from a file; enough for the norms of about a million parameters


@dataclass(frozen=True, slots=True)
class Health:
    """L2 norms of parameters by name at the last healthy check, at ``step``, and at the fault."""

    step: int
    weights: Mapping[str, float]
    weights_now: Mapping[str, float]


def read_health(dump: Dump, rank: int, step: int) -> Health | None:
    """Return the norms recorded with a step of a dump, or None if there are none or no healthy step."""
    roots = {folder.root for folder in dump.folders if (folder.rank, folder.step) == (rank, step)}
    for root in sorted(roots):
        try:
            with opened(Path(root) / f"health_{step}.json") as file:
                content = parse_json(file.read(MAX_BYTES))
        except (UnreadableError, OSError, ValueError, RecursionError):
            continue
        if isinstance(content, dict) and isinstance(content.get("healthy_step"), int):
            health = Health(
                content["healthy_step"], _norms(content.get("weights")), _norms(content.get("weights_now"))
            )
            return health if health.step >= 0 else None
    return None


def _norms(content: Any) -> Mapping[str, float]:
    """Return the numbers of an object. Other values are skipped."""
    items = content.items() if isinstance(content, dict) else ()
    return {name: float(value) for name, value in items if isinstance(value, (int, float))}
