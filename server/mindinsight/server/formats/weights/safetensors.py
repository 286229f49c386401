"""Reader of safetensors files (after the format description of the safetensors project).

A file is eight bytes with the length of a JSON header, the header (name: dtype, shape, begin and end), and
the data.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.arrays.element_types import Array, count_of, decode, element_type
from mindinsight.server.formats.arrays.lazy_array import Held, Values, stored_as
from mindinsight.server.formats.file_bytes import length_of, opened, read_bytes
from mindinsight.server.formats.read_limits import SAFETENSORS, UnreadableError, unreadable
from mindinsight.server.formats.sanitizer import show_name
from mindinsight.server.formats.text_files import parse_json

_DTYPES: Final = {
    "BOOL": "bool",
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "BF16": "bfloat16",
    "C64": "complex64",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E8M0": "float8_e8m0fnu",
    "F4": "float4_e2m1",
}


@dataclass(frozen=True, slots=True)
class SafeTensor:
    """Type, shape and position of one tensor."""

    dtype: str
    shape: tuple[int, ...]
    offset: int  # bytes from the start of the file
    size: int  # bytes
    error: UnreadableError | None = None  # if the header describes a tensor that the file does not hold


@dataclass(frozen=True, slots=True)
class SafeTensorFile:
    """Safetensors file: its tensors by name, with an error in place of each invalid entry."""

    path: Path
    tensors: dict[str, SafeTensor | UnreadableError]
    metadata: dict[str, str]


def open_safetensors(path: Path) -> SafeTensorFile:
    """List the tensors of a file, with the error of each wrong entry in its place. Raises UnreadableError if
    the header cannot be read."""
    with opened(path) as file:
        length = length_of(file)
        header_size = int.from_bytes(file.read(8), "little")
        if length < 8 or 8 + header_size > length:
            raise UnreadableError("dump.truncated", f"{length} / {8 + header_size} B")
        SAFETENSORS.check_size(header_size)
        header = _parse_header(file.read(header_size))
    metadata = header.pop("__metadata__", {})
    tensors = {
        show_name(name): _entry_or_error(entry, 8 + header_size, length) for name, entry in header.items()
    }
    texts = metadata if isinstance(metadata, dict) else {}
    return SafeTensorFile(path, tensors, {show_name(key): show_name(value) for key, value in texts.items()})


def read_safetensor(file: SafeTensorFile, name: str) -> Array:
    """Read one tensor, read-only. Raises UnreadableError."""
    tensor = file.tensors.get(name, UnreadableError("dump.missing", f"no tensor {name[:200]}"))
    if isinstance(tensor, UnreadableError):
        raise tensor
    if tensor.error is not None:
        raise tensor.error
    with opened(file.path) as stream:
        raw = read_bytes(stream, tensor.offset, tensor.size)
    return decode(raw, tensor.dtype, tensor.shape)


def safetensor_values(file: SafeTensorFile, name: str) -> Values:
    """Return the values of one tensor, read in parts, or whole if several elements share a byte. Raises
    UnreadableError."""
    tensor = file.tensors.get(name)
    if not isinstance(tensor, SafeTensor) or tensor.error:
        return Held(read_safetensor(file, name))
    values = stored_as(file.path, tensor.offset, tensor.shape, tensor.dtype)
    return values or Held(read_safetensor(file, name))


def _parse_header(text: bytes) -> dict[str, Any]:
    """Parse the JSON header. Raises UnreadableError."""
    with unreadable("dump.bad_header", "header", ValueError, RecursionError):
        header = parse_json(text.decode("utf-8", "replace"), SAFETENSORS)
    if not isinstance(header, dict):
        raise UnreadableError("dump.bad_header", "the header is not an object")
    return header


def _entry_or_error(entry: object, start: int, length: int) -> SafeTensor | UnreadableError:
    """Return a tensor of the header, or the error."""
    try:
        return _parse_entry(entry, start, length)
    except UnreadableError as error:
        return error


def _parse_entry(entry: Any, start: int, length: int) -> SafeTensor:
    """Parse one tensor of the header and check it against the length of the file. Raises UnreadableError."""
    with unreadable("dump.bad_header", f"entry {str(entry)[:100]}", TypeError, KeyError, ValueError):
        name, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
        whole = all(type(number) is int for number in (*shape, begin, end))
    if not whole or not 0 <= begin <= end:
        raise UnreadableError("dump.bad_header", f"entry {str(entry)[:100]}")
    dtype = _DTYPES.get(name, "") if isinstance(name, str) else ""
    size = element_type(dtype or str(name)).size(count_of(shape))
    error = None
    if size != end - begin or start + end > length:
        error = UnreadableError("dump.truncated", f"{length} / {start + end} B")
    return SafeTensor(dtype, shape, start + begin, size, error)
