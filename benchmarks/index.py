"""The index beside TensorBoard and MindInsight: what loading, holding and serving runs costs.

All three read the same values, each in its own format. CPU seconds are those of the server and all its
processes from the start of the command, the imports of Python included, until everything is loaded.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
import optuna

from benchmarks import busy, decode, live, opening, workloads
from benchmarks.servers import MindInsight, NotLoadedError, Ours, Server, TensorBoard, timed_requests
from mindinsight.writer import SummaryRecord

ROUNDS = 3
IDLE = 30.0  # seconds
TAG = "train/loss_1"
SEARCHED, SETTINGS = 100, 30  # runs of a search, and its settings
NONE = "–"

Start = Callable[[], Server]


@dataclass(frozen=True)
class Row:
    work: str
    tensorboard: str
    mindinsight: str
    ours: str
    promised: str = ""


@dataclass(frozen=True)
class Contest:
    """Pythons of the environments that have the peers (None leaves one out), and a scratch folder."""

    tensorboard_python: Path | None
    mindinsight_python: Path | None
    scratch: Path

    def ours(self, base: Path) -> Start:
        return lambda: Ours(base, self.new_folder())

    def tensorboard(
        self, base: Path, kind: str = "scalars", keep: int | None = None, fast: bool = True
    ) -> Start | None:
        python = self.tensorboard_python
        return None if python is None else lambda: TensorBoard(python, base, kind, keep, fast)

    def mindinsight(self, base: Path) -> Start | None:
        python = self.mindinsight_python
        return None if python is None else lambda: MindInsight(python, base)

    def new_folder(self) -> Path:
        path = self.scratch / str(len(list(self.scratch.iterdir())))
        path.mkdir()
        return path


def loading(begin: Start | None, runs: int, rounds: int = ROUNDS) -> tuple[str, str, float]:
    """CPU seconds to load, the least of some rounds, and the MB held then; the seconds as number, too."""
    if begin is None:
        return NONE, NONE, np.nan
    costs = []
    for _ in range(rounds):
        with begin() as server:
            try:
                costs.append((server.wait(runs), server.memory()))
            except NotLoadedError as error:
                return str(error), f"{server.memory():.0f}", np.nan
    cpu, memory = min(costs)
    return f"{cpu:.2f}", f"{memory:.0f}", cpu


def request_costs(server: Server, paths: list[str], clients: int = 1) -> tuple[float, float, int]:
    """Server CPU ms a request, median ms of a request, and bytes of an answer."""
    timed_requests(server, paths[:5])
    before = server.cpu()
    times, size = timed_requests(server, paths, clients)
    return (server.cpu() - before) / len(paths) * 1000, statistics.median(times) * 1000, size


def base_of(workload: str) -> tuple[Path, Path]:
    return workloads.folder(workload, "mindspore"), workloads.folder(workload, "tensorboard")


def start(contest: Contest) -> list[Row]:
    empty = contest.new_folder()
    begins = ((contest.tensorboard(empty), 3), (contest.mindinsight(empty), 1), (contest.ours(empty), 3))
    cells = [loading(begin, 0, rounds)[0] for begin, rounds in begins]
    return [
        Row("start on an empty directory, contained in what follows, CPU s", *cells),
        *_openings(contest, empty),
    ]


def _openings(contest: Contest, empty: Path) -> list[Row]:
    """From the command to the first page, and to the first chart of eight runs of ten tags."""
    mine, theirs = base_of("eight_runs")
    pages = [
        opening.opened(begin, page, []) if begin else None
        for begin, page in ((contest.tensorboard(empty), "/"), (contest.ours(empty), "/scalar"))
    ]
    charts = [
        opening.opened(begin, page, data) if begin else None
        for begin, page, data in (
            (contest.tensorboard(theirs), "/", opening.their_chart(TAG)),
            (contest.ours(mine), "/scalar", opening.our_chart(TAG)),
        )
    ]
    page_cells = [page.page() if page else NONE for page in pages]
    chart_cells = [chart.chart() if chart else NONE for chart in charts]
    page_work = "empty directory, start until the first page is served: CPU s, wall s"
    chart_work = "8 runs × 10 tags, start until the first chart's data: CPU s, wall s, requests, MB"
    return [
        Row(page_work, page_cells[0], NONE, page_cells[1], "≤ 0.65, ≤ 0.5"),
        Row(chart_work, chart_cells[0], NONE, chart_cells[1], "≤ 0.7, –, ≤ 20, ≤ 1.2"),
    ]


def w1(contest: Contest) -> list[Row]:
    mine, theirs = base_of("w1")
    cpu, memory, number = loading(contest.ours(mine), 8)
    some, some_memory, some_number = loading(contest.tensorboard(theirs), 8)
    every, every_memory, _ = loading(contest.tensorboard(theirs, keep=100_000), 8, 1)
    eighth, eighth_memory, _ = loading(contest.mindinsight(mine / "run_0"), 1, 1)
    both = NONE if contest.tensorboard_python is None else f"{some} keeping 1 %, {every} keeping all"
    share = "" if contest.tensorboard_python is None else f", {number / some_number:.2f} of TensorBoard"
    return [
        Row(
            "W1: 8 runs × 10 tags × 100 000 steps, CPU s",
            both,
            NONE if contest.mindinsight_python is None else f"{eighth} for one of the runs, keeping 1 %",
            f"{cpu} keeping all{share}",
            "≤ 1.2, ≤ 0.4 of TensorBoard",
        ),
        Row("the same, MB", f"{some_memory}, {every_memory}", eighth_memory, memory, "≤ 260"),
    ]


def tfevents(contest: Contest) -> list[Row]:
    """Both servers read the same files, those of TensorBoard's writers."""
    rows = []
    for workload, runs, title, promise, part in (
        ("w1", 8, "W1 in TensorBoard's format: 8 million points, CPU s", 0.35, "run_0"),
        ("w2", 999, "W2 in TensorBoard's format: 999 runs, CPU s", 0.5, "run_000"),
    ):
        base = workloads.folder(workload, "tensorboard")
        ours, memory, number = loading(contest.ours(base), runs, 2)
        rust, rust_memory, rust_number = loading(contest.tensorboard(base), runs, 2)
        python, python_memory, _ = loading(contest.tensorboard(base / part, fast=False), 1, 1)
        share = f"{ours} keeping all, {number / rust_number:.2f} of the Rust loader"
        rows += [
            Row(
                title,
                f"{rust} (Rust), {python} (Python, of one run), keeping 1 000 a tag",
                NONE,
                share,
                f"≤ {promise} of it",
            ),
            Row("the same, MB", f"{rust_memory}, {python_memory}", NONE, memory, "≤ 25 bytes a point"),
        ]
    return rows


def wide(contest: Contest) -> list[Row]:
    """Runs of many tags; TensorBoard reads its own files and keeps all points, as ours does."""
    rows = []
    for workload, title, steps, promises in (
        ("wide", "10 000 tags × 200 steps", 200, {"tensorboard": 0.35, "mindspore": 0.2}),
        ("wide_long", "1 000 tags × 20 000 steps", 20_000, {"mindspore": 0.2}),
    ):
        bases = dict(zip(("mindspore", "tensorboard"), base_of(workload), strict=True))
        peer, peer_memory, peer_number = loading(contest.tensorboard(bases["tensorboard"], keep=steps), 1, 2)
        for form, promise in promises.items():
            cpu, memory, number = loading(contest.ours(bases[form]), 1, 2)
            files = "TensorBoard's files" if form == "tensorboard" else "our format"
            share = (
                "" if contest.tensorboard_python is None else f", {number / peer_number:.2f} of TensorBoard"
            )
            work = f"wide: {title}, {files}, all points kept, CPU s"
            rows += [
                Row(work, peer, NONE, f"{cpu}{share}", f"≤ {promise} of TensorBoard"),
                Row("the same, MB", peer_memory, NONE, memory, "≤ TensorBoard"),
            ]
    return rows


def whole_series(contest: Contest) -> list[Row]:
    mine, theirs = base_of("w1")
    cells = []
    for begin in (contest.tensorboard(theirs, keep=100_000), None, contest.ours(mine)):
        if begin is None:
            cells.append(NONE)
            continue
        with begin() as server:
            server.wait(8)
            cpu, _, size = request_costs(server, [server.series("run_3", TAG)] * 40)
            cells.append(f"{cpu:.1f} ms, {size / 1e6:.2f} MB")
    tensorboard, mindinsight, ours = cells
    work = "one series of 100 000 points whole: server CPU, bytes"
    return [Row(work, tensorboard, mindinsight, ours, "≤ 10 ms, ≤ 1.3 MB")]


def w2(contest: Contest) -> list[Row]:
    mine, theirs = base_of("w2")
    workspace = contest.new_folder()
    first, memory, idle = _watching(lambda: Ours(mine, workspace))
    again = loading(lambda: Ours(mine, workspace), 999, 1)[0]
    peer, peer_memory, peer_idle = _watching(contest.tensorboard(theirs))
    return [
        Row("W2: 999 runs × 5 tags × 1 000 steps, CPU s", peer, NONE, first, "≤ 6"),
        Row("the same, MB", peer_memory, NONE, memory, "≤ 300"),
        Row("the same, started again, CPU s", NONE, NONE, again, "≤ 1"),
        Row("idle with 999 runs watched, share of a core", peer_idle, NONE, idle, "≤ 0.5 %"),
    ]


def _watching(begin: Start | None) -> tuple[str, str, str]:
    """CPU seconds to load 999 runs, MB, and the share of a core while nothing changes and nobody asks."""
    if begin is None:
        return NONE, NONE, NONE
    with begin() as server:
        loaded, memory = server.wait(999), server.memory()
        time.sleep(10)  # what is put off until nothing happens is not idling
        before, began = server.cpu(), time.monotonic()
        time.sleep(IDLE)
        share = (server.cpu() - before) / (time.monotonic() - began)
    return f"{loaded:.2f}", f"{memory:.0f}", f"{100 * share:.2f} %"


def short_series(contest: Contest) -> list[Row]:
    """1 000 points: of one of 999 runs for TensorBoard and us, of the only one for MindInsight."""
    mine, theirs = base_of("w2")
    cells = []
    for begin, runs, run in (
        (contest.tensorboard(theirs), 999, "run_500"),
        (contest.mindinsight(mine / "run_500"), 1, ""),
        (contest.ours(mine), 999, "run_500"),
    ):
        if begin is None:
            cells.append(NONE)
            continue
        with begin() as server:
            server.wait(runs)
            path = server.series(run, TAG)
            cpu, alone, _ = request_costs(server, [path] * 400)
            crowded = request_costs(server, [path] * 1600, 16)[1]
            cells.append(f"{cpu:.2f} ms, {alone:.2f} ms, {crowded:.1f} ms")
    work = "one series of 1 000 points: server CPU, p50, p50 with 16 clients"
    tensorboard, mindinsight, ours = cells
    return [Row(work, tensorboard, mindinsight, ours, "≤ 1 ms, ≤ 2.5 ms, ≤ 25 ms")]


def thinned_series(contest: Contest) -> list[Row]:
    """100 000 points thinned to 1 000: by both addresses of MindInsight that ours has, beside TensorBoard."""
    mine, theirs = base_of("w1")
    query = f"train_id=.%2Frun_3&tag={quote(f'{TAG}/scalar')}"
    peer = _repeated(contest.tensorboard(theirs), None)
    rows = []
    for name in ("scalars", "scalar/metadata"):
        ours = _repeated(contest.ours(mine), f"/v1/mindinsight/datavisual/{name}?{query}")
        work = f"100 000 points thinned to 1 000 (v1 {name}), repeated: server CPU, p50 with 16 clients"
        rows.append(Row(work, peer, NONE, ours, "≤ 1 ms, ≤ 15 ms"))
    return rows


def _repeated(begin: Start | None, path: str | None) -> str:
    """Cost of asking again and again for a path, or for a series of W1 without one."""
    if begin is None:
        return NONE
    with begin() as server:
        server.wait(8)
        address = path or server.series("run_3", TAG)
        cpu, _, _ = request_costs(server, [address] * 200)
        crowded = request_costs(server, [address] * 640, 16)[1]
        return f"{cpu:.2f} ms, {crowded:.1f} ms"


def first_curves(contest: Contest) -> list[Row]:
    """999 runs, from the start of the server until each has answered once for a curve."""
    mine, theirs = base_of("w2")
    runs = [f"run_{number:03}" for number in range(999)]
    old = f"/v1/mindinsight/datavisual/scalar/metadata?tag={quote(f'{TAG}/scalar')}&train_id=.%2F"
    cells = []
    for begin in (contest.tensorboard(theirs), contest.ours(mine)):
        if begin is None:
            cells.append(NONE)
            continue
        with begin() as server:
            server.wait(len(runs))
            ours = server.name == Ours.name
            timed_requests(server, [f"{old}{run}" if ours else server.series(run, TAG) for run in runs])
            cells.append(f"{server.cpu():.2f}")
    work = "999 runs indexed and asked once each, by v1 scalar/metadata of ours: CPU s"
    return [Row(work, cells[0], NONE, cells[1], "≤ 3")]


def first_importance(contest: Contest) -> list[Row]:
    """A hundred runs of thirty settings, of which two matter: the first answer, and Optuna's evaluator."""
    base = contest.new_folder()
    settings = np.random.default_rng(0).random((SEARCHED, SETTINGS))
    losses = np.abs(settings[:, 0] - 0.4) + settings[:, 1] * 0.3
    for number, (row, loss) in enumerate(zip(settings.tolist(), losses.tolist(), strict=True)):
        with SummaryRecord(str(base / f"run_{number:02}")) as record:
            chosen = {f"setting_{index}": value for index, value in enumerate(row)}
            record.add_value("custom_lineage_data", "user", chosen)
            record.add_value("scalar", "loss", loss)
            record.record(1)
    with contest.ours(base)() as server:
        server.wait(SEARCHED)
        began = time.monotonic()
        answer = server.get("/v2/lineage/importance?objective=scalar:loss")
        ours = time.monotonic() - began
    best = {
        column["key"] for column in sorted(answer["columns"], key=lambda column: -column["importance"])[:2]
    }
    if best != {"user:setting_0", "user:setting_1"}:
        raise AssertionError(f"the importance names {best}")
    began = time.monotonic()
    _ask_optuna(settings, losses)
    theirs = time.monotonic() - began
    work = f"importance of {SETTINGS} settings over {SEARCHED} runs, first answer, s"
    return [Row(work, NONE, NONE, f"{ours:.2f}; Optuna's fANOVA {theirs:.1f}", "≤ 3")]


def _ask_optuna(settings: np.ndarray, losses: np.ndarray) -> None:
    study = optuna.create_study()
    scale: optuna.distributions.BaseDistribution = optuna.distributions.FloatDistribution(0, 1)
    scales = {f"setting_{index}": scale for index in range(SETTINGS)}
    for row, loss in zip(settings.tolist(), losses.tolist(), strict=True):
        params = dict(zip(scales, row, strict=True))
        study.add_trial(optuna.create_trial(params=params, distributions=scales, value=loss))
    optuna.importance.get_param_importances(study)  # its default is fANOVA


def w3(contest: Contest) -> list[Row]:
    mine, theirs = base_of("w3")
    limits = ", keeping 51 of 500 histograms, 10 of 200 images, no tensors"
    peer = loading(contest.tensorboard(theirs, "histograms,images"), 2)[0]
    other = loading(contest.mindinsight(mine), 3, 1)[0]
    ours = loading(contest.ours(mine), 3)[0]
    work = "W3: 100 tags × 500 histograms, 5 × 200 images, 4 × 50 tensors, CPU s"
    theirs_kept = peer + limits if contest.tensorboard_python else NONE
    return [Row(work, theirs_kept, other, f"{ours} keeping all", "≤ 0.8")]


def w4(contest: Contest) -> list[Row]:
    with contest.ours(base_of("w4")[0])() as server:
        server.wait(1)
        name = workloads.FILE_NAME["mindspore"].format(int(workloads.START))
        path = f"/v2/graph/picture?run={quote('./graph')}&tag={quote(name)}"
        server.open_page()
        before = server.cpu()
        picture = server.get(path)
        first = server.cpu() - before
        shut = [box["id"] for box in picture["boxes"] if box["count"] > 1 and not box["open"]]
        opened = ",".join(map(str, picture["open"]))
        expanding = request_costs(server, [f"{path}&open={opened},{box}" for box in shut[:20]])[1]
    work = "W4: graph of 20 000 nodes: first picture; one scope more, p50"
    return [Row(work, NONE, NONE, f"{first:.2f} CPU s; {expanding:.0f} ms", "≤ 0.8 CPU s; ≤ 50 ms")]


def decoding(_: Contest) -> list[Row]:
    uniform = decode.decode(decode.files("w1"))[1]
    loaded = decode.load("w1")[1]
    ratio = decode.mixed_load()
    first, again = decode.load_again("w2")[:2]
    opened = f"{first:.2f}; {again:.2f}, {again / first:.2f} of the first"
    size = decode.load_again("w1")[2]
    costs = [decode.decode([decode.long_run(size)])[1] / size for size in decode.SIZES]
    nanoseconds = ", ".join(f"{cost * 1e9:.0f}" for cost in costs)
    return [
        Row("W1 decoded; loaded, in one process, CPU s", NONE, NONE, f"{uniform:.2f}; {loaded:.2f}", "≤ 0.8"),
        Row("W2 opened; again, in one process, CPU s", NONE, NONE, opened, "≤ 0.1 of the first"),
        Row("W1 in the index cache, bytes a point", NONE, NONE, f"{size:.2f}", "≤ 4.5"),
        Row("W6 against W1, CPU to load a point", NONE, NONE, f"{ratio:.1f} ×", "≤ 4 ×"),
        Row("1, 10 and 80 million points, ns a point decoded", NONE, NONE, nanoseconds, "linear"),
    ]


def while_loading(_: Contest) -> list[Row]:
    p50, p95 = np.percentile(busy.measure(), [50, 95]) * 1000
    work = "one series for 600 pixels while 8 million points load: p50, p95"
    return [Row(work, NONE, NONE, f"{p50:.1f} ms, {p95:.1f} ms", "p95 ≤ 50 ms")]


def growing(_: Contest) -> list[Row]:
    delays, share = live.measure()
    p50, p95 = np.percentile(delays, [50, 95])
    work = "50 runs × 20 events a second, from the file to an answer: p50, p95"
    ours = f"{p50:.2f} s, {p95:.2f} s at {100 * share:.0f} % of a core"
    return [Row(work, NONE, NONE, ours, "≤ 0.5 s, ≤ 1 s")]


MEASURES: dict[str, Callable[[Contest], list[Row]]] = {
    section.__name__: section
    for section in (
        start,
        w1,
        wide,
        whole_series,
        w2,
        tfevents,
        short_series,
        thinned_series,
        first_curves,
        first_importance,
        w3,
        w4,
        decoding,
        while_loading,
        growing,
    )
}
