"""Wire schema of a writer's events: where the decoders find values, and the parser of one record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.event_message import ParsedEvent, parse_event
from mindinsight.server.formats.events.fields import VALUE_EXACT, VALUE_KINDS, VALUE_SCALAR
from mindinsight.server.formats.wire_format import Octets
from mindinsight.server.types import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """What MindSpore's events and those of TensorBoard differ in; framing and layout are the same."""

    parse: Callable[[Octets, int, int], ParsedEvent]
    scalar_key: int  # of the float32 in Summary.Value
    exact_key: int  # of the float64 beside it; 0 when there is none
    payload_codes: npt.NDArray[np.uint8]  # [256] code of the kind by field key in Summary.Value
    tensor_kinds: tuple[Kind, ...] = ()  # what the first event of a tag may say its tensors to be
    whole: tuple[int, ...] = ()  # codes of kinds whose payload is the whole Summary.Value


def payload_codes(kinds: dict[int, int]) -> npt.NDArray[np.uint8]:
    """Lookup table from the codes of kinds by field key; keys of two bytes are left out."""
    return np.array([kinds.get(key, 0) for key in range(256)], np.uint8)


MINDSPORE: Final = Schema(
    parse=parse_event,
    scalar_key=VALUE_SCALAR,
    exact_key=VALUE_EXACT,
    payload_codes=payload_codes({key: code for key, code in VALUE_KINDS.items() if key != VALUE_SCALAR}),
)
