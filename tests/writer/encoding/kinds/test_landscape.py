import pytest

from mindinsight.proto.summary_pb2 import LossLandscape
from mindinsight.writer.encoding.kinds.landscape import ENCODER


def test_a_landscape_is_kept_as_it_is() -> None:
    message = LossLandscape(metadata=LossLandscape.Metadata(unit="step"))
    assert LossLandscape.FromString(ENCODER.serialised(message)) == message


def test_a_dict_is_no_landscape() -> None:
    with pytest.raises(TypeError, match="landscape takes a LossLandscape message, got dict"):
        ENCODER.serialised({})
