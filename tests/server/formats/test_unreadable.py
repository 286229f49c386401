import pickle

from mindinsight.server.formats.unreadable import UnreadableError


def test_it_survives_the_way_back_from_a_worker_process() -> None:
    error = pickle.loads(pickle.dumps(UnreadableError("dump.truncated", "12 bytes")))
    assert (error.reason, error.detail, str(error)) == (
        "dump.truncated",
        "12 bytes",
        "dump.truncated: 12 bytes",
    )
    assert str(UnreadableError("dump.missing")) == "dump.missing"
