import collections
import datetime
import io
import pickle
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.pickles import Calls, Name, Opaque, interpret

CALLS = Calls(lambda name, arguments: Opaque(name.name), lambda identity: ("stored", identity))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


def run(content: Any, calls: Any = CALLS) -> Any:
    return interpret(io.BytesIO(content), calls)


@given(PLAIN, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_values_come_back_in_every_protocol(value: Any, protocol: Any) -> None:
    recorded = []
    calls = Calls(lambda name, arguments: recorded.append(name) or Opaque("x"), lambda identity: None)
    result = run(pickle.dumps(value, protocol), calls)
    assert result == value or recorded  # old protocols make bytes by a call


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_sets_come_as_lists(protocol: Any) -> None:
    result = run(pickle.dumps({"a": {1}, "b": (1, 2, 3, 4)}, protocol))
    assert result["b"] == (1, 2, 3, 4)
    assert result["a"] == [1] or isinstance(result["a"], Opaque)


class Touches:
    """Its pickle would make a file."""

    def __init__(self, path: Any) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, Any]:
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_is_called(tmp_path: Path, protocol: Any) -> None:
    result = run(pickle.dumps([Touches(tmp_path / "touched"), 7], protocol))
    assert isinstance(result[0], Opaque)
    assert result[0].name == "open"
    assert result[1] == 7
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_objects_of_classes_keep_their_state_only(protocol: Any) -> None:
    value = [Fraction(1, 3), datetime.date(2024, 1, 2), collections.Counter("ab"), ValueError("x")]
    result = run(pickle.dumps(value, protocol))
    assert len(result) == 4
    assert all(isinstance(item, Opaque) for item in result)


def test_nothing_is_imported() -> None:
    result = run(b"cno_such_module_anywhere\nthing\n.")
    assert result == Name("no_such_module_anywhere", "thing")


def test_persistent_ids_are_asked() -> None:
    assert run(b"(X\x01\x00\x00\x00aK\x05tQ.") == ("stored", ("a", 5))


def test_old_opcodes() -> None:
    assert run(b"(lp0\nI1\naI2\na.") == [1, 2]
    assert run(b"(dp0\nS'k'\nI1\ns.") == {"k": 1}
    assert run(b"(I1\nI2\nd.") == {1: 2}
    assert run(b"I1\nI2\n0.") == 1
    assert run(b"(I1\n1I2\n.") == 2
    assert run(b"I1\n2\x86.") == (1, 1)
    assert run(b"(I1\nI2\n0t.") == (1,)
    assert isinstance(run(b"(I1\nios\nsystem\n."), Opaque)
    assert isinstance(run(b"(cos\nsystem\nI1\no."), Opaque)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b".",
        b"garbage",
        b"\x80\x02]q\x00K\x01",  # no end
        b"K\x01\x85\x85h\x09.",  # a memo that was never put
        b"t.",  # no mark
        b"e.",
        b"0.",
        b"\x87.",
        b"s.",
        b"R.",
        b"\x80\x02X\xff\xff\xff\x7fabc.",  # a text longer than the file
        b"\x82\x01.",  # extension registry
        b"\x97.",  # buffers outside
    ],
)
def test_what_is_no_pickle(content: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"dump.bad_pickle"):
        run(content)


def test_a_memo_far_away_takes_no_room() -> None:
    assert run(b"K\x05r\xff\xff\xff\x7fj\xff\xff\xff\x7f.") == 5


def test_shared_tuples_are_not_hashed_for_ever() -> None:
    doubled = b"K\x01" + b"2\x86" * 200  # a tuple of two of the same, two hundred deep
    result = run(b"}" + doubled + b"K\x02s.")
    assert len(result) == 1
    assert isinstance(next(iter(result)), Opaque)


def test_deep_nesting_is_no_recursion() -> None:
    result = run(b"]" * 100_000 + b"a" * 99_999 + b".")
    depth = 0
    while result:
        result, depth = result[0], depth + 1
    assert depth == 99_999


class Keywords:
    def __getnewargs_ex__(self) -> tuple[Any, Any]:
        return (1,), {"two": 2}


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_objects_made_with_keywords(protocol: int) -> None:
    calls = Calls(lambda name, arguments: (name.name, arguments), lambda identity: None)
    content = pickle.dumps(Keywords(), protocol)
    result = run(content, calls)
    if protocol > 2:  # before, it is a call of a partial function
        assert result == ("Keywords", (1,))
    assert result is not None


def test_calling_what_cannot_be_called() -> None:
    assert isinstance(run(b"K\x01K\x02\x85R."), Opaque)


def test_the_file_is_left_behind_the_pickle() -> None:
    file = io.BytesIO(pickle.dumps("first") + pickle.dumps("second") + struct.pack("<Q", 7))
    assert [interpret(file, CALLS), interpret(file, CALLS)] == ["first", "second"]
    assert file.read() == struct.pack("<Q", 7)
