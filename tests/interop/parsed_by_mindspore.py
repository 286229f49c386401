"""Run by MindSpore's Python: every record of the files given, through MindSpore's own message classes.

Prints for each file a JSON object: how many messages of which kind, and the scalars.
"""

import json
import struct
import sys
from collections import Counter
from pathlib import Path

from mindspore.train.lineage_pb2 import LineageEvent
from mindspore.train.summary_pb2 import Event


def payloads(data):
    start = 0
    while start < len(data):
        (size,) = struct.unpack_from("<Q", data, start)
        yield data[start + 12 : start + 12 + size]
        start += size + 16


def kinds_of(event):
    kind = event.WhichOneof("what")
    if kind == "summary":
        return [value.WhichOneof("value") or "unknown" for value in event.summary.value]
    return [kind] if kind else []  # an alert of ours: a field that MindSpore does not know


for path in sys.argv[1:]:
    message = LineageEvent if path.endswith("_lineage") else Event
    events = [message.FromString(payload) for payload in payloads(Path(path).read_bytes())]
    assert all(event.IsInitialized() for event in events)
    values = [] if message is LineageEvent else [value for event in events for value in event.summary.value]
    print(json.dumps({
        "path": path,
        "kinds": Counter(kind for event in events for kind in kinds_of(event)),
        "scalars": [[value.tag, value.scalar_value] for value in values if value.HasField("scalar_value")],
        "types": {value.tag: value.tensor.data_type for value in values if value.HasField("tensor")},
    }))  # fmt: skip
