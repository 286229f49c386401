"""Files of recorders: logs of MindSpore's Running Data Recorder, norms and steps of the flight recorder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from mindinsight.server.files.opener import files_of, folders_of
from mindinsight.server.formats.dumps.dump_types import Dump, FileDamage, LogFile
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.sanitizer import parse_json

_RANK: Final = re.compile(r"rank_(\d+)")
_FILE: Final = re.compile(
    r"(?P<module>[^.]+)\.(?P<name>.+?)(?:\.(?P<graph>\d+))?\.(?P<time>\d{14})(?:_(?P<sequence>\d+))?"
    r"\.(?P<kind>ir|pb|txt|json)",
    re.DOTALL,
)
_HEALTH: Final = re.compile(r"health_(\d{1,15})\.json")
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
    """Parse the name of a recorder file, or return None for other files."""
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
    """L2 norms of parameters and of modules' outputs by name at the last healthy check, and at the fault.

    ``outputs_now`` is in the order of execution, and None if the recorder did not write it yet.
    """

    step: int  # of the last healthy check, -1 if there was none
    weights: Mapping[str, float]
    weights_now: Mapping[str, float]
    outputs: Mapping[str, float] = field(default_factory=dict)
    outputs_now: Mapping[str, float] | None = None
    repeated: tuple[str, ...] = ()  # modules that ran several times with different norms
    damaged: tuple[str, ...] = ()  # fields of the file that hold something else
    reason: str = ""  # for which the recorder wrote the step, in its words
    broke_again: bool = True  # when the recorder ran the step again, whose tensors these are
    ranks_differ: bool = False  # it wrote the step because gradients or weights differ between the ranks


def health_steps(dump: Dump) -> dict[int, list[int]]:
    """Return the ranks with a file of norms by step, steps and ranks in order, {} without any file."""
    recorded = set()
    for rank, root in {(folder.rank, folder.root) for folder in dump.folders}:
        matches = map(_HEALTH.fullmatch, files_of(Path(root)))
        recorded |= {(int(match[1]), rank) for match in matches if match}
    steps: dict[int, list[int]] = {}
    for step, rank in sorted(recorded):
        steps.setdefault(step, []).append(rank)
    return steps


def read_norms(dump: Dump, rank: int, step: int) -> Health | FileDamage | None:
    """Return the norms recorded with a step of a dump, the damage of their file, or None without a file."""
    damage = None
    for root in sorted({folder.root for folder in dump.folders if folder.rank == rank}):
        path = Path(root) / f"health_{step}.json"
        try:
            with opened(path) as file:
                return _health(parse_json(file.read(MAX_BYTES)), step)
        except UnreadableError as error:
            damage = damage or (None if error.reason == "dump.missing" else str(path))
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            damage = damage or str(path)
    return FileDamage(damage, "dump.json", of_tensors=False) if damage else None


def read_health(dump: Dump, rank: int, step: int) -> Health | None:
    """Return the norms recorded with a step of a dump. Return None if there are none, if they cannot be read,
    or if no step before was healthy."""
    norms = read_norms(dump, rank, step)
    return norms if isinstance(norms, Health) and norms.step >= 0 else None


@dataclass(frozen=True, slots=True)
class WatchedSteps:
    """Steps that a flight recorder measured until it was closed, and the faults and warnings it reported."""

    steps: int
    reported: int
    written: float  # Unix seconds


def read_watched(folder: Path, rank: int) -> WatchedSteps | None:
    """Return what the flight recorder of a rank wrote into the folder of a run when it was closed, or None if
    no such file can be read."""
    try:
        with opened(folder / f"flight_recorder_{rank}.json") as file:
            content = parse_json(file.read(MAX_BYTES))
        steps, reported, written = (content[name] for name in ("steps", "reported", "written"))
        return WatchedSteps(int(steps), int(reported), float(written))
    except (UnreadableError, OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return None


def _health(content: Any, step: int) -> Health:
    """Return the norms at the healthy step and at the fault, from the content of the recorder's file. Raises
    TypeError, LookupError or ValueError for other content."""
    healthy = content["healthy_step"]
    if type(healthy) is not int or healthy >= step:
        raise ValueError(f"the healthy step is {healthy!r}")
    norms = {name: content[name] for name in _NORMS if name in content}
    repeated = content.get("repeated", [])
    damaged = [name for name, value in norms.items() if not isinstance(value, dict)]
    damaged += ["repeated"] * (not isinstance(repeated, list))
    return Health(
        healthy,
        _numbers(norms.get("weights")),
        _numbers(norms.get("weights_now")),
        _numbers(norms.get("outputs")),
        _numbers(norms["outputs_now"]) if "outputs_now" in norms else None,
        tuple(name for name in repeated if isinstance(name, str)) if isinstance(repeated, list) else (),
        tuple(damaged),
        str(content.get("reason", "")),
        content.get("broke_again") is not False,
        content.get("ranks_differ") is True,
    )


_NORMS: Final = ("weights", "weights_now", "outputs", "outputs_now")


def _numbers(content: Any) -> Mapping[str, float]:
    """Return the numbers of an object. Other values are skipped."""
    items = content.items() if isinstance(content, dict) else ()
    return {name: float(value) for name, value in items if type(value) in (int, float)}
