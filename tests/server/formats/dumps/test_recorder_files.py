"""Files of the Running Data Recorder."""

from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.dumps import open_dump


@pytest.fixture(scope="module")
def dump(samples: Any) -> Any:
    return open_dump(samples / "rdr_v2_0")


def test_files_in_the_order_they_were_written(dump: Any) -> None:
    assert (dump.layout, dump.ranks, dump.steps()) == ("recorder", (0,), ())
    assert [(log.module, log.name, log.graph, log.sequence, log.kind) for log in dump.logs] == [
        ("PIPELINE", "00_parse", None, 17, "ir"),
        ("SESSION", "graph_build", 0, None, "pb"),
        ("SESSION", "graph_exec_order", 0, None, "text"),
        ("SESSION", "graph_build", 0, 2, "ir"),
        ("PIPELINE", "16_execute", None, 3, "ir"),
        ("RUNTIME_FRAMEWORK", "mem_address_list", None, None, "text"),
    ]
    assert dump.logs[0].time == "20261121080229"
    assert all(log.size > 0 for log in dump.logs)


def test_names_without_module_and_time_are_listed_too(tmp_path: Path) -> None:
    folder = tmp_path / "rank_2" / "rdr"
    folder.mkdir(parents=True)
    for name in ("hwopt_d_before_graph_0.ir", "a.b.20261121080229_4.txt", "notes.md"):
        (folder / name).write_text("text")
    logs = open_dump(tmp_path).logs
    assert [(log.module, log.name, log.graph, log.time, log.sequence, log.kind) for log in logs] == [
        ("", "hwopt_d_before_graph_0", None, "", None, "ir"),
        ("a", "b", None, "20261121080229", 4, "text"),
    ]
    assert [log.rank for log in logs] == [2, 2]
