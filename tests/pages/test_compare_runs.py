"""The page that compares two runs: settings, graphs, dumps and checkpoints beside the scalars."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.writer import SummaryRecord

from .test_graph_compare import DATA, save

DUMP = DATA / "dumps" / "ms_sync_v2_0_names"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    """`one` and `two` have everything, `three` has scalars alone."""
    base = tmp_path_factory.mktemp("compare") / "base"
    for name, rate in (("one", 0.1), ("two", 0.2), ("three", None)):
        with SummaryRecord(str(base / name)) as record:
            if rate is not None:
                record.add_value("custom_lineage_data", "user", {"rate": rate, "seed": 1})
                record.record(0)
            for step in range(1, 40):
                record.add_value("scalar", "loss", 1 / step)
                record.record(step)
        if rate is None:
            continue
        graph = GraphProto.FromString((DATA / "graph" / "lenet.graph").read_bytes())
        if name == "two":
            graph.node.add(name="9999", op_type="Cast", full_name="Default/network/Cast-op7")
        save(graph, base / name / "net.pb")
        shutil.copytree(DUMP, base / name / "dump")
        for source, step in (("1", 9), ("2", 10)):
            shutil.copy(DATA / "dumps" / "ckpt" / f"tinynet-{source}.ckpt", base / name / f"net-{step}.ckpt")
    return serve_once(base)


def test_all_that_two_runs_have_is_behind_one_button(page: Page, url: str) -> None:
    page.goto(f"{url}?runs=one,two")
    page.get_by_label("Search runs").fill("/^(one|two)$/")
    page.get_by_role("link", name="Compare", exact=True).click()
    beside = page.locator(".align-beside")
    expect(beside).to_contain_text(re.compile(r"One setting differs: rate is 0\.[12] instead of 0\.[12]\."))
    expect(beside).to_contain_text("Not both runs recorded their program")
    expect(beside.locator("[data-part='graph'] .claim").first).to_be_visible()
    expect(page.locator(".answer-story")).to_contain_text("loss: equal at all 39 steps")
    expect(beside).not_to_contain_text("Not of both runs")


@pytest.mark.parametrize(
    ("link", "address", "shows"),
    [
        ("Compare the graphs", r"graph\?.*m=compare", "Cast added in network"),
        ("Compare the dumps", r"dump\?.*with=", "agree"),
        ("Compare the last checkpoints", r"checkpoint\?.*net-10.ckpt.*net-10.ckpt", "No tensor changed"),
        ("Open the lineage", r"lineage\?.*runs=", "rate"),
    ],
)
def test_each_part_leads_to_its_page(page: Page, url: str, link: str, address: str, shows: str) -> None:
    page.goto(f"{url}align?run=two&baseline=one")
    page.locator(".align-beside").get_by_role("link", name=link).click()
    expect(page).to_have_url(re.compile(address))
    expect(page.get_by_role("main")).to_contain_text(shows)


def test_steps_beyond_the_tolerance_and_the_divergence_do_not_contradict_each_other(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    """Two noisy losses differ from the first step on, and lastingly more from step 120 on."""
    noise = 0.01 * np.random.default_rng(0).standard_normal(200)
    for name, share in (("one", np.zeros(200)), ("two", noise + 0.2 * (np.arange(200) >= 120))):
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            for step in range(200):
                record.add_value("scalar", "loss", float((1 + np.exp(-step / 50)) * (1 + share[step])))
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}align?run=two&baseline=one")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="loss"))
    expect(row).to_contain_text("differs by more than 1 ‰ at step 0 already")
    expect(row).to_contain_text("before step 120, and diverges further from about there on")
    expect(page.locator(".answer-story")).to_contain_text(
        "The first lasting divergence begins at about step 120, in loss. "
        "Differences beyond 1 ‰ occur before, the first in loss, at step 0."
    )
    head = page.get_by_role("columnheader")
    expect(
        head.get_by_title("First step whose difference exceeds the tolerance, lasting or not")
    ).to_have_text("First step beyond 1 ‰")


def test_what_not_both_have_is_named(page: Page, url: str) -> None:
    page.goto(f"{url}align?run=three&baseline=one")
    beside = page.locator(".align-beside")
    expect(beside).to_contain_text("Not of both runs: Graph, Dumps, Checkpoints")
    expect(beside).to_contain_text("Not both runs recorded settings")
    expect(beside.get_by_role("link")).to_have_count(0)
    expect(beside.locator("section")).to_have_count(1)
