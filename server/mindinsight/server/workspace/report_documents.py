"""Reports that users write: documents of Markdown and pinned cards, and the frozen cards."""

import contextlib
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from mindinsight.server.files.own_files import own_folder, read_own
from mindinsight.server.workspace.json_store import Full, JsonStore, replace_file
from mindinsight.server.workspace.saved_views import QUERY, VIEW

_NAME: Final = re.compile(r"[0-9a-f]{32}")


class FrozenCards:
    """Files `<folder>/<report>/<name>.json` of frozen cards."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, report: str, content: str) -> str:
        """Write `content` to a new file and return its name. Raises OSError."""
        data = content.encode("utf-8", "backslashreplace")
        name = secrets.token_hex(16)
        file = self._file(report, name)
        for folder in (self._folder, file.parent):
            own_folder(folder)
        replace_file(file, data)
        return name

    def content(self, report: str, name: str) -> bytes:
        """Return the content of a file. Raises KeyError if there is none of this name, OSError if another
        user owns it or can write to it."""
        if not _NAME.fullmatch(name):
            raise KeyError(name)
        try:
            return read_own(self._file(report, name))
        except FileNotFoundError:
            raise KeyError(name) from None

    def remove(self, report: str, names: Iterable[str]) -> None:
        """Remove files of a report, except those that cannot be removed."""
        for name in names:
            with contextlib.suppress(OSError):
                self._file(report, name).unlink(missing_ok=True)

    def drop(self, report: str) -> None:
        """Remove all files of a report."""
        shutil.rmtree(self._folder / report, ignore_errors=True)

    def _file(self, report: str, name: str) -> Path:
        return self._folder / report / f"{name}.json"


MAX_REPORTS: Final = 200  # all are in one file, which each change writes again
MAX_BLOCKS: Final = 200  # of a report
MAX_TITLE: Final = 200  # characters
MAX_TEXT: Final = 100_000  # characters of a block
END: Final = "end"  # place after the last block
START: Final = ""  # place before the first
_ID: Final = re.compile(r"[0-9a-f]{12}")


class Stale(Exception):  # noqa: N818
    """Error: another user has changed the text since it was read."""


@dataclass(frozen=True, slots=True)
class Block:
    """Block of a report: a text in Markdown, or a pinned card with a caption in Markdown."""

    id: str = ""
    text: str = ""
    version: int = 1  # grows with every change of the text
    view: str = ""  # page of a pinned card; empty for a text
    query: str = ""
    card: str = ""  # title of the card on its page; empty for the whole page
    position: int = 0  # of the card among the cards with its title
    frozen: str = ""  # name of the file with the card's content; empty for a live card


@dataclass(frozen=True, slots=True)
class Report:
    """Report: a title and blocks from top to bottom."""

    title: str
    blocks: tuple[Block, ...] = ()
    changed: float = 0.0  # Unix seconds


class Reports(JsonStore[Report]):
    """Reports of one base directory by id, in `<folder>/reports.json`, with frozen cards next to it.

    An unknown report or block raises KeyError, a file that cannot be written OSError.
    """

    def __init__(self, folder: Path, base: Path, clock: Callable[[], float] = time.time) -> None:
        super().__init__(folder / "reports.json", base, _report)
        self._cards = FrozenCards(folder / "reports")
        self._clock = clock

    def add(self, title: str) -> str:
        """Add a report and return its id. Raises Full if there are MAX_REPORTS."""
        report_id = _new_id()
        self.put(report_id, Report(title, (), self._clock()), MAX_REPORTS)
        return report_id

    def rename(self, report_id: str, title: str) -> None:
        """Rename a report. Raises KeyError if the id is unknown."""
        self._change(report_id, lambda report: replace(report, title=title))

    def forget(self, name: str) -> None:
        """Delete a report and its frozen cards. Raises KeyError if the id is unknown, OSError if the file
        cannot be written."""
        super().forget(name)
        self._cards.drop(name)

    def insert(self, report_id: str, block: Block, after: str, frozen: str | None = None) -> str:
        """Insert a block behind the block `after`, or at START or END, and return its id. Raises Full if
        there are MAX_BLOCKS, and KeyError for an unknown report or block. `frozen` is the content of a
        frozen card."""
        block = replace(block, id=_new_id())

        def with_it(report: Report) -> Report:
            if len(report.blocks) >= MAX_BLOCKS:
                raise Full
            name = "" if frozen is None else self._cards.keep(report_id, frozen)
            return _inserted(report, replace(block, frozen=name), after)

        self._change(report_id, with_it)
        return block.id

    def write(self, report_id: str, block_id: str, text: str, version: int) -> None:
        """Change the text of a block that was read at `version`. Raises Stale if it has changed since,
        KeyError for an unknown report or block."""

        def written(block: Block) -> Block:
            if block.version != version:
                raise Stale
            return replace(block, text=text, version=version + 1)

        self._change_block(report_id, block_id, written)

    def freeze(self, report_id: str, block_id: str, content: str | None) -> None:
        """Freeze a card as `content`, or make it live again (None). Raises KeyError for an unknown report or
        block."""

        def frozen(block: Block) -> Block:
            return replace(block, frozen="" if content is None else self._cards.keep(report_id, content))

        self._change_block(report_id, block_id, frozen)

    def move(self, report_id: str, block_id: str, after: str) -> None:
        """Move a block behind the block `after`, to END or to START. Raises KeyError for an unknown report or
        block."""

        def moved(report: Report) -> Report:
            block = _block(report, block_id)
            rest = replace(report, blocks=tuple(other for other in report.blocks if other is not block))
            return report if after == block_id else _inserted(rest, block, after)

        self._change(report_id, moved)

    def remove(self, report_id: str, block_id: str) -> None:
        """Delete a block. Raises KeyError for an unknown report or block."""

        def without(report: Report) -> Report:
            block = _block(report, block_id)
            return replace(report, blocks=tuple(other for other in report.blocks if other is not block))

        self._change(report_id, without)

    def frozen(self, report_id: str, name: str) -> bytes:
        """Return the content of a frozen card, as JSON. Raises KeyError for an unknown report or card."""
        if report_id not in self.all():
            raise KeyError(report_id)
        return self._cards.content(report_id, name)

    def _change_block(self, report_id: str, block_id: str, how: Callable[[Block], Block]) -> None:
        def changed(report: Report) -> Report:
            block = _block(report, block_id)
            after = how(block)
            return replace(report, blocks=tuple(after if item is block else item for item in report.blocks))

        self._change(report_id, changed)

    def _change(self, report_id: str, how: Callable[[Report], Report]) -> None:
        dropped: set[str] = set()  # names of files without a block after this change

        def changed(reports: dict[str, Report]) -> dict[str, Report]:
            before = reports[report_id]
            report = how(before)
            dropped.update(_frozen(before) - _frozen(report))
            return {**reports, report_id: replace(report, changed=self._clock())}

        self.update(changed)
        self._cards.remove(report_id, dropped)


def _frozen(report: Report) -> set[str]:
    return {block.frozen for block in report.blocks if block.frozen}


def _inserted(report: Report, block: Block, after: str) -> Report:
    ids = [other.id for other in report.blocks]
    at = {START: 0, END: len(ids)}.get(after)
    at = ids.index(after) + 1 if at is None and after in ids else at
    if at is None:
        raise KeyError(after)
    return replace(report, blocks=(*report.blocks[:at], block, *report.blocks[at:]))


def _block(report: Report, block_id: str) -> Block:
    return {block.id: block for block in report.blocks}[block_id]


def _new_id() -> str:
    return secrets.token_hex(6)


def _report(content: dict[str, Any]) -> Report | None:
    """Parse a report, or return None if it is invalid, because users may edit the file."""
    title, blocks, changed = (content.get(name) for name in ("title", "blocks", "changed"))
    if not isinstance(title, str) or not isinstance(blocks, list):
        return None
    parsed = [_parsed_block(block) for block in blocks if isinstance(block, dict)]
    known = tuple(block for block in parsed if block is not None)
    return Report(title, known, float(changed) if isinstance(changed, (int, float)) else 0.0)


def _parsed_block(content: dict[str, Any]) -> Block | None:
    defaults = Block()
    names = [field.name for field in fields(Block)]
    good = {name: content[name] for name in names if type(content.get(name)) is type(getattr(defaults, name))}
    block = Block(**good)
    page = not block.view or (re.fullmatch(VIEW, block.view) and re.fullmatch(QUERY, block.query))
    return block if page and _ID.fullmatch(block.id) else None
