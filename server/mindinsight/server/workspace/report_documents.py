"""Reports that users write: documents of Markdown and pinned cards, and the cards they froze."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from mindinsight.server.files.own_files import own_folder, read_own
from mindinsight.server.workspace.json_store import Full, JsonStore
from mindinsight.server.workspace.saved_views import QUERY, VIEW

_NAME: Final = re.compile(r"[0-9a-f]{32}")


class FrozenCards:
    """The files ``<folder>/<report>/<name>.json``; the ids of reports are the caller's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, report: str, content: str) -> str:
        """Name of the file with ``content``; OSError when it cannot be written."""
        data = content.encode("utf-8", "backslashreplace")
        name = secrets.token_hex(16)
        file = self._file(report, name)
        for folder in (self._folder, file.parent):
            own_folder(folder)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".card-")  # mode 0600
        try:
            with os.fdopen(handle, "wb") as output:
                output.write(data)
            Path(temporary).replace(file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return name

    def content(self, report: str, name: str) -> bytes:
        """KeyError when there is none of this name; OSError for one that is not ours."""
        if not _NAME.fullmatch(name):
            raise KeyError(name)
        try:
            return read_own(self._file(report, name))
        except FileNotFoundError:
            raise KeyError(name) from None

    def remove(self, report: str, names: Iterable[str]) -> None:
        """Remove files of a report; what cannot be removed stays."""
        for name in names:
            with contextlib.suppress(OSError):
                self._file(report, name).unlink(missing_ok=True)

    def drop(self, report: str) -> None:
        """Remove all files of a report."""
        shutil.rmtree(self._folder / report, ignore_errors=True)

    def _file(self, report: str, name: str) -> Path:
        return self._folder / report / f"{name}.json"


MAX_REPORTS: Final = 200
MAX_BLOCKS: Final = 200
MAX_TITLE: Final = 200  # characters
MAX_TEXT: Final = 100_000  # characters of a block
END: Final = "end"  # place after the last block
START: Final = ""  # place before the first
_ID: Final = re.compile(r"[0-9a-f]{12}")


class Outdated(Exception):  # noqa: N818
    """Error: the text was changed by somebody else since it was read."""


@dataclass(frozen=True, slots=True)
class Block:
    """Text in Markdown, or a pinned card with a caption in Markdown."""

    id: str = ""
    text: str = ""
    version: int = 1  # grows with every change of the text
    view: str = ""  # page of a pinned card; empty for a text
    query: str = ""
    card: str = ""  # title of the card on its page; empty for the whole page
    position: int = 0  # of the card among those of its title
    frozen: str = ""  # name of the file with what the card showed; empty for a live card


@dataclass(frozen=True, slots=True)
class Report:
    """Report: a title and blocks from top to bottom."""

    title: str
    blocks: tuple[Block, ...] = ()
    changed: float = 0.0  # Unix seconds


class Reports:
    """The reports of one base directory by id, in ``<folder>/reports.json``, frozen cards beside it."""

    def __init__(self, folder: Path, base: Path, clock: Callable[[], float] = time.time) -> None:
        self._store = JsonStore(folder / "reports.json", base, _report)
        self._cards = FrozenCards(folder / "reports")
        self._clock = clock

    def all(self) -> Mapping[str, Report]:
        """By id, in the order in which they were begun."""
        return self._store.values()

    def add(self, title: str) -> str:
        """Id of a new report; ``Full`` when there is no room for more."""
        report_id = _new_id()

        def with_it(reports: dict[str, Report]) -> dict[str, Report]:
            if len(reports) >= MAX_REPORTS:
                raise Full
            return {**reports, report_id: Report(title, (), self._clock())}

        self._store.change(with_it)
        return report_id

    def rename(self, report_id: str, title: str) -> None:
        """KeyError when there is none of this id, here and below."""
        self._change(report_id, lambda report: replace(report, title=title))

    def forget(self, report_id: str) -> None:
        """Delete a report and its frozen cards."""

        def without(reports: dict[str, Report]) -> dict[str, Report]:
            del reports[report_id]
            return reports

        self._store.change(without)
        self._cards.drop(report_id)

    def insert(self, report_id: str, block: Block, after: str, frozen: str | None = None) -> str:
        """Id of a new block after another one, after ``END`` or ``START``; ``frozen`` is what a card shows.

        ``Full`` when there is no room for more.
        """
        block = replace(block, id=_new_id())

        def with_it(report: Report) -> Report:
            if len(report.blocks) >= MAX_BLOCKS:
                raise Full
            name = "" if frozen is None else self._cards.keep(report_id, frozen)
            return _inserted(report, replace(block, frozen=name), after)

        self._change(report_id, with_it)
        return block.id

    def write(self, report_id: str, block_id: str, text: str, version: int) -> None:
        """Change the text of a block that was read at ``version``; ``Outdated`` if it is another by now."""

        def written(block: Block) -> Block:
            if block.version != version:
                raise Outdated
            return replace(block, text=text, version=version + 1)

        self._change_block(report_id, block_id, written)

    def freeze(self, report_id: str, block_id: str, content: str | None) -> None:
        """Freeze a card as ``content``, or make it live again (None)."""

        def frozen(block: Block) -> Block:
            return replace(block, frozen="" if content is None else self._cards.keep(report_id, content))

        self._change_block(report_id, block_id, frozen)

    def move(self, report_id: str, block_id: str, after: str) -> None:
        """Move a block behind another one, to ``END`` or to ``START``."""

        def moved(report: Report) -> Report:
            block = _block(report, block_id)
            rest = replace(report, blocks=tuple(other for other in report.blocks if other is not block))
            return report if after == block_id else _inserted(rest, block, after)

        self._change(report_id, moved)

    def remove(self, report_id: str, block_id: str) -> None:
        """Delete a block."""

        def without(report: Report) -> Report:
            block = _block(report, block_id)
            return replace(report, blocks=tuple(other for other in report.blocks if other is not block))

        self._change(report_id, without)

    def frozen(self, report_id: str, name: str) -> bytes:
        """What a frozen card showed, as JSON."""
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
        dropped: set[str] = set()  # names of the files that this change leaves without a block

        def changed(reports: dict[str, Report]) -> dict[str, Report]:
            before = reports[report_id]
            report = how(before)
            dropped.update(_frozen(before) - _frozen(report))
            return {**reports, report_id: replace(report, changed=self._clock())}

        self._store.change(changed)
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
    for block in report.blocks:
        if block.id == block_id:
            return block
    raise KeyError(block_id)


def _new_id() -> str:
    return secrets.token_hex(6)


def _report(content: dict[str, Any]) -> Report | None:
    """A report from what the file says: somebody may have written to it."""
    title, blocks, changed = (content.get(name) for name in ("title", "blocks", "changed"))
    if not isinstance(title, str) or not isinstance(blocks, list):
        return None
    parsed = [_parsed_block(block) for block in blocks if isinstance(block, dict)]
    known = tuple(block for block in parsed if block is not None)
    return Report(title, known, float(changed) if isinstance(changed, (int, float)) else 0.0)


def _parsed_block(content: dict[str, Any]) -> Block | None:
    defaults = Block()
    good = {
        field.name: content[field.name]
        for field in fields(Block)
        if type(content.get(field.name)) is type(getattr(defaults, field.name))
    }
    block = Block(**good)
    page = not block.view or (re.fullmatch(VIEW, block.view) and re.fullmatch(QUERY, block.query))
    return block if page and _ID.fullmatch(block.id) else None
