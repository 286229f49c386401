"""Encoders of the kinds: one module per kind of ``mindinsight.proto.kinds``, with an ``ENCODER``.

Scalars have none, because they are columns (``encoding/scalars.py``). Alerts have a separate call
(``alerts.py``).
"""

from functools import cache
from importlib import import_module
from typing import Final

from mindinsight.proto.kinds import KINDS, LINEAGE_FIELDS
from mindinsight.writer.encoding.encoder import Encoder

# Values that ``add_value`` accepts.
NAMES: Final = (*(kind.name for kind in KINDS if kind.in_add_value), *LINEAGE_FIELDS)


@cache
def encoder(kind: str) -> Encoder:
    """Return the encoder of a kind stored as a payload, or of a lineage message. Loaded at first use. Raises
    ModuleNotFoundError for any other kind."""
    if kind in LINEAGE_FIELDS:
        from mindinsight.writer.encoding.lineage import LineageEncoder  # loads protobuf

        return LineageEncoder(kind)
    kind_encoder: Encoder = import_module(f"{__name__}.{kind}").ENCODER
    return kind_encoder
