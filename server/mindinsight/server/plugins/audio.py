"""Routes for sounds: every recorded step, as recorded, with its waveform."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Response

from mindinsight.server.formats.media_types import sound_type
from mindinsight.server.formats.payloads.media_payloads import sound
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.wav import Wav, peaks, wav
from mindinsight.server.http.bulkhead_routes import Accept, PayloadRoute, Row, payload_row, payload_series
from mindinsight.server.http.responses import answer, steps_answer
from mindinsight.server.http.static_files import ranged_response
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.series import ReferenceSeries

router = APIRouter(route_class=PayloadRoute)

Range = Annotated[str, Header(alias="range")]
AllSounds = Annotated[ReferenceSeries, payload_series("audio")]
Sounds = Annotated[ReferenceSeries, payload_row("audio", "sounds")]

_ENCODINGS: Final = {1: "PCM", 3: "float", 6: "A-law", 7: "µ-law"}


@router.get("/steps")
def steps(run: str, series: AllSounds, accept: Accept = "") -> Response:
    """Return the steps and times of all sounds of a tag, in the order written."""
    return steps_answer(run, series, accept)


@router.get("/waveform")
def waveform(
    run: str,
    series: Sounds,
    row: Row,
    columns: Annotated[int, Query(ge=1, le=4000, description="sections of equal duration")] = 400,
    accept: Accept = "",
) -> Response:
    """Return the header of a sound, and its smallest and largest sample in each of `columns` sections as
    `low` and `high`. If the sound cannot be decoded, `problem` says why, and there are no samples.

    `low` and `high` are [channels, columns] numbers of WAV files. `problem` is a key of the texts. `missing`
    is the number of bytes that the header announces and the file does not contain.
    """
    recorded = sound(series.read(row))
    kind = sound_type(recorded.encoded)
    facts: dict[str, Any] = {
        "run": run,
        "tag": series.tag,
        "row": row,
        "type": kind.media_type if kind else None,
        "size": len(recorded.encoded),
        "label": recorded.label,
        "problem": None,
    }
    try:
        header = wav(recorded.encoded)
        facts |= _header_facts(header)
        loud = peaks(recorded.encoded, header, columns)
    except UnreadableError as error:
        known = kind is not None and error.reason == "audio.no_wav"
        return answer({**facts, "problem": "audio.other_type" if known else error.reason}, accept)
    shown = {"shown_channels": len(loud.low), "not_finite": loud.non_finite}
    return answer({**facts, **shown, "low": loud.low.ravel(), "high": loud.high.ravel()}, accept)


@router.get("/sound", response_class=Response)
def file(series: Sounds, row: Row, download: bool = False, requested: Range = "") -> Response:
    """Return the recorded bytes of one sound, or a range of them (status 206). Returns 416 for a range behind
    its end."""
    encoded = sound(series.read(row)).encoded
    kind = sound_type(encoded)
    headers = {"Cache-Control": "private, max-age=3600"}
    if download or kind is None:
        name = f"sound_{row}{kind.suffix if kind else '.bin'}"
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    media_type = kind.media_type if kind else "application/octet-stream"
    return ranged_response(encoded, requested, media_type, headers)


def _header_facts(header: Wav) -> dict[str, Any]:
    names = ("bits", "channels", "rate", "frames", "seconds")
    encoding = _ENCODINGS.get(header.encoding, str(header.encoding))
    facts = {name: getattr(header, name) for name in names}
    return {"encoding": encoding, **facts, "missing": header.missing_bytes}


PLUGIN = Plugin(name="audio", router=router)
