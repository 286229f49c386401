from typing import Any

import pytest

from mindinsight.server.graph.model.paths import operator_path, scopes_of, unique_paths


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (("Default/a/Add-op3", "Default/a", "Add", "7"), "Default/a/Add-op3"),
        (("", "Default/a", "Add", "7"), "Default/a/Add-op7"),
        (("Default/Image[:Image]", "Default", "ImageSummary", "2"), "Default/ImageSummary-op2"),
        (("/lead//Add-op1/", "x", "Add", "1"), "lead/Add-op1"),
        (("", "", "", "4"), "call-op4"),
    ],
)
def test_the_path_of_an_operator(given: Any, path: str) -> None:
    assert operator_path(*given) == path


def test_scopes_open_before_what_is_in_them() -> None:
    assert list(scopes_of(["a/b/x", "a/y", "c/z", "top"])) == ["a", "a/b", "c"]


def test_a_name_that_is_taken_is_changed_and_all_others_stay() -> None:
    assert unique_paths(["a/x", "a/y"]) == ["a/x", "a/y"]
    assert unique_paths(["a/x", "a/x", "a/x", "a/x#2"]) == ["a/x", "a/x#2", "a/x#3", "a/x#2#2"]
    assert unique_paths(["a/x", "a/x/y"]) == ["a/(x)", "a/x/y"]
