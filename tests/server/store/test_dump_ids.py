"""Ids of dumps from relative paths: only those that were discovered, whatever an event file says."""

import pytest

from mindinsight.server.store.dump_ids import dump_id
from mindinsight.server.store.run import Run

KNOWN = {"./a/flight_dump", "./job/flight_dump", "./flight_dump"}


def run(run_id: str, job: str = "") -> Run:
    return Run(run_id, run_id, "", job or run_id, None, 0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("record", "relative", "dump"),
    [
        (run("./a"), "flight_dump", "./a/flight_dump"),
        (run("./"), "flight_dump", "./flight_dump"),
        (run("./job/rank_1", "./job"), "../flight_dump", "./job/flight_dump"),
        (
            run("./job/rank_1", "./job"),
            "flight_dump",
            "./job/flight_dump",
        ),  # one folder for all ranks
        (run("./a"), "", None),
        (run("./a"), "other", None),
        (run("./a"), "../../../etc", None),
        (run("./a"), "/etc", None),
    ],
)
def test_a_dump_is_named_only_where_it_was_discovered(record: Run, relative: str, dump: str | None) -> None:
    assert dump_id(record, relative, KNOWN) == dump
