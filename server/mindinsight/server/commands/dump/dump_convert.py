"""Command ``mindinsight dump convert``: writes every tensor of a dump as a .npy file."""

import argparse
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from mindinsight.server.commands.dump import dump_selection
from mindinsight.server.commands.options import add_command
from mindinsight.server.commands.terminal import (
    as_json,
    count_text,
    localize,
    progress,
    report_damage,
    report_errors,
    say,
)
from mindinsight.server.compute.parallel_map import batched, spread
from mindinsight.server.formats.arrays.lazy_array import write_npy
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.formats.dumps.device_formats import host_format
from mindinsight.server.formats.dumps.dump_types import FileDamage, TensorEntry
from mindinsight.server.formats.dumps.npy_folder import read_mapping
from mindinsight.server.formats.read_limits import UnreadableError


def register(actions: Any) -> None:
    """Add `mindinsight dump convert` to the actions."""
    parser = add_command(actions, "convert", run)
    dump_selection.add_selection(parser)
    parser.add_argument("--output", type=Path, required=True)


@report_errors
def run(options: argparse.Namespace) -> int:
    """Write the selected tensors of a dump that have values as .npy files, and return 0. Return 2 without
    a dump, if no tensor has values, if some cannot be read, or if the output cannot be written. Tensors of
    which only statistics were recorded are left out."""
    dump = dump_selection.open_single_dump(options.path, "convert")
    entries, damage = dump_selection.select_tensors(dump, options)
    damage += [entry.damage for entry in entries if entry.ref is None and entry.damage is not None]
    without_values = sum(entry.ref is None and entry.damage is None for entry in entries)
    entries = [entry for entry in entries if entry.ref is not None]
    options.output.mkdir(parents=True, exist_ok=True)
    convert = partial(_convert_batch, Path(dump.path), options.output.absolute())
    with dump_selection.worker_pool() as executor:
        batches = spread(convert, batched(entries), executor)
        results = list(progress(chain.from_iterable(batches), len(entries), "cli.progress.tensors_written"))
    both = zip(entries, results, strict=True)
    pairs = [(entry, result) for entry, result in both if isinstance(result, str)]
    written = [path for _, path in pairs]
    _write_mappings(pairs, damage)
    damage += [result for result in results if isinstance(result, FileDamage)]
    if options.json:
        print(as_json({"written": written, "damage": [asdict(entry) for entry in damage]}))
    else:
        words = {"files": count_text(len(written), "file"), "path": options.output}
        say(localize("cli.dump.written", words))
    if without_values:
        say(localize("cli.dump.statistics_only", {"n": without_values}))
    report_damage(damage)
    return 0 if written and not damage else 2


def file_name(entry: TensorEntry, shape: tuple[int, ...]) -> str:
    """Return the file name of a converted tensor: recorded name, direction, slot and format, as in a dump
    of npy files. `shape` is the shape of the values as read. If it equals the recorded shape, the values
    are in host order. No part of the name can lead out of the directory."""
    path = Path(entry.ref.path if entry.ref else "")
    if path.suffix in (".npy", ".pt"):
        return f"{path.stem}.npy"
    turned = entry.format and shape == entry.shape
    layout = host_format(entry.format, len(shape)) if turned else entry.format or "ND"
    return f"{path.name}.{entry.direction}.{_safe_name(entry.slot)}.{_safe_name(layout)}.npy"


def _convert_batch(root: Path, output: Path, batch: Sequence[TensorEntry]) -> list[str | FileDamage]:
    return [_convert(root, output, entry) for entry in batch]


def _convert(root: Path, output: Path, entry: TensorEntry) -> str | FileDamage:
    assert entry.ref is not None
    source = Path(entry.ref.path)
    folder = output / os.path.relpath(source.parent, root)
    target: Path | None = None
    try:
        values = tensor_values(entry.ref)
        target = folder / file_name(entry, values.shape)
        folder.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            file.writelines(write_npy(values))
    except UnreadableError as error:
        if target is not None:
            target.unlink(missing_ok=True)  # do not leave half a tensor
        return FileDamage(entry.ref.path, error.reason, error.detail)
    return str(target)


def _write_mappings(pairs: Iterable[tuple[TensorEntry, str]], damage: list[FileDamage]) -> None:
    """Write `mapping.csv` for files with names that were too long, including suffixes added by the
    conversion.
    """
    mappings: dict[Path, dict[str, str]] = {}
    lines: dict[Path, list[str]] = {}
    for entry, written in pairs:
        source, target = Path(entry.ref.path if entry.ref else ""), Path(written)
        if source.parent not in mappings:
            mappings[source.parent] = read_mapping(source.parent, damage)
        name = mappings[source.parent].get(source.name)
        if name is not None:
            suffix = "" if target.name == source.name else target.name.removeprefix(source.name)
            lines.setdefault(target.parent, []).append(f"{target.name},{name}{suffix}\n")
    for folder, mapping_lines in lines.items():
        text, mapping = "".join(mapping_lines), folder / "mapping.csv"
        mapping.write_text(text, encoding="utf-8", errors="surrogateescape")


def _safe_name(text: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in text)
