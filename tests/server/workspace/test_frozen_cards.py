"""Frozen cards: files that are written once, found by name, and removed by name alone."""

import stat
from pathlib import Path

import pytest

from mindinsight.server.workspace.frozen_cards import FrozenCards


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
