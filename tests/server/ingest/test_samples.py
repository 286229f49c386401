"""Every sample that MindSpore wrote, through discovery, reading and store: all of it is published."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from mindinsight.server.store.store import Store

DATA = Path(__file__).parents[2] / "data" / "events"
SETS = sorted(path.parent.name for path in DATA.glob("*/expected.json"))
PAYLOADS = ("image", "tensor", "histogram")


def expected(name: Any) -> Any:
    """Id of each run of a sample -> {(kind, tag): [facts, one for each file that holds it]}."""
    table: dict[Any, Any] = {}
    for folder, facts in json.loads((DATA / name / "expected.json").read_text())["runs"].items():
        tags = table.setdefault("./" + folder.strip("./"), {})
        for _, file in sorted(facts["files"].items()):
            for kind, every in file.get("tags", {}).items():
                for fact in every:
                    tags.setdefault((kind, fact["tag"]), []).append(fact)
    return table


RUNS = [
    (name, run)
    for name in SETS
    for run in expected(name)
    if name != "damaged" or run == "./healthy"  # the others are compared with a reader that checks checksums
]


@pytest.fixture(scope="module")
def snapshots() -> Callable[..., Any]:
    """Snapshots by sample, each read once."""
    table = {}

    def of(name: Any) -> Any:
        if name not in table:
            store = Store()
            Loader(Settings(DATA / name, DATA / "nowhere", cache=False, workers=1), store).load()
            table[name] = store.snapshot()
        return table[name]

    return of


def joined(facts: Any, name: Any) -> list[Any]:
    return [value for fact in facts for value in fact[name]]


def test_no_sample_is_forgotten() -> None:
    assert {"damaged", "lenet", "landscape", "multi_rank", "record_api", "rollover"} <= set(SETS)
    assert len(RUNS) > 15


@pytest.mark.parametrize(("name", "run"), RUNS)
def test_scalars_are_those_that_were_written(name: Any, run: Any, snapshots: Callable[..., Any]) -> None:
    published = snapshots(name).runs[run].scalars
    wanted = {tag: facts for (kind, tag), facts in expected(name)[run].items() if kind == "scalar"}
    assert set(published) == set(wanted)
    for tag, facts in wanted.items():
        columns = published[tag].columns()
        assert columns.steps.tolist() == joined(facts, "steps")
        values = [np.float32(value) for value in joined(facts, "values")]  # "nan" and "inf" are text there
        np.testing.assert_array_equal(columns.values, np.array(values, np.float32))
        assert published[tag].count == sum(fact["number"] for fact in facts)


@pytest.mark.parametrize(("name", "run"), RUNS)
def test_payloads_are_found_at_every_step(name: Any, run: Any, snapshots: Callable[..., Any]) -> None:
    published = snapshots(name).runs[run].references
    for (kind, tag), facts in expected(name)[run].items():
        if kind in PAYLOADS:
            references = published[kind][tag]
            assert references.steps.tolist() == joined(facts, "steps")
            assert all(references.read(row) for row in range(references.count))


@pytest.mark.parametrize("name", SETS)
def test_every_file_is_read_to_its_end_or_says_why_not(name: Any, snapshots: Callable[..., Any]) -> None:
    for run in snapshots(name).runs.values():
        for file in run.files:
            assert file.read + file.pending == file.size
            assert file.error == ""
            assert name == "damaged" or (file.pending, file.damage) == (0, ())


def test_ranks_belong_to_one_job(snapshots: Callable[..., Any]) -> None:
    runs = snapshots("multi_rank").runs
    assert {run.id: (run.job, run.rank) for run in runs.values()} == {
        f"./rank_{rank}": ("./", rank) for rank in range(4)
    }


def test_lineage_is_published_with_the_run(snapshots: Callable[..., Any]) -> None:
    lineage = snapshots("lenet").runs["./"].lineage
    assert lineage.train.network == "LeNet"
    assert lineage.evaluation is not None
    assert snapshots("record_api").runs["./values"].lineage is None


def test_a_file_that_holds_nothing_is_still_a_run(snapshots: Callable[..., Any]) -> None:
    empty = snapshots("rollover").runs["./record_43"]
    assert (dict(empty.scalars), dict(empty.references), empty.size) == ({}, {}, 0)
