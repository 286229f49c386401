"""Command `mindinsight explain`: prints what is wrong with a run, and what is not known."""

import argparse
import os
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from mindinsight.server.claims import exit_code
from mindinsight.server.commands.dump.dump_selection import statistics_cache, worker_pool
from mindinsight.server.commands.options import add_bases, add_command, add_json
from mindinsight.server.commands.report import chosen_run, show_progress
from mindinsight.server.commands.terminal import as_json, cell, localize, localize_claim, report_errors
from mindinsight.server.report import Progress, ReportSource
from mindinsight.server.texts import terminal_language


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "explain", explain)
    parser.add_argument("name", metavar="RUN")
    add_bases(parser)
    parser.add_argument("--dump", metavar="PATH")
    add_json(parser)


@report_errors
def explain(options: argparse.Namespace) -> int:
    """Print the explanation of a run, and return 0 if nothing was found, 1 for a fault, 2 if something is
    unknown, or not exactly one run matches."""
    from mindinsight.server.api.explanation import explain_run, in_order  # with every analysis

    summary, run = chosen_run(options.name, options.summary_base_dir)
    items = []
    with worker_pool() as executor:
        runs = summary.by_id()
        source = ReportSource(runs[run], runs, summary.dump_path, executor, statistics_cache())
        source = replace(source, dump=_dump_of(source, options.dump))
        for item in explain_run(source, time.time()):
            items.append(item)
            if isinstance(item, Progress):
                show_progress(item, terminal_language(os.environ))
    parts = in_order(items)
    if options.json:
        print(as_json({"run": run, "parts": [part.as_json() for part in parts]}))
    else:
        print("\n".join(line for part in parts for line in _lines(part)))
    faults = [claim for part in parts for claim in part.faults]
    unknown = [claim for part in parts for claim in part.claims if claim.verdict == "unknown"]
    return exit_code([*faults, *unknown])


def _dump_of(source: ReportSource, path: str | None) -> str:
    """Return the id of the dump at a path below the base, or "" without a path. Raises ValueError if the run
    has no such dump."""
    if path is None:
        return ""
    dump = f"./{PurePosixPath(path)}"
    if dump not in source.dumps:
        names = [name.removeprefix("./") for name in source.dumps]
        words = {"run": source.run.name, "dump": path, "names": ", ".join(names) or "–"}
        raise ValueError(localize("cli.explain.no_dump", words))
    return dump


def _lines(part: Any) -> Iterable[str]:
    """Yield the text of a part: its heading, its claims, and the line of code at fault."""
    if part.topic != "summary":
        yield ""
        after = f"{localize('explain.consequences')}: " if part.after else ""
        dump = f" ({cell(part.dump)})" if part.dump else ""
        yield f"{after}{localize(f'explain.topic.{part.topic}')}{dump}"
    indent = "" if part.topic == "summary" else "  "
    for claim in part.claims:
        if claim.key == "claim.explain.nothing":
            yield localize("explain.nothing")
            yield from (f"  - {localize_claim(searched)}" for searched in claim.values["searched"])
            continue
        marked = localize("explain.unknown") if claim.verdict == "unknown" else ""
        yield f"{indent}{marked}{localize_claim(claim)}"
    if part.frame is not None:
        yield f"{indent}{cell(part.frame.file)}:{part.frame.line}  {cell(part.frame.code)}"
