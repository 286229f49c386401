"""Files of one step and rank in msprobe's layout."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mindinsight.writer.precision_debugger.probe_config import ProbeConfig

TENSORS: Final = "dump_tensor_data"
_INDENT: Final = 1


class StepFiles:
    """Content of ``dump.json``, ``stack.json``, ``construct.json`` and ``debug.json`` in one directory.

    Entries keep the order in which they were completed last. ``write`` replaces each file as a whole, so a
    crash leaves the files of the last write.
    """

    def __init__(self, directory: Path, config: ProbeConfig, framework: str) -> None:
        self.directory = directory
        self._config = config
        self._framework = framework
        self._data: dict[str, dict[str, Any]] = {}
        self._stacks: dict[tuple[str, ...], list[str]] = {}
        self._parents: dict[str, str | None] = {}
        self._variables: dict[str, Any] = {}
        self._calls: Counter[str] = Counter()
        self._changed = False

    @property
    def tensors(self) -> Path:
        """Directory of the tensors' files."""
        return self.directory / TENSORS

    def count(self, name: str) -> int:
        """Number of this call of ``name`` in the step, from 0."""
        number = self._calls[name]
        self._calls[name] += 1
        return number

    def add(self, entry: str, sections: Mapping[str, Any]) -> None:
        """Add sections (``output``, ...) to an entry, which moves to the end."""
        self._data[entry] = {**self._data.pop(entry, {}), **sections}
        self._changed = True

    def add_stack(self, entry: str, frames: Sequence[str]) -> None:
        """Note the code an entry was called from; entries of the same code share a record."""
        self._stacks.setdefault(tuple(frames), []).append(entry)
        self._changed = True

    def add_parent(self, entry: str, parent: str | None) -> None:
        """Note the entry that another lies in."""
        self._parents[entry] = parent
        self._changed = True

    def add_variable(self, entry: str, value: Any) -> None:
        """Add an entry of ``debug.json``; ``value`` may be completed until the files are written."""
        self._variables[entry] = value
        self._changed = True

    def contents(self) -> dict[str, str]:
        """Names of files, and their texts; empty when nothing has changed since the last time."""
        if not self._changed:
            return {}
        self._changed = False
        files: dict[str, Any] = {}
        if self._config.task != "structure":
            files["dump.json"] = self._document(self._config.level, self._data)
        if self._config.extra_info:
            groups = enumerate(self._stacks.items())
            files["stack.json"] = {str(number): [names, list(frames)] for number, (frames, names) in groups}
            files["construct.json"] = self._parents if self._config.level != "L1" else {}
        if self._variables:
            files["debug.json"] = self._document("debug", self._variables)
        return {name: json.dumps(content, indent=_INDENT) for name, content in files.items()}

    def write(self, contents: Mapping[str, str]) -> None:
        """Write what ``contents`` gave."""
        for name, text in contents.items():
            self.directory.mkdir(parents=True, exist_ok=True)
            unfinished = self.directory / f".{name}.unfinished"
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(self.directory / name)

    def _document(self, level: str, data: Mapping[str, Any]) -> dict[str, Any]:
        task = "tensor" if self._config.saves_tensors else self._config.task
        return {
            "task": task,
            "level": level,
            "framework": self._framework,
            "dump_data_dir": str(self.tensors) if self._config.saves_tensors else None,
            "data": data,
        }
