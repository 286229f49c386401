"""TensorBoard's event files: the schema of their records, and a transcoder of their payloads to ours.

Framing and decoders are those of ``formats/events``. What differs is the messages: TensorFlow's Event,
Summary, TensorProto and GraphDef, of which the few fields that count are read by number. A payload stays in
its file until somebody looks, and then becomes the message that our own writer would have recorded:
everything above sees one format only.
"""

from mindinsight.server.formats.tensorboard.summary_values import TENSORBOARD
from mindinsight.server.formats.tensorboard.transcoder import transcode

__all__ = ["TENSORBOARD", "transcode"]
