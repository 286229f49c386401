"""What is in the event files of a directory: tags with their steps, and kinds of messages."""

from pathlib import Path

from mindinsight.proto import framing
from mindinsight.proto.lineage_pb2 import LineageEvent
from mindinsight.proto.summary_pb2 import Event


def events(directory, suffix, message):
    found = []
    for path in sorted(Path(directory).glob(f"*{suffix}")):
        data, start = path.read_bytes(), 0
        while start < len(data):
            size = framing.decode_header(data[start : start + framing.HEADER_SIZE])
            found.append(message.FromString(data[start + framing.HEADER_SIZE :][:size]))
            start += size + framing.HEADER_SIZE + framing.FOOTER_SIZE
    return found


def values(directory):
    """(step, Value) of every value."""
    return [(event.step, value) for event in events(directory, "_MS", Event) for value in event.summary.value]


def steps(directory):
    """The steps of each tag."""
    found = {}
    for step, value in values(directory):
        found.setdefault(value.tag, []).append(step)
    return found


def graphs(directory):
    return [event.graph_def for event in events(directory, "_MS", Event) if event.HasField("graph_def")]


def lineage(directory):
    """Kind and message of each lineage event."""
    found = events(directory, "_lineage", LineageEvent)
    return [(kind := event.WhichOneof("what"), getattr(event, kind)) for event in found]
