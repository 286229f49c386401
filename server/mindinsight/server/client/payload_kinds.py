"""Kinds of payloads in Python and on the command line: how each is decoded, written into files and printed.

A kind of `mindinsight.proto.kinds` that is not in the table is read as bytes.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import numpy as np

from mindinsight.server.formats import media_types
from mindinsight.server.formats.payloads import chart_payloads, code_payloads, media_payloads, tensor_payloads
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.wav import wav
from mindinsight.server.types import PAYLOAD_KINDS

T = TypeVar("T")
_CURVE: Final = ("threshold", *chart_payloads.ROWS)  # columns of a precision-recall curve


@dataclass(frozen=True, slots=True)
class Payload(Generic[T]):
    """Kind of payloads that are decoded, written into files, and printed.

    `write` gets a path without ending and returns the path written. `rows` returns the columns that
    `mindinsight get` prints of a value, in one row or several.
    """

    decode: Callable[[bytes], T]
    write: Callable[[Path, T], Path]
    rows: Callable[[T], Iterable[Mapping[str, Any]]]


def decoder(kind: str) -> Callable[[bytes], Any]:
    """Return the decoder of a kind, or `bytes` for a kind without one."""
    return PAYLOADS[kind].decode if kind in PAYLOADS else bytes


def _with_ending(stem: Path, ending: str) -> Path:
    """Append an ending to a path. A dot in its name does not start an ending."""
    return stem.with_name(stem.name + ending)


def _write_encoded(stem: Path, encoded: bytes, kind: media_types.MediaType | None) -> Path:
    """Write bytes as recorded, with the ending of their media type or `.bin`, and return the path."""
    target = _with_ending(stem, kind.suffix if kind else ".bin")
    target.write_bytes(encoded)
    return target


def _write_text(stem: Path, ending: str, text: str) -> Path:
    """Write a text in UTF-8 with unchanged line ends, and return the path."""
    target = _with_ending(stem, ending)
    target.write_text(text, encoding="utf-8", newline="")
    return target


def _sound_row(value: media_payloads.Sound) -> dict[str, Any]:
    """Return media type and bytes, and of WAV files rate, channels, bits of a sample and frames."""
    kind = media_types.sound_type(value.encoded)
    facts: dict[str, Any] = dict.fromkeys(("rate", "channels", "bits", "frames"))
    with suppress(UnreadableError):
        header = wav(value.encoded)
        facts = {name: getattr(header, name) for name in facts}
    media_type = kind.media_type if kind else None
    return {"type": media_type, **facts, "bytes": len(value.encoded), "label": value.label}


def _image_row(value: media_payloads.Image) -> dict[str, Any]:
    """Return width, height and size in bytes of a picture. Width and height are None if its header lacks
    them."""
    width, height = media_types.picture_size(value.encoded)
    return {"width": width or None, "height": height or None, "bytes": len(value.encoded)}


def _chart_rows(value: tuple[chart_payloads.Category, ...]) -> Iterator[dict[str, Any]]:
    """Yield a row for each chart: its category, title, expressions and margins."""
    for category in value:
        for chart in category.charts:
            yield {"category": category.title, **asdict(chart)}


def _write_curve(stem: Path, value: chart_payloads.PrCurve) -> Path:
    """Write `<step>.csv`, with numbers in the shortest form that reads back exactly, and return the path."""
    target = _with_ending(stem, ".csv")
    with target.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, _CURVE)
        table.writeheader()
        table.writerows(_curve_rows(value))
    return target


def _curve_rows(value: chart_payloads.PrCurve) -> Iterator[dict[str, float]]:
    """Yield threshold, counts, precision and recall for each threshold."""
    for threshold, column in zip(value.thresholds.tolist(), value.rows.T.tolist(), strict=True):
        yield dict(zip(_CURVE, (threshold, *column), strict=True))


def _write_tensor(stem: Path, value: tensor_payloads.Tensor) -> Path:
    """Write `<step>.npy` with the recorded type and shape, and return the path."""
    target = _with_ending(stem, ".npy")
    np.save(target, value.values, allow_pickle=False)
    return target


PAYLOADS: Final[dict[str, Payload[Any]]] = {
    "image": Payload(
        media_payloads.image,
        lambda stem, value: _write_encoded(stem, value.encoded, media_types.picture_type(value.encoded)),
        lambda value: [_image_row(value)],
    ),
    "audio": Payload(
        media_payloads.sound,
        lambda stem, value: _write_encoded(stem, value.encoded, media_types.sound_type(value.encoded)),
        lambda value: [_sound_row(value)],
    ),
    "text": Payload(
        media_payloads.text,
        lambda stem, value: _write_text(stem, ".md", value),
        lambda value: [{"text": value}],
    ),
    "tensor": Payload(
        tensor_payloads.tensor,
        _write_tensor,
        lambda value: [{"dtype": str(value.values.dtype), "shape": list(value.values.shape)}],
    ),
    "pr_curve": Payload(chart_payloads.pr_curve, _write_curve, _curve_rows),
    "layout": Payload(
        chart_payloads.layout,
        lambda stem, value: _write_text(stem, ".json", json.dumps(list(map(asdict, value)), indent=2)),
        _chart_rows,
    ),
    "code": Payload(
        code_payloads.code,
        lambda stem, value: _write_text(stem, ".json", json.dumps(asdict(value), indent=2)),
        lambda value: [asdict(value)],
    ),
}
EXPORTED: Final = tuple(kind for kind in PAYLOAD_KINDS if kind in PAYLOADS)
