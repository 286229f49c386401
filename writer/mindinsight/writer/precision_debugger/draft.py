"""An entry of a dump while its call or module runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindinsight.writer.precision_debugger.describer import is_finite
from mindinsight.writer.precision_debugger.probe_config import ProbeConfig


class Draft:
    """Sections of an entry, and copies of its tensors, until the entry is complete.

    ``values`` is the module that describes a framework's values.
    """

    def __init__(self, name: str, config: ProbeConfig, values: Any) -> None:
        self.name = name
        self.selected = True  # by scope and list
        self.sections: dict[str, Any] = {}
        self.tensors: list[tuple[str, Any]] = []
        self._config = config
        self._values = values
        save = self._copy if config.saves_tensors else None
        self._describer = values.Describer(config.summary_mode == "md5", save)

    def describe(self, value: Any, side: str) -> Any:
        """A value as JSON; its files are named by the entry, the side and the place in the value."""
        return self._describer.describe(value, f"{self.name}.{side}")

    def takes(self, direction: str, side: str) -> bool:
        """Whether the configuration asks for this side of forward or backward entries."""
        return direction in self._config.directions and side in self._config.sides

    def overflowed(self) -> bool:
        """Whether a value that came out is not finite."""
        return not is_finite(self.sections.get("output", []))

    def _copy(self, file: str, tensor: Any) -> None:
        self.tensors.append((file, self._values.host_copy(tensor)))


# Takes an entry that is complete.
Commit = Callable[[Draft], None]
