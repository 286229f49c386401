"""Situations of sounds, landscapes and failed trials: what their pages say is wrong."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.commands.tune.study_run import failure_name
from mindinsight.server.formats.payloads.chart_payloads import PrCurve
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.wav import peaks, wav
from mindinsight.server.plugins.pr_curve import roc_claim
from tests.claims.situation import Question, exactly, situation, words

AUDIO = ("cut", "encoding", "header", "no_wav", "not_finite", "other_type", "silent", "some_channels")
FAILURES = ("exit", "signal", "cannot_start", "no_target", "nothing", "not_finite", "timeout", "unknown")


# Sounds


def wave(samples: Any, encoding: int = 1, bits: int = 16, channels: int = 1, cut: int = 0) -> bytes:
    """Return a WAV file of samples, without its last bytes."""
    data = np.asarray(samples).tobytes()
    form = struct.pack("<HHIIHH", encoding, channels, 8000, 8000, channels * bits // 8, bits)
    chunks = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return (b"RIFF" + struct.pack("<I", len(chunks)) + chunks)[: -cut or None]


def facts(encoded: bytes, known: bool) -> dict[str, Any]:
    """Return the facts of a sound as `/v2/audio/waveform` does, of a type that is ``known``."""
    answer: dict[str, Any] = {"problem": None, "size": len(encoded)}
    try:
        header = wav(encoded)
        answer |= {"channels": header.channels, "frames": header.frames, "missing": header.missing_bytes}
        loud = peaks(encoded, header, 10)
    except UnreadableError as error:
        other = known and error.reason == "audio.no_wav"
        return {**answer, "problem": "audio.other_type" if other else error.reason}
    return {**answer, "shown_channels": len(loud.low), "not_finite": loud.non_finite}


def sound(name: str, truth: str, encoded: bytes, *made: str, known: bool = False) -> None:
    def generate(folder: Path) -> Question:
        script = ("views/audio/facts.js", "problemKeys", [facts(encoded, known)])
        return Question(script=script, word="{}")

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("audio", AUDIO, *made))(generate)


TONE = np.full(100, 1000, np.int16)
FLOATS = np.array([0.5, np.nan, np.inf, -0.5], np.float32)
sound("sound_that_is_whole", "Nothing is wrong.", wave(TONE))
sound("sound_that_is_cut", "Ten bytes are missing.", wave(TONE, cut=10), "cut")
sound("sound_without_samples", "A header and nothing else.", wave([]), "silent")
sound("sound_of_zeros", "Quiet, but there are samples.", wave(np.zeros(100, np.int16)))
sound("sound_with_nan", "One NaN and one infinity.", wave(FLOATS, 3, 32), "not_finite")
sound("sound_of_floats", "All of them are finite.", wave(FLOATS[:1], 3, 32))
sound("sound_of_mp3", "A known type without a waveform.", b"ID3" + bytes(100), "other_type", known=True)
sound("bytes_that_are_no_sound", "Random bytes.", b"nothing of the kind", "no_wav")
sound("sound_without_a_format", "RIFF and no chunk.", b"RIFF\x04\0\0\0WAVE", "header")
sound("sound_of_an_encoding_without_waveform", "ADPCM.", wave(TONE, encoding=2), "encoding")
sound(
    "sound_of_many_channels", "64 of them.", wave(np.zeros((50, 64), np.int16), channels=64), "some_channels"
)
sound("sound_of_two_channels", "Both are drawn.", wave(np.zeros((50, 2), np.int16), channels=2))


# Landscapes


def planes(name: str, truth: str, different: bool, *shown: tuple[str, Sequence[float]]) -> None:
    key = "landscape.planes"

    def generate(folder: Path) -> Question:
        landscapes = [{"decomposition": how, "x": [*x], "y": [*x]} for how, x in shown]
        return Question(script=("views/landscape/levels.js", "differentPlanes", [landscapes]), word=key)

    generate.__name__, generate.__doc__ = name, truth
    situation(makes=[key] if different else [], never=[] if different else [key])(generate)


AXIS = np.linspace(-1, 1, 11).tolist()
planes("landscapes_of_two_methods", "PCA and random.", True, ("PCA", AXIS), ("Random", AXIS))
planes("landscapes_of_two_widths", "Twice as wide.", True, ("PCA", AXIS), ("PCA", [2 * x for x in AXIS]))
planes("landscapes_of_one_plane", "Intervals of one training.", False, ("PCA", AXIS), ("PCA", AXIS))
planes("landscape_by_itself", "It has nothing to differ from.", False, ("PCA", AXIS))
planes(
    "landscapes_that_are_rounded", "By a billionth.", False, ("PCA", AXIS), ("PCA", [x + 1e-9 for x in AXIS])
)


# Two images


def images(name: str, truth: str, made: str, right: Sequence[int], width: int = 1) -> None:
    """Declare an image of one white pixel beside another image, drawn on a canvas of its size."""

    def generate(folder: Path) -> Question:
        arguments = [[255, 255, 255, 255], right, [[1, 1], [width, 1]]]
        return Question(script=("views/image/pixels.js", "pixelVerdict", arguments), word="image.compare.{}")

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("image.compare", ("same", "size", "most"), made))(generate)


images("images_that_are_equal", "White and white.", "same", [255, 255, 255, 255])
images("image_that_is_hardly_darker", "Blue is 254.", "most", [255, 255, 254, 255])
images("image_that_is_hardly_transparent", "The colour is equal.", "most", [255, 255, 255, 254])
images("image_of_another_size", "Its further pixels are drawn beyond it.", "size", [255, 255, 255, 255], 2)


# Failed trials


def failure(name: str, truth: str, made: str, **recorded: Any) -> None:
    def generate(folder: Path) -> Question:
        def ask() -> list[Claim]:
            return words("tuning.failure", failure_name(recorded))

        script = ("views/lineage/study/trials.js", "failureName", [recorded])
        return Question(direct=ask, script=script, word="tuning.failure.{}")

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("tuning.failure", FAILURES, made))(generate)


failure("trial_that_ended_with_an_error", "Exit code 3.", "exit", reason="exit", code=3)
failure("trial_that_was_killed", "By the kernel.", "signal", reason="signal", signal=9)
failure(
    "trial_without_a_program", "No such file.", "cannot_start", reason="cannot_start", text="no such file"
)
failure("trial_without_its_target", "Others are there.", "no_target", reason="no_target", there=["acc"])
failure("trial_that_recorded_nothing", "No scalar at all.", "nothing", reason="no_target", there=[])
failure("trial_whose_target_is_nan", "The last value.", "not_finite", reason="not_finite", value="nan")
failure("trial_that_took_too_long", "An hour.", "timeout", reason="timeout", seconds=3600)
failure("trial_of_an_older_journal", "It has no reason.", "unknown")


# ROC curves


def curves(name: str, truth: str, made: list[str], *counts: Sequence[float]) -> None:
    """Add a situation of a curve with these counts: true and false positives, true and false negatives."""
    rows = np.array([*counts, [0.5] * len(counts[0]), [0.5] * len(counts[0])])

    def ask(folder: Path) -> Question:
        claims = [claim for claim in [roc_claim(PrCurve(rows))] if claim]
        return Question(direct=lambda: claims)

    ask.__name__, ask.__doc__ = name, truth
    situation(makes=made, never=[] if made else ["claim.pr_curve.no_roc"])(ask)


NO_ROC = ["claim.pr_curve.no_roc"]
curves("a_curve_with_all_counts", "Its rates are known.", [], [2, 1], [1, 0], [0, 1], [0, 1])
curves("a_curve_without_true_negatives", "Its writer left them out.", NO_ROC, [2, 1], [1, 0], [0, 0], [0, 1])
curves(
    "a_curve_of_positives_only", "A false positive rate has no base.", NO_ROC, [2, 1], [0, 0], [0, 0], [0, 1]
)
