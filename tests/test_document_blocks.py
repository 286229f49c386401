"""Every Python block of the documents that needs no framework is run as it is written."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.process import daemon
from mindinsight.writer import Dump, GraphBuilder, SummaryRecord
from tests.document_blocks import framework_of, needed_names, python_blocks, run_block, stand_ins

BLOCKS = python_blocks()


def two_products() -> GraphBuilder:
    """A graph with Default/fc1-Dense/MatMul-op0 and -op1."""
    built = GraphBuilder("Net")
    with built.scope("fc1-Dense"):
        x, weight = built.parameter("x", (2, 2)), built.parameter("fc1.weight", (2, 2))
        first = built.node("MatMul", [x, weight], (2, 2))
        built.output(built.node("MatMul", [first, weight], (2, 2)))
    return built


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The runs, dumps and study that blocks speak of, in the current directory; servers are ended."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for run in ("run1", "run2"):
        with SummaryRecord(f"summary/{run}") as record:
            for number in range(3):
                for tag in ("loss", "train/loss"):
                    record.add_value("scalar", tag, 1 / (1 + number))
                record.add_value("image", "input_data/auto", np.zeros((1, 3, 4, 4), np.float32))
                record.add_value("tensor", "weights", np.ones((2, 2), np.float32))
                record.record(number)
            record.add_value("train_lineage", "train", {"learning_rate": 0.1})
            record.record(3)
    for folder in ("out/dump", "reference"):
        for rank in (0, 1):
            dump = Dump(folder, rank=rank, graph=two_products())
            for number in range(3):
                step = dump.iteration(number)
                for slot in (0, 1):
                    step.input("Default/fc1-Dense/MatMul-op1", np.ones((2, 2), np.float32), slot=slot)
                result = np.full((2, 2), np.nan if number == 1 else 1.0, np.float32)
                step.output("Default/fc1-Dense/MatMul-op1", result)
    yield tmp_path
    for server in daemon.all_running():
        daemon.end(server)


@pytest.mark.parametrize(("document", "code"), [block[:2] for block in BLOCKS if not block[2]])
def test_a_block_runs_as_it_is_written(document: str, code: str, workplace: Path) -> None:
    if "alexnet" in code:
        import optuna
        from optuna.storages.journal import JournalFileBackend

        storage = optuna.storages.JournalStorage(JournalFileBackend("alexnet.journal"))
        optuna.create_study(study_name="alexnet", storage=storage)
    given = stand_ins()
    assert needed_names(code) <= set(given), document
    run_block(code, given)


def test_most_blocks_need_no_framework() -> None:
    frameworks = [framework for *_, framework in BLOCKS]
    assert frameworks.count("") > 12
    assert set(frameworks) == {"", "torch", "mindspore", "a store", "a landscape"}


def test_names_that_a_block_takes_as_given() -> None:
    assert needed_names("import a.b as c\nfor d in e:\n    c.f(d, print)") == {"e"}
    assert framework_of("import mindspore.nn") == "mindspore" and not framework_of("record.record(1)")


def test_a_block_that_is_wrong_fails() -> None:
    with pytest.raises(AttributeError):
        run_block("record.no_such_method()", {"record": object})
    with pytest.raises(KeyError):
        run_block("unknown()", {})
