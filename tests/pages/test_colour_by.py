"""Runs coloured by what they have: one choice for all pages, and what the colours mean."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from mindinsight.writer import SummaryRecord

from .curves import lines, query

RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.1)
RAMP = ("#30158a", "#b58200")  # its ends in light colours


def write_runs(base: Path) -> Path:
    """Six runs of two optimizers, each with its learning rate, whose losses end where their names say."""
    for number, rate in enumerate(RATES):
        optimizer = ("adam", "sgd")[number % 2]
        with SummaryRecord(str(base / f"{optimizer}_{number}")) as record:
            for step in range(3):
                record.add_value("scalar", "loss", float(number + 2 - step))
                record.record(step)
            hyper = {"learning_rate": rate, "optimizer": optimizer}
            record.add_value("custom_lineage_data", "settings", hyper)
            record.record(3)
    return base


@pytest.fixture(scope="module")
def url(serve_once: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One server for all tests that change nothing."""
    return serve_once(write_runs(tmp_path_factory.mktemp("coloured") / "base"))


@pytest.fixture
def changeable(serve: Any, tmp_path: Path) -> Any:
    return serve(write_runs(tmp_path / "base"))


def colour_by(page: Any, name: Any, now: str = "run") -> None:
    page.get_by_role("button", name=f"Colour by {now}", exact=True).click()
    choices = page.get_by_role("dialog", name="Colour runs by")
    choices.get_by_role("button", name=name, exact=True).click()
    expect(choices).to_have_count(0)


def sample(page: Any, run: Any) -> Any:
    """The line beside a run's name, in the panel or in the table."""
    rows = page.locator(".side-run:visible, tr:visible").filter(has=page.get_by_text(run, exact=True))
    return rows.locator(".line-sample path")


def drawn(chart: Any) -> dict[Any, Any]:
    return {line["name"]: line["colour"] for line in lines(chart)}


def test_a_hyper_parameter_of_many_values_is_a_ramp_on_every_page(page: Any, url: Any, chart: Any) -> None:
    page.goto(f"{url}scalar")
    chart("loss").until(lambda traces: len(traces) >= len(RATES))
    colour_by(page, "learning_rate")
    ends = {"adam_0": RAMP[0], "sgd_5": RAMP[1]}
    chart("loss").until(lambda _: drawn(chart("loss")).items() >= ends.items())
    legend = page.locator("#side .colour-legend")
    expect(legend).to_have_text("0.00010.1log")
    assert query(page)["colour"] == ["hyper:learning_rate"]
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Runs").click()
    expect(page).to_have_url(f"{url}?colour=hyper:learning_rate")
    expect(sample(page, "sgd_5")).to_have_attribute("stroke", RAMP[1])
    page.reload()
    expect(sample(page, "adam_0")).to_have_attribute("stroke", RAMP[0])
    page.goto(f"{url}lineage?colour=hyper:learning_rate")
    expect(page.locator('path[data-run="./sgd_5"]')).to_have_attribute("stroke", RAMP[1])


def test_few_values_are_named_and_counted(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    colour_by(page, "optimizer")
    expect(page.locator("#side .colour-legend .row .row")).to_have_text(["adam3", "sgd3"])
    expect(sample(page, "adam_2")).to_have_attribute("stroke", "#1f6fd6")
    expect(sample(page, "sgd_3")).to_have_attribute("stroke", "#cf5208")
    page.get_by_role("region", name="Scalars").get_by_role("link", name="Scalars").click()
    expect(page).to_have_url(re.compile("scalar.*colour=hyper:optimizer"))


def test_the_last_value_of_a_scalar_colours_and_new_values_move_it(
    page: Any, changeable: Any, tmp_path: Path
) -> None:
    page.goto(f"{changeable}overview?colour=last:loss")
    expect(sample(page, "adam_0")).to_have_attribute("stroke", RAMP[0])
    expect(page.locator("#side .colour-legend")).to_have_text("05")
    with SummaryRecord(str(tmp_path / "base" / "adam_0")) as record:
        record.add_value("scalar", "loss", 20.0)
        record.record(9)
    expect(page.locator("#side .colour-legend")).to_have_text("120")
    expect(sample(page, "adam_0")).to_have_attribute("stroke", RAMP[1])


def test_a_part_of_the_name_colours_and_a_broken_pattern_is_not_taken(page: Any, url: Any) -> None:
    page.goto(f"{url}?runs=adam_0,adam_2,sgd_1")
    page.get_by_role("button", name="Colour by run").click()
    choices = page.get_by_role("dialog", name="Colour runs by")
    box = choices.get_by_role("textbox", name="Regular expression")
    box.fill("(")
    page.keyboard.press("Enter")
    expect(choices).to_be_visible()
    assert box.evaluate("box => box.validationMessage").startswith("Invalid regular expression: character ")
    box.fill("^([a-z]+)_")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main").locator(".colour-legend .row .row")).to_have_text(["adam2", "sgd1"])
    assert query(page)["colour"] == ["name:^([a-z]+)_"]


def test_a_colour_that_somebody_chose_for_a_run_wins(page: Any, changeable: Any) -> None:
    page.goto(f"{changeable}?colour=hyper:optimizer")
    row = page.get_by_role("row").filter(has=page.get_by_text("adam_0", exact=True))
    row.get_by_role("button", name="Name, note, labels, group, colour").click()
    box = page.get_by_role("dialog", name="adam_0")
    box.get_by_title("#d5639c").click()
    box.get_by_role("button", name="Save").click()
    expect(sample(page, "adam_0")).to_have_attribute("stroke", "#d5639c")
    expect(sample(page, "adam_2")).to_have_attribute("stroke", "#1f6fd6")


def test_each_run_has_its_own_colour_again(page: Any, url: Any) -> None:
    page.goto(f"{url}overview?colour=hyper:optimizer")
    expect(sample(page, "adam_2")).to_have_attribute("stroke", "#1f6fd6")
    colour_by(page, "One colour per run", now="optimizer")
    expect(page.locator("#side .colour-legend")).to_have_text("")
    expect(page).to_have_url(f"{url}overview")
    strokes = [sample(page, name).get_attribute("stroke") for name in ("adam_0", "adam_2", "adam_4")]
    assert len(set(strokes)) == 3


def test_the_key_is_found_by_a_filter(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    page.get_by_role("button", name="Colour by run").click()
    choices = page.get_by_role("dialog", name="Colour runs by")
    expect(choices.get_by_role("button", name="loss")).to_be_visible()
    choices.get_by_role("searchbox").fill("RATE")
    expect(choices.get_by_role("button", name="loss")).to_have_count(0)
    expect(choices.get_by_role("button", name="learning_rate")).to_be_visible()


def test_a_key_that_nobody_has_says_so(page: Any, url: Any) -> None:
    page.goto(f"{url}overview?colour=hyper:nothing")
    expect(page.locator("#side .colour-legend")).to_have_text("6 without a value")


def side_colours(page: Page, address: str, runs: int) -> dict[str, str]:
    """Colours by run that the panel shows on a page, of the chosen runs."""
    page.goto(address)
    shown = page.locator("#side .side-run:has(:checked)")
    expect(shown).to_have_count(runs)
    colours: dict[str, str] = shown.evaluate_all(
        """rows => Object.fromEntries(rows.map((row) => [
          row.dataset.key, getComputedStyle(row.querySelector(".line-sample path")).stroke]))"""
    )
    return colours


@pytest.mark.parametrize(
    "first",
    [[], ["scalar?runs=run_00,run_10"], ["align?run=run_10&baseline=run_00", "lineage", "?runs=run_14"]],
)
def test_colours_do_not_depend_on_what_is_opened_first(
    browser: Browser, fifteen: tuple[str, dict[str, str]], first: list[str]
) -> None:
    url, known = fifteen
    every = ",".join(f"run_{i:02}" for i in range(15))
    with browser.new_context() as context:
        page = context.new_page()
        for address in first:
            page.goto(url + address)
            expect(page.locator("#view")).to_have_attribute("aria-busy", "false")
        colours = side_colours(page, f"{url}lineage?runs={every}", 15)
        assert len(set(colours.values())) == 15
        assert side_colours(page, f"{url}scalar?runs={every}", 15) == colours
        known.update(known or colours)
        assert colours == known
        pair = side_colours(page, f"{url}scalar?runs=run_00,run_10", 2)
        assert pair == {name: known[name] for name in pair}


@pytest.fixture(scope="module")
def fifteen(serve_once: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """Address of fifteen runs, and their colours once a test knows them."""
    base = tmp_path_factory.mktemp("fifteen") / "base"
    for i in range(15):
        with SummaryRecord(str(base / f"run_{i:02}")) as record:
            record.add_value("custom_lineage_data", "user", {"rate": 0.1 * i})
            record.add_value("scalar", "loss", 1.0 + i)
            record.record(1)
    return serve_once(base), {}
