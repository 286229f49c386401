"""The Python blocks of the documents, run as they are written, with stand-ins for what they take as given.

A block that names a framework is run with that framework alone: `tests/interop/documents_in_torch.py`.
"""

import ast
import builtins
import contextlib
import importlib.util
import io
import queue
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

ROOT: Final = Path(__file__).parents[1]
_BLOCK: Final = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Words of a block that say which framework it is for. The rest of the documents is for any loop.
_FRAMEWORKS: Final = {
    "torch": ("FlightRecorder", "record_gradients(model)", "DumpRecorder(model", "PrecisionDebugger"),
    "mindspore": (
        *("from mindspore", "mindspore.", "nn.", "Print()", "record_gradients(network)", "grad_fn"),
    ),
    "a store": ("s3://",),  # tests/writer/files
    "a landscape": (
        "gen_landscapes_with_multi_process",
    ),  # has a training left out: tests/interop/in_mindspore.py
}
# Blocks that are run elsewhere, or are no Python of a user's.
_ELSEWHERE: Final = ("docs/get-started.md", "docs/zh/get-started.md", "docs/decisions")


def python_blocks() -> list[tuple[str, str, str]]:
    """Document, code and framework ("" for none) of each block that is run, those of both languages once."""
    blocks: dict[str, tuple[str, str, str]] = {}
    for path in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        document = path.relative_to(ROOT).as_posix()
        if not document.startswith(_ELSEWHERE):
            for code in _BLOCK.findall(path.read_text(encoding="utf-8")):
                blocks.setdefault(code, (document, code, framework_of(code)))
    return list(blocks.values())


def framework_of(code: str) -> str:
    """Return the framework that a block needs, "" for none."""
    needed = [name for name, words in _FRAMEWORKS.items() if any(word in code for word in words)]
    return needed[-1] if needed else ""


def needed_names(code: str) -> set[str]:
    """Return the names that a block uses and does not define."""
    nodes = list(ast.walk(ast.parse(code)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return {node.id for node in names} - bound - set(vars(builtins))


def run_block(code: str, given: Mapping[str, Callable[[], Any]]) -> None:
    """Run a block in the current directory. Raises KeyError for a name that is neither given nor defined."""
    names = {name: given[name]() for name in sorted(needed_names(code))}
    with contextlib.redirect_stdout(io.StringIO()), patch.object(sys, "argv", ["train.py"]):
        exec(compile(code, "block", "exec"), names)


class Model:
    """A training by MindSpore's interface that calls its callbacks, for two steps."""

    def train(self, epochs: int, dataset: Any, callbacks: Any, dataset_sink_mode: bool = True) -> None:
        from mindinsight.writer.callbacks import CallbackList, RunContext

        facts: dict[str, Any] = {"mode": "train", "epoch_num": 1, "batch_num": 2, "net_outputs": 0.5}
        facts |= {"train_network": None, "network": None, "train_dataset": None, "optimizer": None}
        context = RunContext({**facts, "cur_step_num": 0, "cur_epoch_num": 1})
        with CallbackList(callbacks) as every:
            every.on_train_begin(context)
            for step in (1, 2):
                context.original_args()["cur_step_num"] = step
                every.on_train_step_begin(context)
                every.on_train_step_end(context)
            every.on_train_end(context)


def stand_ins() -> dict[str, Callable[[], Any]]:
    """What blocks take as given, by name."""
    from mindinsight import writer
    from mindinsight.writer.callbacks import Callback

    names: dict[str, Callable[[], Any]] = {name: _attribute(writer, name) for name in writer.__all__}
    return {
        **names,
        "Callback": lambda: Callback,
        "loss": lambda: 20.0,
        "best": lambda: 0.5,
        "step": lambda: 1,
        "batch": lambda: 1,
        "queue": queue.Queue,
        "weights": lambda: np.ones(8),
        "weight": lambda: np.ones((2, 2), np.float32),
        "hidden": lambda: np.ones((2, 3), np.float32),
        "graph": lambda: None,
        "record": lambda: writer.SummaryRecord("summary/given"),
        "get_rank": lambda: lambda: 0,
        "model": Model,
        "dataset": list,
        "path": lambda: "alexnet.journal",
    }


def _attribute(module: Any, name: str) -> Callable[[], Any]:
    return lambda: getattr(module, name)


def has(framework: str) -> bool:
    """Return True if a framework is installed."""
    return importlib.util.find_spec(framework) is not None
