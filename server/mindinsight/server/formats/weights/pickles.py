"""Safe interpreter of pickles: nothing is imported, looked up or called.

A pickle is a program for a small stack machine (opcodes as in the standard module ``pickletools``). This
interpreter runs it over plain values only. A class or function becomes its ``Name``. A call becomes the
result of the caller's ``build`` for name and arguments, or an ``Opaque`` with the name.
"""

import pickletools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import IO, Any, Final, cast

from mindinsight.server.formats.file_bytes import FileBytes
from mindinsight.server.formats.read_limits import PICKLE, UnreadableError, unreadable
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


_BROKEN: Final = (ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError, Warning)


def interpret(file: IO[bytes] | FileBytes, calls: Calls) -> object:
    """Interpret one pickle by the callbacks ``calls`` and return its value. Raises UnreadableError for
    anything but a complete pickle. The file is left positioned after its end. Sets are returned as lists.
    ``read`` of the file must not allocate more than the file holds: pass ``FileBytes`` or bytes in memory."""
    machine = _Machine(calls)
    with unreadable("dump.bad_pickle", "pickle", *_BROKEN):
        instructions = pickletools.genops(cast(IO[bytes], file))
        for count, (opcode, argument, _) in enumerate(instructions, 1):
            PICKLE.check_items(count)
            if opcode.name == "STOP":
                return machine.stack[-1]
            machine.step(opcode.name, argument)
    raise UnreadableError("dump.bad_pickle", "the pickle has no STOP opcode")


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

    def push(self, value: object) -> None:
        """Push a value."""
        self.stack.append(value)

    def call(self, function: object, arguments: object) -> None:
        """Push the result of a call."""
        if isinstance(function, Name) and isinstance(arguments, tuple):
            self.push(self.calls.build(function, arguments))
        else:
            self.push(Opaque(type(function).__name__))

    def extend(self, items: list[Any]) -> None:
        """Extend the list on top of the stack. Ignored for an opaque object."""
        if isinstance(self.stack[-1], list):
            self.stack[-1].extend(items)

    def set_items(self, items: list[Any]) -> None:
        """Set keys and values in the dictionary on top of the stack. Ignored for an opaque object."""
        if isinstance(self.stack[-1], dict):
            self.stack[-1].update(zip(map(_key, items[0::2]), items[1::2], strict=False))


def _key(value: object) -> Hashable:
    """Return a number, text or name unchanged as a dict key, and a placeholder for any other key. Nested
    tuples of a hostile pickle take exponential time to hash."""
    if value is None or isinstance(value, str | int | float | bytes | Name):
        return value
    return Opaque("key")


def _mark(machine: _Machine, _: Any) -> None:
    machine.marked.append(machine.stack)
    machine.stack = []


def _put(machine: _Machine, index: Any) -> None:
    machine.memo[int(index)] = machine.stack[-1]


def _get(machine: _Machine, index: Any) -> None:
    machine.push(machine.memo[int(index)])


def _pop(machine: _Machine, _: Any) -> None:
    if machine.stack:
        machine.stack.pop()
    else:
        machine.since_mark()


def _dict_of_mark(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.push({})
    machine.set_items(items)


def _pop_items(machine: _Machine, count: int) -> list[Any]:
    """Pop and return the last ``count`` items. Raises LookupError if there are fewer."""
    if len(machine.stack) < count:
        raise LookupError("the stack is empty")
    items = machine.stack[-count:]
    del machine.stack[-count:]
    return items


def _name(argument: Any) -> Name:
    """Return the name in the argument of a GLOBAL or INST opcode."""
    module, _, name = str(argument).partition(" ")
    return Name(module, name)


def _stack_global(machine: _Machine, _: Any) -> None:
    module, name = (show_name(part)[:200] for part in _pop_items(machine, 2))
    machine.push(Name(module, name))


def _new_with_keywords(machine: _Machine, _: Any) -> None:
    function, arguments, _ = _pop_items(machine, 3)
    machine.call(function, arguments)


def _object(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.call(items[0], tuple(items[1:]))


def _build(machine: _Machine, _: Any) -> None:
    state = machine.stack.pop()
    if isinstance(machine.stack[-1], Opaque):
        machine.stack[-1].state = state


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
_ACTIONS: Final[dict[str, Callable[[_Machine, Any], object]]] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, _: None),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _get),
    **dict.fromkeys(("APPENDS", "ADDITEMS"), lambda machine, _: machine.extend(machine.since_mark())),
    **dict.fromkeys(("TUPLE", "FROZENSET"), lambda machine, _: machine.push(tuple(machine.since_mark()))),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), lambda machine, _: machine.call(*_pop_items(machine, 2))),
    "MARK": _mark,
    "MEMOIZE": lambda machine, _: _put(machine, len(machine.memo)),
    "POP": _pop,
    "POP_MARK": lambda machine, _: machine.since_mark(),
    "DUP": lambda machine, _: machine.push(machine.stack[-1]),
    "LIST": lambda machine, _: machine.push(machine.since_mark()),
    "DICT": _dict_of_mark,
    "TUPLE1": lambda machine, _: machine.push(tuple(_pop_items(machine, 1))),
    "TUPLE2": lambda machine, _: machine.push(tuple(_pop_items(machine, 2))),
    "TUPLE3": lambda machine, _: machine.push(tuple(_pop_items(machine, 3))),
    "APPEND": lambda machine, _: machine.extend(_pop_items(machine, 1)),
    "SETITEM": lambda machine, _: machine.set_items(_pop_items(machine, 2)),
    "SETITEMS": lambda machine, _: machine.set_items(machine.since_mark()),
    "GLOBAL": lambda machine, argument: machine.push(_name(argument)),
    "STACK_GLOBAL": _stack_global,
    "NEWOBJ_EX": _new_with_keywords,
    "INST": lambda machine, argument: machine.call(_name(argument), tuple(machine.since_mark())),
    "OBJ": _object,
    "BUILD": _build,
    "BINPERSID": lambda machine, _: machine.push(machine.calls.persistent(machine.stack.pop())),
}
