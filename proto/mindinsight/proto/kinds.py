"""Table of the kinds of data in an event file: name, wire field and storage in the index.

Writer, readers, server and pages take the kinds from here. A new kind is a new line, and in the writer a
module of its name in ``encoding/kinds/``. The fields are those of summary.proto and lineage.proto: a test
compares them with this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class DataKind:
    """Kind of data that ``SummaryRecord.add_value`` accepts and a page shows."""

    name: str  # in add_value, in addresses and in texts
    message: Literal["Summary.Value", "Event"]  # the message that has the field
    field: str  # empty for data of TensorBoard's plugins that our format and pages do not have
    number: int  # of the field, 0 without a field
    storage: Literal["column", "payload"]  # a column of numbers, or a reference read on request
    run_wide: bool = False  # its event has no step, as it belongs to the whole run
    in_add_value: bool = True  # True if SummaryRecord.add_value accepts it
    in_tensors: bool = False  # True if TensorBoard records it as tensors of numbers
    takes: str = ""  # the values that SummaryRecord.add_value takes

    @property
    def key(self) -> int:
        """Return the field key in bytes: number and wire type (5: 32-bit number, 2: length-delimited)."""
        return self.number << 3 | (5 if self.storage == "column" else 2)


_VALUE: Final = "Summary.Value"
_EVENT: Final = "Event"
_ARRAY: Final = "an array of real numbers, one dimension or more"
_SOUND: Final = "a pair (samples within -1..1, samples a second), or the bytes of a sound file"
_CURVE: Final = "a pair (labels, predictions within 0..1), or the six rows of a curve"
_CHARTS: Final = 'a dict: category -> title -> ["Multiline", tags] or ["Margin", three tags]'
_CODE: Final = "a dict of facts about the program, as program_facts() returns it"
_GRAPH: Final = "bytes of a ModelProto, a network or a graph object"
KINDS: Final = (
    DataKind("scalar", _VALUE, "scalar_value", 3, "column", takes="a number, or an array of one element"),
    DataKind("image", _VALUE, "image", 4, "payload", takes="an array (N, C, H, W) of 1 to 4 channels"),
    DataKind("tensor", _VALUE, "tensor", 8, "payload", takes=_ARRAY),
    DataKind("histogram", _VALUE, "histogram", 9, "payload", in_tensors=True, takes=_ARRAY),
    DataKind("landscape", _VALUE, "loss_landscape", 10, "payload", takes="a LossLandscape message"),
    DataKind("text", _VALUE, "text", 1002, "payload", takes="a str, read as Markdown"),
    DataKind("audio", _VALUE, "audio", 1003, "payload", takes=_SOUND),
    DataKind("pr_curve", _VALUE, "pr_curve", 1004, "payload", in_tensors=True, takes=_CURVE),
    DataKind("layout", _VALUE, "layout", 1005, "payload", takes=_CHARTS),
    DataKind("code", _VALUE, "code", 1006, "payload", takes=_CODE),
    DataKind("other", _VALUE, "", 0, "payload", in_add_value=False, in_tensors=True),
    DataKind("graph", _EVENT, "graph_def", 4, "payload", run_wide=True, takes=_GRAPH),
    DataKind("alert", _EVENT, "alert", 1001, "payload", in_add_value=False),
)

KINDS_BY_NAME: Final = {kind.name: kind for kind in KINDS}
# Messages of a run's lineage file: the name in add_value, and the field's number in LineageEvent.
LINEAGE_FIELDS: Final = {
    "train_lineage": 6,
    "eval_lineage": 7,
    "dataset_graph": 9,
    "custom_lineage_data": 10,
}
EXACT_SCALAR: Final = 1001  # field of Summary.Value: the float64 of a scalar that float32 would change
