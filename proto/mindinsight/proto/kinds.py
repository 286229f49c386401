"""Table of the kinds of data in an event file: name, wire field and how the index stores them.

Writer, readers, server and pages take the kinds from here; a new kind is a new line, and in the writer a
module of its name in ``encoding/kinds/``. The fields are those of summary.proto and lineage.proto: a test
compares them with this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class DataKind:
    """One kind of data: what ``SummaryRecord.add_value`` takes and a page shows."""

    name: str  # in add_value, in addresses and in texts
    message: Literal["Summary.Value", "Event"]  # the message that has the field
    field: str
    number: int  # of the field
    storage: Literal["column", "payload"]  # a column of numbers, or a reference read when somebody looks
    run_wide: bool = False  # its event has no step, as it belongs to the whole run
    in_add_value: bool = True  # whether SummaryRecord.add_value takes it

    @property
    def key(self) -> int:
        """Field key in the bytes: number and wire type (5: 32-bit number, 2: length-delimited)."""
        return self.number << 3 | (5 if self.storage == "column" else 2)


KINDS: Final = (
    DataKind("scalar", "Summary.Value", "scalar_value", 3, "column"),
    DataKind("image", "Summary.Value", "image", 4, "payload"),
    DataKind("tensor", "Summary.Value", "tensor", 8, "payload"),
    DataKind("histogram", "Summary.Value", "histogram", 9, "payload"),
    DataKind("landscape", "Summary.Value", "loss_landscape", 10, "payload"),
    DataKind("text", "Summary.Value", "text", 1002, "payload"),
    DataKind("graph", "Event", "graph_def", 4, "payload", run_wide=True),
    DataKind("alert", "Event", "alert", 1001, "payload", in_add_value=False),
)

KINDS_BY_NAME: Final = {kind.name: kind for kind in KINDS}
# Messages of a run's lineage file: the name in add_value, and the field's number in LineageEvent.
LINEAGE_FIELDS: Final = {
    "train_lineage": 6,
    "eval_lineage": 7,
    "dataset_graph": 9,
    "custom_lineage_data": 10,
}
EXACT_SCALAR: Final = 1001  # field of Summary.Value: the float64 beside a scalar that float32 would change
