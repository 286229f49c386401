"""Scanner of the files of MindSpore's Running Data Recorder.

``rank_{R}/rdr/{MODULE}.{name}[.{graph}].{YYYYMMDDHHMMSS}[_{sequence}].{ir|pb|txt|json}``; passes of the
hardware write names without module and time, ``hwopt_d_before_graph_0.ir``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

from mindinsight.server.files.folders import files_of, folders_of
from mindinsight.server.formats.dumps.types import LogFile
from mindinsight.server.formats.text_files import read_text

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
    """Recorder files of all ranks below a directory, by rank, then in the order they were written."""
    parsed = []
    for rank in folders_of(path):
        match = _RANK.fullmatch(rank.name)
        if match:
            parsed += [_log(int(match[1]), rank / "rdr", name) for name in files_of(rank / "rdr")]
    logs = [log for log in parsed if log]
    return tuple(sorted(logs, key=lambda log: (log.rank, log.time, log.sequence or 0, log.path)))


def read_log(log: LogFile) -> str:
    """Text of a recorder file, empty for ``.pb``; raises ``UnreadableError``."""
    return "" if log.kind == "pb" else read_text(Path(log.path))


def _log(rank: int, folder: Path, name: str) -> LogFile | None:
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
