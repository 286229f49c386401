"""Encoder of loss landscapes (LossLandscape in summary.proto)."""

from typing import Any, Final

from mindinsight.writer.encoding.encoder import MessageEncoder, serialised


class LandscapeEncoder(MessageEncoder):
    """Encoder of recorded LossLandscape messages."""

    def serialised(self, value: Any) -> bytes:
        """Return a LossLandscape as bytes. Raises TypeError for anything else."""
        return serialised(self.kind, value, "LossLandscape")


ENCODER: Final = LandscapeEncoder("landscape")
