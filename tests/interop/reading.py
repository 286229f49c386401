"""What is in the event files of a directory: tags with their steps, and kinds of messages."""

from pathlib import Path

from mindinsight.proto import framing
from mindinsight.proto.lineage_pb2 import LineageEvent
from mindinsight.proto.summary_pb2 import Event


def events(directory, suffix, message):
    messages = []
    for path in sorted(Path(directory).glob(f"*{suffix}")):
        data, start = path.read_bytes(), 0
        while start < len(data):
            size = framing.decode_header(data[start : start + framing.HEADER_SIZE])
            messages.append(message.FromString(data[start + framing.HEADER_SIZE :][:size]))
            start += size + framing.HEADER_SIZE + framing.FOOTER_SIZE
    return messages


def values(directory):
    """(step, Value) of every value."""
    return [(event.step, value) for event in events(directory, "_MS", Event) for value in event.summary.value]


def steps(directory):
    """The steps of each tag."""
    steps = {}
    for step, value in values(directory):
        steps.setdefault(value.tag, []).append(step)
    return steps


def graphs(directory):
    return [event.graph_def for event in events(directory, "_MS", Event) if event.HasField("graph_def")]


def lineage(directory):
    """Kind and message of each lineage event."""
    messages = events(directory, "_lineage", LineageEvent)
    return [(kind := event.WhichOneof("what"), getattr(event, kind)) for event in messages]
