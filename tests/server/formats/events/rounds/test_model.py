"""Model of a round: how many rounds go on like it."""

from mindinsight.server.formats.events.record_shape import record_shape
from mindinsight.server.formats.events.rounds.model import CACHED, joined
from mindinsight.server.formats.tensorboard import TENSORBOARD
from tests.narrowing import require
from tests.server.formats.events.rounds.test_decoder import points, record


def test_rounds_are_counted_up_to_the_first_that_differs() -> None:
    records = [record(*point) for point in points(["x", "longer"], range(128, 9000))]
    data = b"".join(records)
    model = joined(tuple(require(record_shape(record[12:-4], TENSORBOARD)) for record in records[:2]))
    assert model.stride == len(records[0]) + len(records[1])
    assert (len(data) > 2 * CACHED, model.count(data, 0, 8872)) == (True, 8872)
    for other in (0, 1, 63, 5000, 8871):  # another tag in one record, or another length of it
        for at in (data.index(b"longer", other * model.stride), other * model.stride):
            changed = bytearray(data)
            changed[at] ^= 1
            assert model.count(bytes(changed), 0, 8872) == other
    assert model.stride % 8  # words of eight bytes are compared, which lie across two rounds
