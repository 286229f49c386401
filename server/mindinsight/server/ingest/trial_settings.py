"""Settings that a tuner gave a trial, from the file of the study beside the folders of its trials.

A training has to write event files and nothing else to be tuned, so that often only the study knows the
settings. The file is not trusted: it is as long as `_MAX_BYTES` at most.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

from mindinsight.server.files.opener import open_stream
from mindinsight.server.store.file_names import STUDY
from mindinsight.server.store.mounts import BASE

TRIAL: Final = re.compile(r"trial_\d{4,}(_\d+)?")  # name of the folder of a trial
_MAX_BYTES: Final = 32 << 20  # as `tuning/published_study.py` writes at most

Settings = Mapping[str, Any]


def trial_settings(folder_id: str, path: str) -> Settings:
    """Return the settings of the trial that writes to a folder, {} if it is no trial of a readable study.
    ``path`` is the absolute path of the folder, which may be one of several below that of the trial."""
    parts = PurePosixPath(folder_id.removeprefix(BASE)).parts
    depth = next((depth for depth, part in enumerate(reversed(parts)) if TRIAL.fullmatch(part)), None)
    if depth is None:
        return {}
    folder = (PurePosixPath(path), *PurePosixPath(path).parents)[depth]
    file = str(folder.parent / STUDY)
    try:
        state = Path(file).lstat()
        return _trials(file, state.st_ino, state.st_size, state.st_mtime_ns).get(folder.name, {})
    except (OSError, ValueError, RecursionError):
        return {}


@lru_cache(maxsize=64)  # studies; each is read once for all of its trials
def _trials(file: str, *stamp: int) -> Mapping[str, Settings]:
    """Return the settings by the name of the trial's folder. ``stamp`` changes with the file. Raises OSError
    if the file cannot be read, and ValueError if it is damaged."""
    with open_stream(file) as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"longer than {_MAX_BYTES:,} bytes")
    study = json.loads(content)
    trials = study.get("trials") if isinstance(study, dict) else None
    known: dict[str, Settings] = {}
    for trial in trials if isinstance(trials, list) else ():
        run, params = (trial.get("run"), trial.get("params")) if isinstance(trial, dict) else (None, None)
        if isinstance(run, str) and isinstance(params, dict):
            known[PurePosixPath(run).name] = {
                name: value for name, value in params.items() if isinstance(value, int | float | str)
            }
    return known
