"""The pages that answer: why runs differ, and where two of them drift."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord
from tests.pages.delays import DelayedAnswer

from .best_run import Walk, walk

STEPS = 120


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    base = tmp_path_factory.mktemp("answers") / "base"
    for name in ("good-1", "good-2", "good-3", "bad-1", "bad-2", "bad-3"):
        since = 60 if name.startswith("bad") else None
        with SummaryRecord(str(base / name)) as record:
            for step in range(STEPS):
                wobble = 1 + 0.001 * ((7 * step) % 11)
                above = 0 if since is None else max(step - since, 0) / 20
                record.add_value("scalar", "loss", (1 + 2 / (step + 1)) * wobble * (1 + above))
                record.add_value("scalar", "norm", wobble)
                for layer in range(4 if name == "good-1" else 0):
                    record.add_value("scalar", f"layers.{layer}/norm", layer * wobble)
                record.record(step)
    for rank in range(4):
        with SummaryRecord(str(base / "job" / f"rank_{rank}")) as record:
            for step in range(40):
                loss = math.nan if (rank, step) == (2, 30) else 1 + 0.001 * ((3 * step + rank) % 7)
                record.add_value("scalar", "loss", loss)
                record.record(step)
    return serve_once(base)


def test_few_clicks_lead_to_the_best_run_to_why_and_to_the_sick_rank(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("Search runs").fill("/good|bad/")
    expect(page.get_by_role("button", name="Chart these 6")).to_be_visible()
    best, to_best, to_why = walk(Walk(page))
    assert best.startswith("good-") and to_best <= 3 and to_why <= 5  # all three are equally good
    story = page.locator(".answer-story")
    expect(story).to_contain_text(
        "The mean of the bad runs diverges from that of the good ones at about step 6"
    )
    expect(story).to_contain_text("These runs recorded no settings.")
    curves = page.get_by_role("img", name="loss of good and bad runs")
    expect(curves.locator(".main-svg").first).to_be_visible()
    assert (
        curves.evaluate("chart => chart.data.map(({ legendgroup }) => legendgroup)")
        == ["Good runs"] * 2 + ["Bad runs"] * 3
    )
    expect(page.locator(".why-runs")).to_contain_text(
        "Split by the lowest loss of each run. Good: 2 with the lowest"
    )
    row = page.get_by_role("row", name="loss diverges")
    expect(row).to_contain_text("+")
    link = row.get_by_role("link", name="Scalars").get_attribute("href") or ""
    assert all(name in link for name in ("good-", "bad-", "q=%5Eloss%24")), link
    split = page.get_by_role("combobox", name="Split by")
    expect(split).to_have_value("loss")
    split.select_option("norm")
    expect(page.locator(".why-runs")).to_contain_text("cannot be split into good and bad by norm")
    split.select_option("loss")
    expect(row).to_contain_text("+")
    group = page.get_by_role("group", name="Group of bad-2")
    group.get_by_role("button", name="Good").click()
    expect(page).to_have_url(re.compile("good=bad-2"))
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_label("Search runs").fill("")
    strip = page.get_by_role("link", name="Ranks of job: Rank 2 has NaN or infinity.")
    expect(strip.locator("i")).to_have_count(4)
    expect(strip.locator("i.not_finite")).to_have_count(1)
    strip.click()
    expect(page.locator(".answer-story")).to_have_text("Rank 2 has NaN or infinity.")
    expect(page.locator("tbody tr")).to_have_count(4)
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("loss: NaN or infinite at step 30")
    expect(first.get_by_role("link", name="loss: NaN")).to_have_attribute(
        "href", re.compile("scalar.*m=ranks.*job=./job")
    )
    expect(page.get_by_role("img", name="loss", exact=True)).to_contain_text("rank 2")
    page.goto(f"{url}overview?run=job/rank_1")
    ranks = page.locator(".overview-ranks").filter(has_text="Rank 1 of 4.")
    expect(ranks).to_contain_text("Rank 2 has NaN or infinity.")
    expect(ranks.get_by_role("link", name="All ranks")).to_have_attribute("href", re.compile("job"))
    page.goto(f"{url}overview?run=good-1")
    expect(page.get_by_role("heading", name="good-1")).to_be_visible()
    expect(page.locator(".overview-ranks")).to_be_hidden()


def test_an_alignment_says_where_a_drift_begins(page: Page, url: str) -> None:
    page.goto(f"{url}align?baseline=good-1&run=bad-1")
    story = page.locator(".answer-story")
    expect(story).to_contain_text(
        "loss: agrees within 1 ‰ up to step 60; the divergence begins at about step"
    )
    expect(page.get_by_role("img", name="loss of both runs")).to_contain_text("good-1 (baseline)")
    expect(page.get_by_role("row", name="norm equal at all 120 steps")).to_be_visible()
    page.locator(".toolbar label").filter(has_text=re.compile("^Run")).locator("select").select_option(
        "./good-2"
    )
    expect(story).to_contain_text("All 2 common scalars agree within 1 ‰ at all steps.")
    page.get_by_role("row", name="loss").get_by_role("link", name="Difference").click()
    expect(page).to_have_url(re.compile("m=compare.*baseline=good-1"))


def test_an_alignment_shows_that_it_is_being_computed(page: Page, url: str) -> None:
    answer = DelayedAnswer(page, "answers/alignment.*tolerance=0.01")
    page.goto(f"{url}align?run=bad-1&baseline=good-1")
    expect(page.locator(".answer-story")).to_contain_text("loss")
    page.get_by_role("combobox", name="Tolerance").select_option("0.01")
    answer.until()
    expect(page.get_by_role("progressbar", name="Comparing every scalar of the two runs…")).to_be_visible()
    expect(page.locator(".answer-story")).to_have_count(0)  # that answers another question
    answer.release()
    expect(page.locator(".answer-story")).to_contain_text("loss")
    expect(page.get_by_role("progressbar")).to_have_count(0)


def test_an_alignment_opens_on_a_good_and_a_bad_run(page: Page, url: str) -> None:
    page.goto(f"{url}align?runs=bad-2,good-1,good-2,good-3,bad-1,bad-3")
    story = page.locator(".answer-story")
    expect(story).to_contain_text("the divergence begins at about step")
    by = page.get_by_role("combobox", name="Best and worst by")
    run, baseline = (page.get_by_role("combobox", name=name, exact=True) for name in ("Run", "Baseline"))
    expect(by).to_have_value("loss")
    expect(run).to_have_value(re.compile("bad-"))
    expect(baseline).to_have_value(re.compile("good-"))
    expect(by.get_by_role("option")).to_have_text(["loss", "norm"])  # most runs have no layers
    run.select_option("./good-2")
    expect(by.locator("option:checked")).to_have_text("own choice")
    by.select_option("loss")
    expect(run).to_have_value(re.compile("bad-"))


def test_a_link_to_a_missing_run_shows_no_other_verdict(page: Page, url: str) -> None:
    page.goto(f"{url}align?baseline=good-1&run=gone")
    expect(page.get_by_text("Run gone not found")).to_be_visible()
    expect(page.locator(".claim")).to_have_count(0)
    page.goto(f"{url}why?good=good-1&good=gone&bad=bad-1")
    expect(page.locator(".answer-story")).to_contain_text(
        "1 of 3 runs was not found, or is among the older runs that are not shown: gone."
    )
    for query in ("job=gone", "run=gone"):
        page.goto(f"{url}job?{query}")
        expect(page.get_by_text("No job gone with several ranks was found")).to_be_visible()
        expect(page.locator(".claim")).to_have_count(0)


def test_what_is_not_finite_is_hatched_in_every_table(page: Page, url: str) -> None:
    runs = "job/rank_0,job/rank_2"
    for address in (
        "align?baseline=job/rank_0&run=job/rank_2",
        f"scalar?m=compare&baseline=job/rank_0&runs={runs}&ranks=job",
        "why?good=job/rank_0&bad=job/rank_2",
        "job?job=job",
    ):
        page.goto(url + address)
        cell = page.locator("tr", has_text="loss").locator(".strange").first
        expect(cell).to_have_css("background-image", re.compile("repeating-linear-gradient"))


def test_a_run_that_broke_is_not_passed_over_if_it_is_shown(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    """Of three runs there is no other for the worst; of nine there is."""
    for base, count in (("few", 3), ("many", 9)):
        for number in range(count):
            with SummaryRecord(str(tmp_path / base / f"run_{number}")) as record:
                for step in range(30):
                    broken = number == 0 and step > 20
                    record.add_value("scalar", "loss", float("nan") if broken else 1.0 + number / (1 + step))
                    record.record(step)
    passed = page.get_by_text("was not taken for the worst")
    url = serve(tmp_path / "many")
    page.goto(f"{url}align")
    expect(page.locator(".claim").first).to_be_visible()
    expect(passed).to_be_visible()
    url = serve(tmp_path / "few")
    page.goto(f"{url}align")
    expect(page.locator(".claim").first).to_contain_text("NaN")
    expect(passed).to_have_count(0)


def test_a_job_leads_to_the_explanation_of_its_ranks(page: Page, url: str) -> None:
    page.goto(f"{url}job?run=job/rank_1")
    page.get_by_role("link", name="Explain").click()
    expect(page).to_have_url(re.compile(r"explain\?.*run=.*job.*rank_0"))


def test_a_job_draws_what_it_speaks_of_and_lists_missing_ranks(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    """Two scalars differ in one rank each, and a third splits the ranks."""
    for rank in (0, 1, 2, 4, 5, 6):
        noise = np.random.default_rng(rank).standard_normal((3, 200))
        loss, time, split = 0.01 * noise + np.array([[2.0], [0.2], [30.0]]) * (1 + 0.01 * noise)
        loss[100:] *= 1.5 if rank == 1 else 1
        time[50:] += 0.2 if rank == 2 else 0
        split *= 1.5 if rank > 3 else 1
        with SummaryRecord(str(tmp_path / "base" / "job"), rank=rank) as record:
            for step in range(200):
                for tag, values in {"loss": loss, "step_time": time, "norm": split}.items():
                    record.add_value("scalar", tag, float(values[step]))
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}job?job=job")
    titles = page.locator(".run-curves:visible .panel-title")
    expect(titles).to_have_count(3)
    assert sorted(titles.all_inner_texts()) == ["loss", "norm", "step_time"]
    table = page.get_by_role("table")
    expect(table.get_by_role("row").filter(has_text="rank 3")).to_contain_text("missing")
    expect(table.get_by_role("row").filter(has_text="rank 6")).to_contain_text("norm: upper group")
    expect(page.locator(".job-strip i[data-rank]")).to_have_count(6)
    page.get_by_role("link", name="rank 2", exact=True).click()
    expect(page).to_have_url(re.compile(r"overview\?.*run=.*job.*rank_2"))


def test_the_rank_whose_nan_came_first_leads_and_no_rank_is_left_out(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    """Eight ranks have NaN at the end, and six of them get a colour of their own."""
    for rank in range(8):
        loss = 2 + 0.01 * np.random.default_rng(rank).standard_normal(60)
        loss[49 if rank == 6 else 50 :] = np.nan
        with SummaryRecord(str(tmp_path / "base" / "job"), rank=rank) as record:
            for step, value in enumerate(loss):
                record.add_value("scalar", "loss", float(value))
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}job?job=job")
    expect(
        page.get_by_text("NaN or infinity begins on rank 6, at step 49; others have it from step 50 on.")
    ).to_be_visible()
    expect(page.get_by_role("table").get_by_role("row").nth(1)).to_contain_text("rank 6")
    legend = page.locator(".run-curves:visible .legend")
    expect(legend).to_contain_text("rank 6")
    expect(legend).to_contain_text("other ranks")
    panel = page.locator(".panel.scroll").filter(has=page.get_by_role("table"))
    expect(panel).to_have_css("background-color", "rgb(255, 255, 255)")  # not that of the page around it


def test_layers_are_one_map_and_a_click_gives_the_curve(page: Page, url: str) -> None:
    page.goto(f"{url}scalar?m=layers&runs=good-1")
    card = page.locator(".card").filter(has_text="layers.*/norm")
    expect(card).to_contain_text("4 layers")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.get_by_text("4 scalars in 1 map")).to_be_visible()
    card.locator(".nsewdrag").click()
    expect(page).to_have_url(re.compile(r"scalar\?.*q=%5Elayers"))
    expect(page.get_by_role("button", name="Curves")).to_have_attribute("aria-pressed", "true")


def test_why_and_alignment_ask_about_all_runs_until_some_are_chosen(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    """The charts show ten of fourteen by themselves; the oldest are the best and the worst."""
    for number in range(14):
        loss = {0: 0.1, 1: 9.0}.get(number, 1.0)
        with SummaryRecord(str(tmp_path / "base" / f"run_{number:02d}")) as record:
            for step in range(20):
                record.add_value("scalar", "loss", loss + 0.01 * step)
                record.record(step)
    url = serve(tmp_path / "base")
    page.goto(f"{url}why")
    expect(page.locator(".why-run")).to_have_count(14)
    best = page.get_by_role("group", name="Group of run_00").get_by_role("button", name="Good")
    expect(best).to_have_attribute("aria-pressed", "true")
    page.goto(f"{url}align")
    expect(page.get_by_role("combobox", name="Baseline")).to_have_value("./run_00")
    page.goto(f"{url}why?runs=run_04,run_05,run_06")
    expect(page.locator(".why-run")).to_have_count(3)


def test_why_asks_which_end_is_best_where_the_name_does_not_say(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    for number in range(3):
        with SummaryRecord(str(tmp_path / "base" / f"run_{number}")) as record:
            for step in range(20):
                record.add_value("scalar", "plumpness", number + 0.01 * step)
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}why")
    panel = page.locator(".why-runs")
    expect(panel).to_contain_text("Split by the lowest plumpness")
    expect(panel).to_contain_text("The name does not say which end is best.")
    page.get_by_role("group", name="Good are").get_by_role("button", name="the highest").click()
    expect(panel).to_contain_text("Split by the highest plumpness")
    best = page.get_by_role("group", name="Group of run_2").get_by_role("button", name="Good")
    expect(best).to_have_attribute("aria-pressed", "true")
    page.goto(page.url.replace("why?", "align?").split("?")[0])
    expect(page.get_by_role("combobox", name="Lowest and highest")).to_have_value("plumpness")


def test_why_alignment_and_all_are_about_the_runs_of_a_search_however_many(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    """The newest and worst runs are those that the search does not find."""
    for number in range(78):
        name = f"net/r{number:02d}" if number < 64 else f"lm/m{number:02d}"
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            for step in range(2):
                record.add_value("scalar", "loss", 1 + number + 0.01 * step)
                record.record(step)
    url = serve(tmp_path / "base")
    page.goto(f"{url}?q=net")
    expect(page.get_by_role("button", name="Chart these 64")).to_be_visible()
    page.get_by_role("link", name="Why?", exact=True).click()
    expect(page.locator(".why-run")).to_have_count(64)
    expect(page.locator(".why-runs")).to_contain_text("Bad: 21")
    page.goto(f"{url}?q=net")
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_role("combobox", name="Run", exact=True)).to_have_value("./net/r63")
    page.goto(f"{url}?q=net")
    page.get_by_role("button", name="All", exact=True).click()
    page.goto(page.url.replace("?", "why?"))
    expect(page.locator(".why-run")).to_have_count(64)


def test_settings_of_good_and_bad_runs_are_ranges_and_effects_percentages(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    rates = [0.001 * (number + 1) for number in range(6)] + [0.1 * (number + 1) for number in range(6)]
    for number, rate in enumerate(rates):
        with SummaryRecord(str(tmp_path / "base" / f"run_{number:02}")) as record:
            settings = {
                "rate": rate,
                "optimizer": ["adam", "sgd"][number % 2],
                "output_dir": f"/out/{number}",
            }
            record.add_value("custom_lineage_data", "settings", settings)
            for step in range(30):
                record.add_value("scalar", "loss", 1.0 if number < 6 else 2.0 + 0.1 * step)
                record.record(step)
    groups = [f"{'good' if number < 6 else 'bad'}=run_{number:02}" for number in range(12)]
    page.goto(f"{serve(tmp_path / 'base')}why?{'&'.join(groups)}")
    table = page.get_by_role("table").filter(has_text="Effect")
    expect(table.get_by_role("columnheader")).to_have_text(
        ["Setting", "Good runs", "Bad runs", "Effect", "By chance"]
    )
    rows = table.locator("tbody").get_by_role("row")
    expect(rows).to_have_count(2)  # the output directory names runs
    cells = rows.nth(0).get_by_role("cell")
    expect(rows.nth(0).get_by_role("rowheader")).to_have_text("rate")
    expect(cells).to_have_text(["0.001 … 0.006 (6 values)", "0.1 … 0.6 (6 values)", "100%", "< 1%"])
    expect(rows.nth(1).get_by_role("cell")).to_have_text(["adam, sgd", "adam, sgd", "0%", "100%"])
