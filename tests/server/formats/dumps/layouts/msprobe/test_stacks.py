"""Call stacks and module trees beside dump.json."""

import itertools
import json
from typing import Any

from mindinsight.server.formats.dumps import (
    list_operators,
    open_dump,
)
from mindinsight.server.formats.dumps.layouts.msprobe.stacks import ancestors, stacks_of_entries
from mindinsight.server.formats.graphs.call_stacks import Frame


def test_stacks_of_older_files() -> None:
    frames = [
        "File /a (b).py, line 3, in f, \n x = 1",
        "File <string>, line 1, in <module>, \n",
        "nonsense",
        5,
    ]
    assert stacks_of_entries({"Torch.a.0.forward": frames, "bad": 3}) == {
        "Torch.a.0.forward": (
            Frame("/a (b).py", 3, 0, "f", "x = 1"),
            Frame("<string>", 1, 0, "<module>", ""),
        )
    }


def test_trees_that_loop() -> None:
    assert ancestors({"a": "b", "b": "c", "c": "b"}, "a") == ("c", "b")
    assert ancestors({"a": None}, "a") == ()
    assert ancestors({"a": 5}, "a") == ()


def test_a_loop_in_the_tree_is_named(root: Any) -> None:
    """Every operator is listed all the same, and a long chain of modules is no loop."""
    file = root / "step0" / "rank0" / "construct.json"
    count = len(list_operators(open_dump(root), 0, 0))
    parents = json.loads(file.read_text())
    chain = [f"Module.m{i}.M.forward.0" for i in range(5000)]
    file.write_text(json.dumps(parents | dict(itertools.pairwise(chain))))
    assert list_operators(open_dump(root), 0, 0).damage == ()
    file.write_text(json.dumps(parents | {"Module.fc1.Linear.forward.0": "Functional.linear.0.forward"}))
    listed = list_operators(open_dump(root), 0, 0)
    assert len(listed) == count
    (damage,) = listed.damage
    assert (damage.path, damage.reason) == (str(file), "dump.loop")
    assert damage.detail in ("Module.fc1.Linear.forward.0", "Functional.linear.0.forward")
