"""Alerts: the bell, the list with its filters and links, news of new ones, and the rules."""

import json
import math
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord

from .curves import eventually_true, query
from .delays import DelayedAnswer

HOSTILE = '<img src=x onerror="alert(1)">'
RECORDED = {"a": [(40, "gradients exploded", "error", "norm 1e9"), (10, "warm-up is over", "info", "")],
            "b": [(25, "slow batch", "warning", "took 12 s")]}  # fmt: skip


def train(
    base: Any, run: Any, alerts: Any = (), loss: Any = lambda step: 1 / (step + 1), steps: int = 60
) -> None:
    with SummaryRecord(base / run) as record:
        for step in range(steps):
            record.add_value("scalar", "train/loss", loss(step))
            record.record(step)
        for step, title, level, text in alerts:
            record.alert(title, text, level, step)


@pytest.fixture
def base(tmp_path: Path) -> Any:
    """Two runs: in ``a`` four points from step 30 are not finite, and each has alerts of its own."""
    train(tmp_path / "base", "a", RECORDED["a"], lambda step: math.nan if 30 <= step < 34 else 0.5)
    train(tmp_path / "base", "b", RECORDED["b"])
    return tmp_path / "base"


@pytest.fixture
def address(base: Any, serve: Any) -> Any:
    return serve(base)


def rows(page: Any) -> Any:
    return page.get_by_role("list", name="Alerts").get_by_role("listitem")


def row(page: Any, title: Any) -> Any:
    return rows(page).filter(has=page.get_by_role("link", name=title, exact=True))


def bell(page: Any, name: Any) -> Any:
    return page.get_by_role("banner").get_by_role("link", name=name, exact=True)


def rule(page: Any, words: Any) -> Any:
    return page.get_by_role("list", name="Rules").get_by_role("listitem").filter(has_text=words)


def add_rule(address: Any, **fields: Any) -> None:
    request = urllib.request.Request(
        f"{address}v2/alert/rules",
        json.dumps({"recorded": True, **fields}).encode(),
        {"Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=60).close()


def runs_drawn(traces: Any) -> Any:
    return {trace["name"] for trace in traces} & {"a", "b"}


def test_what_training_said_and_what_rules_found_is_listed_newest_first(page: Any, address: Any) -> None:
    page.goto(f"{address}alert")
    expect(rows(page)).to_have_count(4)
    expect(page.get_by_text("4 alerts, newest first")).to_be_visible()
    expect(rows(page).first.get_by_role("link")).to_have_text("slow batch")
    exploded = row(page, "gradients exploded")
    for text in ("Error", "norm 1e9", "step 40", "a"):
        expect(exploded.get_by_text(text, exact=True)).to_be_visible()
    entry = row(page, "train/loss is NaN")
    expect(entry).to_contain_text("step 30")
    expect(entry).to_contain_text("4 points")


def test_an_alert_leads_to_the_chart_of_its_run_at_its_step(page: Any, address: Any, chart: Any) -> None:
    page.goto(f"{address}alert")
    row(page, "train/loss is NaN").get_by_role("link").click()
    expect(page.get_by_role("heading", name="train/loss")).to_be_visible()
    assert query(page) == {"runs": ["a"], "q": ["^train/loss$"], "at": ["30"]}
    chart("train/loss").until(lambda traces: runs_drawn(traces) == {"a"})
    page.go_back()
    row(page, "slow batch").get_by_role("link").click()
    chart("train/loss").until(lambda traces: runs_drawn(traces) == {"b"})
    assert query(page) == {"runs": ["b"], "at": ["25"]}


def test_the_bell_counts_what_nobody_has_seen_and_remembers(page: Any, address: Any) -> None:
    page.goto(f"{address}scalar")
    bell(page, "Alerts: 4 new").click()
    expect(rows(page)).to_have_count(4)
    expect(rows(page).get_by_text("New", exact=True)).to_have_count(4)
    expect(bell(page, "Alerts: none new")).to_have_attribute("aria-current", "page")
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Scalars").click()
    expect(page.get_by_role("group", name="train/loss", exact=True)).to_be_visible()
    bell(page, "Alerts: none new").click()
    expect(rows(page)).to_have_count(4)
    expect(rows(page).get_by_text("New", exact=True)).to_have_count(0)
    page.reload()
    expect(rows(page)).to_have_count(4)
    expect(bell(page, "Alerts: none new")).to_be_visible()


def test_what_is_filtered_away_is_not_taken_for_seen(page: Any, address: Any) -> None:
    page.goto(f"{address}alert?level=error")
    expect(rows(page)).to_have_count(2)
    expect(bell(page, "Alerts: 4 new")).to_be_visible()


def test_a_new_alert_is_told_and_takes_no_focus_away(page: Any, address: Any, base: Any) -> None:
    page.goto(f"{address}scalar")
    expect(bell(page, "Alerts: 4 new")).to_be_visible()
    filters = page.get_by_role("searchbox", name="Filter tags")
    filters.focus()
    with SummaryRecord(base / "b") as record:
        record.alert("out of memory soon", level="error", step=70)
        expect(page.get_by_text("Error in b: out of memory soon")).to_be_visible()
        expect(bell(page, "Alerts: 5 new")).to_be_visible()
        expect(filters).to_be_focused()
        assert page.locator("#toasts").get_attribute("aria-live") == "polite"


def test_the_list_follows_and_leaves_who_reads_it_alone(page: Any, address: Any, base: Any) -> None:
    page.goto(f"{address}alert")
    link = row(page, "slow batch").get_by_role("link")
    link.focus()
    train(base, "c", [(3, "first of c", "info", "")])
    expect(rows(page)).to_have_count(5)
    expect(rows(page).first.get_by_role("link")).to_have_text("first of c")
    expect(link).to_be_focused()


def test_a_row_above_that_is_drawn_anew_leaves_the_focus_where_it_is(
    page: Any, address: Any, base: Any
) -> None:
    """The alert of a run that is not yet known gets its colour later."""
    page.goto(f"{address}alert")
    link = row(page, "slow batch").get_by_role("link")
    link.focus()
    held = DelayedAnswer(page, "/v2/runs")
    train(base, "c", [(3, "first of c", "info", "")])
    held.until()
    expect(rows(page)).to_have_count(5)
    unknown = row(page, "first of c").element_handle()
    held.release()
    page.wait_for_function("row => !row.isConnected", arg=unknown)
    expect(link).to_be_focused()


def test_only_what_is_wanted_is_listed_and_the_address_says_so(page: Any, address: Any) -> None:
    page.goto(f"{address}alert?runs=a")
    page.get_by_role("combobox", name="Level").select_option(label="Errors only")
    expect(rows(page)).to_have_count(2)
    page.get_by_role("combobox", name="Level").select_option(label="Warnings and errors")
    expect(rows(page)).to_have_count(3)
    page.get_by_role("button", name="Selected runs").click()
    expect(rows(page)).to_have_count(2)
    assert query(page) == {"runs": ["a"], "level": ["warning"], "of": ["shown"]}
    page.reload()
    expect(rows(page)).to_have_count(2)
    expect(page.get_by_role("button", name="Selected runs")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("checkbox", name="b", exact=True).check()
    expect(rows(page)).to_have_count(3)
    for name in "ab":
        page.get_by_role("checkbox", name=name, exact=True).uncheck()
    expect(page.get_by_text("No matching alerts")).to_be_visible()


def test_alerts_are_grouped_by_run_and_a_run_is_muted(page: Page, address: str) -> None:
    page.goto(f"{address}alert?by=run")
    heads = page.locator(".alert-group h2")
    expect(heads).to_have_text(["b", "a"])
    expect(page.locator(".alert-group .badge")).to_have_text(["1 alert", "3 alerts"])
    page.get_by_role("button", name="Mute a: not counted, not announced").click()
    expect(page.locator(".alert")).to_have_count(1)
    expect(heads).to_have_text(["b", "a"])
    page.get_by_role("button", name="By time").click()
    expect(page.locator(".alert.muted-run")).to_have_count(3)
    expect(page.get_by_role("checkbox", name="Notify me in the browser")).not_to_be_checked()


def test_a_long_list_of_several_runs_is_by_run(page: Any, tmp_path: Path, serve: Any) -> None:
    for name in "ab":
        train(tmp_path / "base", name, [(step, f"alert {step}", "info", "") for step in range(11)])
    page.goto(f"{serve(tmp_path / 'base')}alert")
    expect(page.locator(".alert-group")).to_have_count(2)
    expect(page.get_by_role("button", name="By run", exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="By time").click()
    expect(page.locator(".alert-group")).to_have_count(0)
    assert query(page)["by"] == ["time"]


def test_a_long_list_comes_in_pieces(page: Any, tmp_path: Path, serve: Any) -> None:
    train(tmp_path / "base", "many", [(step, f"alert {step}", "info", "") for step in range(130)])
    page.goto(f"{serve(tmp_path / 'base')}alert")
    expect(rows(page)).to_have_count(100)
    page.get_by_role("button", name="Show more").click()
    expect(rows(page)).to_have_count(130)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    assert query(page)["n"] == ["200"]


def test_alerts_that_are_not_listed_are_counted(page: Any, tmp_path: Path, serve: Any) -> None:
    train(tmp_path / "many", "a", [(step, f"alert {step}", "info", "") for step in range(1002)])
    page.goto(serve(tmp_path / "many") + "alert")
    status = page.get_by_role("main").get_by_role("status")
    expect(status).to_contain_text("1,000 alerts, newest first · 2 recorded alerts are not listed")


def test_without_alerts_the_page_says_how_to_raise_one(page: Any, tmp_path: Path, serve: Any) -> None:
    train(tmp_path / "base", "calm")
    page.goto(f"{serve(tmp_path / 'base')}alert")
    expect(page.get_by_role("heading", name="No alerts")).to_be_visible()
    expect(page.get_by_text("record.alert(")).to_be_visible()
    expect(bell(page, "Alerts: none new")).to_be_visible()


def test_titles_are_text_and_never_markup(page: Any, tmp_path: Path, serve: Any) -> None:
    train(tmp_path / "base", "odd", [(1, HOSTILE, "error", HOSTILE), (2, "", "info", "")])
    page.goto(f"{serve(tmp_path / 'base')}alert")
    expect(row(page, HOSTILE).locator("p")).to_have_text(HOSTILE)
    expect(row(page, "Untitled alert")).to_be_visible()


def test_a_rule_is_added_changed_switched_off_and_removed(page: Any, address: Any) -> None:
    page.goto(f"{address}alert?rules=1&level=warning")
    page.get_by_role("button", name="Add rule").click()
    expect(page.get_by_role("combobox", name="When")).to_be_focused()
    page.get_by_role("combobox", name="When").select_option(label="is above")
    page.get_by_role("textbox", name="Scalars").fill("*loss")
    page.get_by_role("spinbutton", name="Value").fill("0.9")
    expect(page.locator(".rule-preview")).to_contain_text("As recorded now, fires in")
    page.get_by_role("checkbox", name="Check recorded points too").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(rule(page, "*loss is above 0.9")).to_contain_text("Warning")
    expect(page.get_by_role("button", name="Add rule")).to_be_focused()
    expect(row(page, "train/loss is 1, above 0.9")).to_contain_text("step 0")

    page.get_by_role("button", name="Edit rule: *loss is above 0.9").click()
    page.get_by_role("spinbutton", name="Value").fill("0.4")
    page.get_by_role("combobox", name="Level").last.select_option(label="Error")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(rule(page, "*loss is above 0.4")).to_contain_text("Error")
    expect(row(page, "train/loss is 0.5, above 0.4")).to_contain_text("56 points")
    expect(row(page, "train/loss is NaN")).to_contain_text("recovered at step 34")

    page.get_by_role("checkbox", name="*loss is above 0.4").uncheck()
    expect(rows(page).get_by_role("link", name="above 0.4")).to_have_count(0)
    page.reload()
    box = page.get_by_role("checkbox", name="*loss is above 0.4")
    expect(box).not_to_be_checked()
    page.get_by_role("button", name="Delete rule: *loss is above 0.4").click()
    expect(box).to_have_count(0)


def test_the_rule_for_what_is_not_finite_is_there_and_can_only_be_switched_off(
    page: Any, address: Any
) -> None:
    page.goto(f"{address}alert?rules=1")
    words = "Any scalar is NaN or infinite"
    expect(rule(page, words)).to_be_visible()
    expect(page.get_by_role("button", name=f"Delete rule: {words}")).to_have_count(0)
    page.get_by_role("checkbox", name=words).uncheck()
    expect(rows(page)).to_have_count(3)
    page.get_by_role("checkbox", name=words).check()
    expect(rows(page)).to_have_count(4)
    page.get_by_role("button", name=f"Edit rule: {words}").click()
    expect(page.get_by_role("combobox", name="When")).to_be_disabled()
    page.get_by_role("textbox", name="Scalars").fill("val/*")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(rule(page, "val/* is NaN or infinite")).to_be_visible()
    expect(rows(page)).to_have_count(3)


def test_a_rule_for_silence_asks_for_minutes_and_no_scalars(page: Any, address: Any) -> None:
    page.goto(f"{address}alert?rules=1")
    page.get_by_role("button", name="Add rule").click()
    page.get_by_role("combobox", name="When").select_option(label="a run is silent")
    expect(page.get_by_role("textbox", name="Scalars")).to_be_hidden()
    expect(page.get_by_role("spinbutton", name="Minutes")).to_have_value("10")
    page.get_by_role("spinbutton", name="Minutes").fill("-3")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("spinbutton", name="Minutes")).to_be_visible()  # the browser refuses it
    page.get_by_role("spinbutton", name="Minutes").fill("45")
    page.keyboard.press("Enter")
    expect(rule(page, "writes nothing for 45 minutes")).to_be_visible()


def test_leaving_the_form_changes_nothing(page: Any, address: Any) -> None:
    page.goto(f"{address}alert?rules=1")
    page.get_by_role("button", name="Edit rule: Any scalar is NaN or infinite").click()
    page.get_by_role("textbox", name="Scalars").fill("nothing")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Edit rule: Any scalar is NaN or infinite")).to_be_focused()
    expect(rows(page)).to_have_count(4)


def test_what_cannot_be_kept_is_said(page: Any, address: Any) -> None:
    for limit in range(50):
        add_rule(address, condition="above", tags="none", limit=limit)
    page.goto(f"{address}alert?rules=1")
    page.get_by_role("button", name="Add rule").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text("There are already 50 rules; delete one first.")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()


def test_a_rule_of_somebody_else_comes_in_on_every_open_page(page: Any, address: Any) -> None:
    page.goto(f"{address}alert?rules=1")
    expect(rows(page)).to_have_count(4)
    add_rule(address, condition="below", tags="train/loss", limit=0.02)
    expect(rule(page, "train/loss is below 0.02")).to_be_visible()
    expect(rows(page)).to_have_count(5)


def test_who_is_at_a_rule_stays_there_when_runs_come(page: Any, address: Any, base: Any) -> None:
    page.goto(f"{address}alert?rules=1")
    box = page.get_by_role("checkbox", name="Any scalar is NaN or infinite")
    box.focus()
    train(base, "c", [(3, "first of c", "info", "")])
    expect(rows(page)).to_have_count(5)
    page.keyboard.press("Space")
    expect(box).not_to_be_checked()
    expect(rows(page)).to_have_count(4)
    expect(box).to_be_focused()


def test_the_rules_are_open_or_not_as_the_address_says(page: Any, address: Any) -> None:
    page.goto(f"{address}alert")
    heading = page.locator("summary", has_text="Rules")
    expect(page.get_by_role("button", name="Add rule")).to_be_hidden()
    heading.click()
    expect(page.get_by_role("button", name="Add rule")).to_be_visible()
    page.wait_for_url("**/alert?rules=1")
    heading.click()
    page.wait_for_url("**/alert")


def test_in_a_narrow_window_nothing_is_cut(page: Any, address: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}alert?rules=1")
    expect(rows(page)).to_have_count(4)
    page.get_by_role("button", name="Add rule").click()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(bell(page, "Alerts: none new")).to_be_in_viewport()


def test_the_page_speaks_chinese(browser: Any, address: Any) -> None:
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(f"{address}alert?rules=1")
    expect(page.get_by_role("list", name="告警").get_by_role("listitem")).to_have_count(4)
    expect(page.get_by_role("link", name="train/loss 为 NaN")).to_be_visible()
    expect(page.get_by_role("checkbox", name="任一标量：NaN 或无穷大")).to_be_checked()
    context.close()


def lines_of_alerts(page: Any) -> Any:
    """Where the lines of alerts are drawn in the chart."""
    chart = page.get_by_role("img", name="train/loss", exact=True)
    expect(chart.locator("svg").first).to_be_attached()
    chart.dispatch_event("focusin")
    return chart.evaluate(
        "one => (one._fullLayout?.shapes ?? []).filter(line => line.line.dash === 'dot').map(line => line.x0)"
    )


def test_alerts_are_lines_in_the_charts_of_their_runs(page: Any, address: Any, base: Any) -> None:
    page.goto(f"{address}scalar?runs=a,b")
    eventually_true(page, lambda: sorted(lines_of_alerts(page)) == [10, 25, 40])
    page.get_by_role("checkbox", name="a", exact=True).uncheck()
    eventually_true(page, lambda: lines_of_alerts(page) == [25])
    with SummaryRecord(base / "b") as record:
        record.alert("half way", step=30)
    eventually_true(page, lambda: sorted(lines_of_alerts(page)) == [25, 30])
    add_rule(address, condition="above", tags="train/*", limit=0.4)
    add_rule(address, condition="above", tags="val/*", limit=0.0)
    eventually_true(page, lambda: sorted(lines_of_alerts(page)) == [0, 25, 30])
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("combobox", name="X axis").select_option(label="Wall time")
    # A rule's alert has the time of its point; those of the training code came after the last one.
    eventually_true(page, lambda: [str(x)[:4] for x in lines_of_alerts(page)] == [time.strftime("%Y")])


def test_an_alert_is_read_where_its_line_is_pointed_at(page: Any, address: Any) -> None:
    page.goto(f"{address}scalar?runs=b")
    eventually_true(page, lambda: lines_of_alerts(page) == [25])
    chart = page.get_by_role("img", name="train/loss", exact=True)
    chart.scroll_into_view_if_needed()

    def tip_at(step: Any) -> str:
        """What a pointer at a step reads; it moves a little each time, for a chart may be drawn anew."""
        position = chart.evaluate(
            """(one, step) => {
                const { x, y, height } = one.getBoundingClientRect();
                const axis = one._fullLayout.xaxis;
                return [x + axis._offset + axis.c2p(step), y + height / 2 + 8 * Math.random()];
            }""",
            step,
        )
        page.mouse.move(*position)
        return " ".join(page.locator(".tip").all_inner_texts())

    eventually_true(page, lambda: "slow batch" in tip_at(25))
    eventually_true(page, lambda: "45" in (words := tip_at(45)) and "slow batch" not in words)
