"""Reports: blocks change one by one, so that nobody's text is lost, at one server or at two."""

import json
import stat
from pathlib import Path

import pytest

from mindinsight.server.workspace.json_store import Full
from mindinsight.server.workspace.report_documents import (
    END,
    MAX_BLOCKS,
    START,
    Block,
    FrozenCards,
    Reports,
    Stale,
)

LOSS = Block(view="scalar", query="runs=a&q=loss", card="loss")


@pytest.fixture
def reports(tmp_path: Path) -> Reports:
    return Reports(tmp_path / "workspace", tmp_path / "base", clock=lambda: 5.0)


def texts(reports: Reports, report: str) -> list[str]:
    return [block.text for block in reports.all()[report].blocks]


def test_two_servers_write_to_one_report_and_lose_nothing(reports: Reports, tmp_path: Path) -> None:
    other = Reports(tmp_path / "workspace", tmp_path / "base")
    report = reports.add("Why run 7 is best")
    first = reports.insert(report, Block(text="one"), END)
    second = other.insert(report, Block(text="two"), END)
    reports.write(report, first, "one, changed", 1)
    other.write(report, second, "two, changed", 1)
    assert texts(reports, report) == texts(other, report) == ["one, changed", "two, changed"]
    assert Reports(tmp_path / "workspace", tmp_path / "elsewhere").all() == {}


def test_a_text_that_was_changed_meanwhile_is_not_overwritten(reports: Reports) -> None:
    report = reports.add("a")
    block = reports.insert(report, Block(text="one"), END)
    reports.write(report, block, "theirs", 1)
    with pytest.raises(Stale):
        reports.write(report, block, "mine", 1)
    assert texts(reports, report) == ["theirs"]
    reports.write(report, block, "both", 2)


def test_blocks_are_inserted_and_moved_behind_others(reports: Reports) -> None:
    report = reports.add("a")
    b = reports.insert(report, Block(text="b"), END)
    reports.insert(report, Block(text="a"), START)
    d = reports.insert(report, Block(text="d"), END)
    c = reports.insert(report, Block(text="c"), b)
    assert texts(reports, report) == ["a", "b", "c", "d"]
    reports.move(report, d, START)
    reports.move(report, c, c)
    assert texts(reports, report) == ["d", "a", "b", "c"]
    with pytest.raises(KeyError):
        reports.move(report, d, "0" * 12)
    assert texts(reports, report) == ["d", "a", "b", "c"]


def test_a_frozen_card_is_kept_until_nothing_shows_it(reports: Reports, tmp_path: Path) -> None:
    report = reports.add("a")
    block = reports.insert(report, LOSS, END, '{"tree": []}')
    (name,) = (item.frozen for item in reports.all()[report].blocks)
    assert reports.frozen(report, name) == b'{"tree": []}'
    reports.freeze(report, block, None)
    with pytest.raises(KeyError):
        reports.frozen(report, name)
    reports.freeze(report, block, "{}")
    reports.remove(report, block)
    assert list((tmp_path / "workspace" / "reports" / report).iterdir()) == []


def test_a_deleted_report_takes_its_cards_along(reports: Reports, tmp_path: Path) -> None:
    report = reports.add("a")
    reports.insert(report, LOSS, END, "{}")
    reports.forget(report)
    assert reports.all() == {} and not (tmp_path / "workspace" / "reports" / report).exists()
    with pytest.raises(KeyError):
        reports.rename(report, "b")


def test_there_is_an_end_to_blocks(reports: Reports, tmp_path: Path) -> None:
    report = reports.add("a")
    reports.insert(report, Block(text="x"), END)
    file = tmp_path / "workspace" / "reports.json"
    content = json.loads(file.read_text())
    (fields,) = content.values()
    fields[report]["blocks"] *= MAX_BLOCKS
    file.write_text(json.dumps(content))
    with pytest.raises(Full):
        reports.insert(report, Block(text="y"), END)


def test_what_somebody_wrote_into_the_file_is_left_out_where_it_makes_no_sense(
    reports: Reports, tmp_path: Path
) -> None:
    report = reports.add("a")
    reports.insert(report, Block(text="good"), END)
    file = tmp_path / "workspace" / "reports.json"
    content = json.loads(file.read_text())
    (fields,) = content.values()
    good = fields[report]["blocks"][0]
    strange = [7, {"id": "../../x"}, {**good, "view": "//host"}, {**good, "text": 7, "unknown": 1}]
    fields[report]["blocks"] += strange
    fields["0" * 12] = {"title": None, "blocks": []}
    file.write_text(json.dumps(content))
    assert texts(reports, report) == ["good", ""]
    assert list(reports.all()) == [report]


def test_what_was_frozen_comes_back_until_it_is_removed(tmp_path: Path) -> None:
    cards = FrozenCards(tmp_path)
    first, second = cards.keep("a", '{"x": "损失"}'), cards.keep("a", "{}")
    cards.remove("a", [second, "0" * 32])
    assert cards.content("a", first).decode() == '{"x": "损失"}'
    with pytest.raises(KeyError):
        cards.content("a", second)


def test_only_the_user_can_read_them(tmp_path: Path) -> None:
    FrozenCards(tmp_path / "reports").keep("a", "{}")
    (file,) = (tmp_path / "reports" / "a").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["", "../reports", "0" * 31, "0" * 32 + "\n", "/etc/passwd"])
def test_a_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    (tmp_path / "reports.json").write_text("{}")
    with pytest.raises(KeyError):
        FrozenCards(tmp_path / "reports").content("a", name)
