"""``%load_ext mindinsight`` and ``%mindinsight start --logdir runs``, as people type it for TensorBoard."""

from typing import Any

import pytest

import mindinsight
from mindinsight.server.client import notebook_magic
from mindinsight.server.errors import BadSettings


class Shell:
    def __init__(self) -> None:
        self.magics: dict[Any, Any] = {}

    def register_magic_function(self, function: Any, kind: Any, name: Any) -> None:
        self.magics[kind, name] = function


@pytest.fixture
def magic(monkeypatch: pytest.MonkeyPatch) -> Any:
    shell, shown = Shell(), []
    monkeypatch.setattr(notebook_magic, "show", lambda *bases, **options: shown.append((bases, options)))
    mindinsight.load_ipython_extension(shell)
    return shell.magics["line", "mindinsight"], shown


def test_the_options_of_tensorboard_and_ours_are_taken(magic: Any) -> None:
    run, shown = magic
    run("start --logdir 'my runs' --port 6006")
    run("start --summary-base-dir a --logdir b --height 400 --view text")
    run("start")
    assert shown == [
        ((["my runs"],), {"view": "scalar", "height": 800, "port": 6006}),
        ((["a", "b"],), {"view": "text", "height": 400, "port": None}),
        (((".",),), {"view": "scalar", "height": 800, "port": None}),
    ]


@pytest.mark.parametrize("line", ["", "stop", "start --port x", "start --nothing"])
def test_a_wrong_option_is_told_and_ends_no_process(magic: Any, line: Any) -> None:
    run, shown = magic
    with pytest.raises(BadSettings, match="%mindinsight"):
        run(line)
    assert shown == []
