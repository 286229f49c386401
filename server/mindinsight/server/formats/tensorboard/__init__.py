"""TensorBoard's event files: the schema of their records, and a transcoder of their payloads.

Framing and decoders are shared with ``formats/events``. Only the messages differ: TensorFlow's Event,
Summary, TensorProto and GraphDef, of which the required fields are read by number. A payload stays in its
file until it is requested, and is then transcoded to the message that our own writer would have recorded. All
other packages see one format only.
"""

from mindinsight.server.formats.tensorboard.summary_values import TENSORBOARD
from mindinsight.server.formats.tensorboard.transcoder import transcode

__all__ = ["TENSORBOARD", "transcode"]
