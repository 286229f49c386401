"""``mindinsight dump convert``: every tensor of a dump as a .npy file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mindinsight.server.commands.dump.selection import add_selection, open_one, selected, workers
from mindinsight.server.commands.messages import complain, telling
from mindinsight.server.commands.terminal import as_json, progress, say
from mindinsight.server.compute.parallel_map import batched, spread
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.formats.dumps.types import FileDamage, TensorEntry
from mindinsight.server.formats.stored import write_npy
from mindinsight.server.formats.unreadable import UnreadableError


def register(actions: Any) -> None:
    text = "write the tensors of a dump (bin, pt, npy) as .npy files, in host order of axes"
    parser = actions.add_parser("convert", help=text, description=text, allow_abbrev=False)
    add_selection(parser)
    parser.add_argument(
        "--output", type=Path, required=True, help="directory for the files; made when it is not there"
    )
    parser.set_defaults(run=run)


@telling
def run(options: argparse.Namespace) -> int:
    """0: all written. 1: some could not be read. 2: no dump, or nowhere to write."""
    dump = open_one(options.path)
    entries, damage = selected(dump, options)
    entries = [entry for entry in entries if entry.ref is not None]
    options.output.mkdir(parents=True, exist_ok=True)
    work = partial(_convert_batch, Path(dump.path), options.output.absolute())
    with workers() as executor:
        batches = spread(work, batched(entries), executor)
        answers = list(progress(_flat(batches), len(entries), "tensors written"))
    written = [answer for answer in answers if isinstance(answer, str)]
    damage += [answer for answer in answers if isinstance(answer, FileDamage)]
    if options.json:
        print(as_json({"written": written}))
    else:
        say(f"{len(written)} files written below {options.output}")
    complain(damage)
    return 1 if damage else 0


def file_name(entry: TensorEntry) -> str:
    """The name a dump in npy form would have: the recorded one, direction, slot and format.

    No part of a name can lead out of the directory.
    """
    path = Path(entry.ref.path if entry.ref else "")
    if path.suffix in (".npy", ".pt"):
        return f"{path.stem}.npy"
    return f"{path.name}.{entry.direction}.{_harmless(entry.slot)}.{_harmless(entry.format or 'ND')}.npy"


def _convert_batch(root: Path, output: Path, batch: Sequence[TensorEntry]) -> list[str | FileDamage]:
    return [_convert(root, output, entry) for entry in batch]


def _convert(root: Path, output: Path, entry: TensorEntry) -> str | FileDamage:
    assert entry.ref is not None
    source = Path(entry.ref.path)
    target = output / os.path.relpath(source.parent, root) / file_name(entry)
    try:
        values = tensor_values(entry.ref)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            file.writelines(write_npy(values))
    except UnreadableError as error:
        target.unlink(missing_ok=True)  # the half of a tensor is none
        return FileDamage(entry.ref.path, error.reason, error.detail)
    return str(target)


def _harmless(text: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in text)


def _flat(batches: Iterator[list[str | FileDamage]]) -> Iterator[str | FileDamage]:
    for batch in batches:
        yield from batch
