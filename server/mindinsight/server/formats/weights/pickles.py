"""Safe interpreter of pickles: nothing is imported, looked up or called.

A pickle is a program for a small stack machine (opcodes as in the standard module ``pickletools``). This
interpreter runs it over plain values only. A class or function becomes its ``Name``. A call becomes the
result of the caller's ``build`` for name and arguments, or an ``Opaque`` with the name.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import IO, Any, Final, cast

from mindinsight.server.formats.file_bytes import FileBytes
from mindinsight.server.formats.read_limits import PICKLE, UnreadableError
from mindinsight.server.formats.sanitizer import show_name


@dataclass(frozen=True, slots=True)
class Name:
    """Name of a class or function in a pickle."""

    module: str
    name: str


@dataclass(eq=False, slots=True)
class Opaque:
    """Placeholder of an object that is not built, with the ``state`` from the pickle."""

    name: str
    state: object = None


@dataclass(frozen=True, slots=True)
class Calls:
    """Callbacks for calls and for persistent ids. Both may return ``Opaque``."""

    build: Callable[[Name, tuple[Any, ...]], object]
    persistent: Callable[[object], object]


def interpret(file: IO[bytes] | FileBytes, calls: Calls) -> object:
    """Interpret one pickle and return its value.

    The file is left positioned after its end.

    Sets are returned as lists. ``read`` of the file must not allocate more than the file holds: pass
    ``FileBytes`` or bytes in memory. Raises UnreadableError for anything but a complete pickle.
    """
    machine = _Machine(calls)
    try:
        instructions = pickletools.genops(cast(IO[bytes], file))
        for count, (opcode, argument, _) in enumerate(instructions, 1):
            PICKLE.check_items(count)
            if opcode.name == "STOP":
                return machine.stack[-1]
            machine.step(opcode.name, argument)
    except UnreadableError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError, Warning) as error:
        raise UnreadableError("dump.bad_pickle", str(error)[:200]) from error
    raise UnreadableError("dump.bad_pickle", "no end")


@dataclass(slots=True)
class _Machine:
    """Stack machine that runs the opcodes of a pickle."""

    calls: Calls
    stack: list[Any] = field(default_factory=list)
    marked: list[list[Any]] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def step(self, name: str, argument: Any) -> None:
        """Run one opcode. Raises UnreadableError for an unknown one."""
        if name in _PUSH_ARGUMENT:
            self.stack.append(argument)
        elif name in _PUSH_NEW:
            self.stack.append(_PUSH_NEW[name]())
        else:
            action = _ACTIONS.get(name)
            if action is None:
                raise UnreadableError("dump.bad_pickle", f"opcode {name}")
            action(self, argument)

    def since_mark(self) -> list[Any]:
        """Pop and return the items since the last mark."""
        items, self.stack = self.stack, self.marked.pop()
        return items

    def call(self, function: object, arguments: object) -> None:
        """Push the result of a call."""
        if isinstance(function, Name) and isinstance(arguments, tuple):
            self.stack.append(self.calls.build(function, arguments))
        else:
            self.stack.append(Opaque(type(function).__name__))


def _key(value: object) -> Hashable:
    """Return a dictionary key that is cheap to hash.

    Nested tuples of a hostile pickle take exponential time.
    """
    if value is None or isinstance(value, str | int | float | bytes | Name):
        return value
    return Opaque("key")


def _mark(machine: _Machine, _: Any) -> None:
    machine.marked.append(machine.stack)
    machine.stack = []


def _put(machine: _Machine, index: Any) -> None:
    machine.memo[int(index)] = machine.stack[-1]


def _memoize(machine: _Machine, _: Any) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


def _get(machine: _Machine, index: Any) -> None:
    machine.stack.append(machine.memo[int(index)])


def _pop(machine: _Machine, _: Any) -> None:
    if machine.stack:
        machine.stack.pop()
    else:
        machine.since_mark()


def _pop_mark(machine: _Machine, _: Any) -> None:
    machine.since_mark()


def _extend(target: Any, items: list[Any]) -> None:
    if isinstance(target, list):
        target.extend(items)


def _set_items(target: Any, items: list[Any]) -> None:
    if isinstance(target, dict):
        target.update(zip(map(_key, items[0::2]), items[1::2], strict=False))


def _append(machine: _Machine, _: Any) -> None:
    item = machine.stack.pop()
    _extend(machine.stack[-1], [item])


def _appends(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    _extend(machine.stack[-1], items)


def _set_item(machine: _Machine, _: Any) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _set_items(machine.stack[-1], [key, value])


def _set_marked_items(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    _set_items(machine.stack[-1], items)


def _dict_of_mark(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.stack.append({})
    _set_items(machine.stack[-1], items)


def _list_of_mark(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.stack.append(items)


def _tuple_of_mark(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.stack.append(tuple(items))


def _tuple_of(count: int) -> Callable[[_Machine, Any], None]:
    def make_tuple(machine: _Machine, _: Any) -> None:
        if len(machine.stack) < count:
            raise LookupError("tuple of an empty stack")
        machine.stack[-count:] = [tuple(machine.stack[-count:])]

    return make_tuple


def _global(machine: _Machine, argument: Any) -> None:
    module, _, name = str(argument).partition(" ")
    machine.stack.append(Name(module, name))


def _stack_global(machine: _Machine, _: Any) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.stack.append(Name(show_name(module)[:200], show_name(name)[:200]))


def _reduce(machine: _Machine, _: Any) -> None:
    arguments, function = machine.stack.pop(), machine.stack.pop()
    machine.call(function, arguments)


def _new_with_keywords(machine: _Machine, _: Any) -> None:
    machine.stack.pop()
    _reduce(machine, None)


def _instance(machine: _Machine, argument: Any) -> None:
    items = machine.since_mark()
    module, _, name = str(argument).partition(" ")
    machine.call(Name(module, name), tuple(items))


def _object(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.call(items[0], tuple(items[1:]))


def _build(machine: _Machine, _: Any) -> None:
    state = machine.stack.pop()
    if isinstance(machine.stack[-1], Opaque):
        machine.stack[-1].state = state


def _persistent(machine: _Machine, _: Any) -> None:
    machine.stack.append(machine.calls.persistent(machine.stack.pop()))


_PUSH_ARGUMENT: Final = frozenset(
    ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT")
    + ("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8")
    + ("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8")
)
_PUSH_NEW: Final[dict[str, Callable[[], object]]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_SET": list,
    "EMPTY_DICT": dict,
    "EMPTY_TUPLE": tuple,
}
_ACTIONS: Final[dict[str, Callable[[_Machine, Any], None]]] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, argument: None),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _get),
    **dict.fromkeys(("APPENDS", "ADDITEMS"), _appends),
    **dict.fromkeys(("TUPLE", "FROZENSET"), _tuple_of_mark),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), _reduce),
    "MARK": _mark,
    "MEMOIZE": _memoize,
    "POP": _pop,
    "POP_MARK": _pop_mark,
    "DUP": lambda machine, argument: machine.stack.append(machine.stack[-1]),
    "LIST": _list_of_mark,
    "DICT": _dict_of_mark,
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "APPEND": _append,
    "SETITEM": _set_item,
    "SETITEMS": _set_marked_items,
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "NEWOBJ_EX": _new_with_keywords,
    "INST": _instance,
    "OBJ": _object,
    "BUILD": _build,
    "BINPERSID": _persistent,
}
