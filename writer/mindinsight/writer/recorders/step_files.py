"""Files of one step and rank in msprobe's layout, and descriptions of values in them."""

import cmath
import json
import linecache
import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeAlias

import numpy as np

from mindinsight.writer.recorders.recorder_config import ProbeConfig

TENSORS: Final = "dump_tensor_data"
_INDENT: Final = 1  # spaces, as in msprobe


class StepFiles:
    """Content of ``dump.json``, ``stack.json``, ``construct.json`` and ``debug.json`` in one directory.

    Entries are in the order of their last completion. ``write`` replaces each file atomically, so a crash
    leaves the files of the last write.
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
        self._checked = 0
        self._changed = False

    @property
    def tensors(self) -> Path:
        """Return the directory of tensor files."""
        return self.directory / TENSORS

    def count(self, name: str) -> int:
        """Return the index of this call among the step's calls of ``name``, from 0, and count the call."""
        number = self._calls[name]
        self._calls[name] += 1
        return number

    def add(self, entry: str, sections: Mapping[str, Any]) -> None:
        """Add sections (``output``, ...) to an entry and move the entry to the end."""
        self._data[entry] = {**self._data.pop(entry, {}), **sections}
        self._changed = True

    def count_checked(self) -> None:
        """Count a call whose outputs were checked. Such calls are entries only if an output is non-finite."""
        self._checked += 1
        self._changed = True

    def add_stack(self, entry: str, frames: Sequence[str]) -> None:
        """Record the lines of code that led to an entry. Entries with the same lines share a record."""
        self._stacks.setdefault(tuple(frames), []).append(entry)
        self._changed = True

    def add_parent(self, entry: str, parent: str | None) -> None:
        """Record the module that encloses an entry; None is the top level."""
        self._parents[entry] = parent
        self._changed = True

    def add_variable(self, entry: str, value: Any) -> None:
        """Add an entry of ``debug.json``. The caller may fill ``value`` until the files are written."""
        self._variables[entry] = value
        self._changed = True

    def contents(self) -> dict[str, str]:
        """Return the texts of the files by name, or {} if nothing has changed since the last call."""
        if not self._changed:
            return {}
        self._changed = False
        files: dict[str, Any] = {}
        if self._config.task != "structure":
            checked = {"checked": self._checked} if self._checked else {}
            files["dump.json"] = checked | self._document(self._config.level, self._data)
        if self._config.extra_info:
            groups = enumerate(self._stacks.items())
            files["stack.json"] = {str(number): [names, list(frames)] for number, (frames, names) in groups}
            files["construct.json"] = self._parents if self._config.level != "L1" else {}
        if self._variables:
            files["debug.json"] = self._document("debug", self._variables)
        return {name: json.dumps(content, indent=_INDENT) for name, content in files.items()}

    def write(self, contents: Mapping[str, str]) -> None:
        """Write the texts that ``contents`` returned."""
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


# Takes the name of a file and the tensor to write into it.
Save: TypeAlias = Callable[[str, Any], None]

_DEPTH: Final = 400  # of nested lists


class Describer:
    """Converter of values to msprobe's JSON.

    ``save`` receives the name of a file and each tensor that has values.
    """

    def __init__(self, md5: bool, save: Save | None) -> None:
        self._md5 = md5
        self._save = save

    def describe(self, value: Any, stem: str, depth: int = 0) -> Any:
        """Return a value as JSON, or None if it has no description. Names of its files begin with ``stem``.

        Lists, tuples, dictionaries and dataclasses become lists and objects of descriptions. ``stem`` is the
        entry and the side. File names append the places in lists and dictionaries. Values nested too deeply
        have no description.
        """
        if depth > _DEPTH:
            return None
        leaf = self.leaf(value, stem)
        if leaf is not None:
            return leaf
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            value = value._asdict()
        elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
            value = {name: getattr(value, name, None) for name in value.__dataclass_fields__}
        if isinstance(value, (list, tuple)):
            return [self.describe(item, f"{stem}.{n}", depth + 1) for n, item in enumerate(value)]
        if isinstance(value, Mapping):
            return {str(key): self.describe(item, f"{stem}.{key}", depth + 1) for key, item in value.items()}
        return plain_leaf(value)

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        """Return the JSON description of a tensor or another value of the framework, or None for any other
        value. The name of a tensor's file is ``stem``, with a suffix."""
        raise NotImplementedError


def is_finite(described: Any) -> bool:
    """Return True if all numbers and all extremes of arrays in a description are finite or missing."""
    if isinstance(described, list):
        return all(map(is_finite, described))
    if not isinstance(described, dict):
        return True
    if not isinstance(described.get("type"), str):  # a dictionary of the training's, in which any key may be
        return all(map(is_finite, described.values()))
    numbers = [described.get(key) for key in ("Max", "Min", "value")]
    return all(cmath.isfinite(number) for number in numbers if isinstance(number, (float, complex)))


def plain_leaf(value: Any) -> dict[str, Any] | None:
    """Return the JSON description of a number, text, slice, ellipsis or array, or None for any other
    value."""
    if isinstance(value, (bool, int, float, str)):
        return {"type": type(value).__name__, "value": value}
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        return {"type": "slice", "value": [None if bound is None else int(bound) for bound in bounds]}
    if value is Ellipsis:
        return {"type": "ellipsis", "value": "..."}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return {"type": type(value).__name__, "value": value.item()}
    return None


def _array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    leaf: dict[str, Any] = {"type": "numpy.ndarray", "dtype": str(array.dtype), "shape": list(array.shape)}
    if not array.size or array.dtype.kind not in "biuf":
        return {**leaf, "Max": None, "Min": None, "Mean": None, "Norm": None}
    with np.errstate(all="ignore"):
        numbers = array.max(), array.min(), array.mean(), np.linalg.norm(array)
    return {**leaf, **dict(zip(("Max", "Min", "Mean", "Norm"), (n.item() for n in numbers), strict=True))}


class Draft:
    """Entry under construction: its sections and copies of its tensors.

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
        """Return a value as JSON, and keep copies of its tensors to be written. Their files are named by the
        entry, the side and the place in the value."""
        return self._describer.describe(value, f"{self.name}.{side}")

    def takes(self, direction: str, side: str) -> bool:
        """Return True if the configuration records this side (input or output) of entries of this
        direction."""
        return direction in self._config.directions and side in self._config.sides

    def wants(self, direction: str, side: str) -> bool:
        """Return True if the entry is selected and the configuration records this side of its direction."""
        return self.selected and self.takes(direction, side)

    def describe_inputs(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Add the arguments of a call to the entry."""
        self.sections["input_args"] = self.describe(tuple(arguments), "input")
        self.sections["input_kwargs"] = self.describe(dict(named), "kwargs")

    def describe_outputs(self, output: Any) -> None:
        """Add the results of a call, one or a tuple or list of several, to the entry."""
        outputs = output if isinstance(output, (tuple, list)) else (output,)
        self.sections["output"] = self.describe(tuple(outputs), "output")

    def overflowed(self) -> bool:
        """Return True if the described outputs hold a non-finite number, False without outputs."""
        return not is_finite(self.sections.get("output", []))

    def _copy(self, file: str, tensor: Any) -> None:
        self.tensors.append((file, self._values.file_copy(tensor)))


# Takes an entry that is complete.
Commit = Callable[[Draft], None]


_OWN: Final = f"{Path(__file__).parent}{os.sep}"


def code_lines(frame: FrameType | None) -> list[str]:
    """Return ``File PATH, line N, in FUNCTION, CODE`` of each frame outside this package, innermost first.
    Without a frame the list is empty."""
    lines: list[str] = []
    while frame is not None:
        code = frame.f_code
        path = code.co_filename
        if not path.startswith(_OWN):
            text = linecache.getline(path, frame.f_lineno).strip()
            lines.append(f"File {path}, line {frame.f_lineno}, in {code.co_name}, \n {text}")
        frame = frame.f_back
    return lines


_log: Final = logging.getLogger(__name__)


def describe_variable(variable: Any, stem: str, config: ProbeConfig, values: Any) -> tuple[Any, list[Any]]:
    """Return a variable as JSON, or None if it has no description, and pairs of file name and tensor.
    ``stem`` is the beginning of the file names. ``values`` is the module that describes a framework's
    values. Without tensors to write there are no pairs."""
    name, _, side = stem.rpartition(".")
    draft = Draft(name, config, values)
    with values.quiet():
        return draft.describe(variable, side), draft.tensors


def hook_gradients(
    variable: Any,
    stem: str,
    config: ProbeConfig,
    values: Any,
    files: StepFiles,
    put: Callable[[Path, Any], None],
) -> None:
    """Record the gradients of a variable's tensors under the name ``stem`` when they are computed.

    Their descriptions go to ``files``, and ``put`` gets the directory and the tensors to write. ``values`` is
    the module that describes a framework's values. The gradient of a single tensor has no number in its name.
    Tensors that need no gradient have None.
    """
    tensors = list(values.tensors_of(variable))
    alone = values.is_tensor(variable)
    gradients: list[Any] = [None] * len(tensors)
    files.add_variable(stem, None if alone else gradients)

    def record(position: int, gradient: Any) -> None:
        try:
            name = stem if alone else f"{stem}.{position}"
            value, copies = describe_variable(gradient, name, config, values)
            gradients[position] = value
            files.add_variable(stem, value if alone else gradients)
            put(files.tensors, copies)
        except Exception:
            _log.exception("the gradient of %s is missing from the dump", stem)

    for position, tensor in enumerate(tensors):
        if values.needs_gradient(tensor):
            tensor.register_hook(partial(record, position))
