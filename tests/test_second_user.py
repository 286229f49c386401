"""Files that the program writes and later reads, beside a second user who may write to the workspace.

One test for each row of the table "Files of the program" in docs/security.md. The second user acts in
processes without the rights of root, so that root alone can run these tests.
"""

import logging
import os
import platform
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from mindinsight.server.commands.main import main
from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug.statistics_cache import Identity, Measurement, StatisticsCache
from mindinsight.server.errors import BadSettings, Gone
from mindinsight.server.files.opener import open_stream
from mindinsight.server.files.own_files import locked, trust_copies
from mindinsight.server.files.placeholders import CATALOGUE, PlaceholderIndex, put_placeholder
from mindinsight.server.files.remote_store import RemoteFile, RemoteStore
from mindinsight.server.ingest.cold_columns import ColdColumns, TagValues
from mindinsight.server.ingest.index_cache import CacheFile, CacheFileWriter, IndexCache
from mindinsight.server.ingest.mirrors import Mirror
from mindinsight.server.process import daemon, logs
from mindinsight.server.settings import Settings
from mindinsight.server.tuning.study import journal_path, list_journals, lock_journal, start_process
from mindinsight.server.workspace.alert_rules import Deliveries, Delivery, Rule, Rules
from mindinsight.server.workspace.colour_slots import BaseSlots
from mindinsight.server.workspace.job_requests import JobRequests
from mindinsight.server.workspace.notes import Notes
from mindinsight.server.workspace.report_documents import FrozenCards, Reports
from mindinsight.server.workspace.saved_views import Defaults, View, Views
from mindinsight.writer import SummaryRecord

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can act as a second user; `.ci/run` as root runs these tests"
)
STRANGER: Final = 65534
BASE: Final = Path("/runs")


class SharedWorkspace:
    """A workspace in which a second user may write, and files of ours that must stay as they are."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.workspace.chmod(0o777)
        self.home = folder / "home"
        (self.home / "old").mkdir(parents=True)
        self.victim = self.home / ".bashrc"
        for file in (self.victim, self.home / "old" / "thesis"):
            file.write_text("mine")
        long_ago = time.time() - 90 * 86400
        os.utime(self.home / "old", (long_ago, long_ago))
        self.before = self._state()

    def stranger(self, script: str) -> None:
        """Run a shell script in the workspace as the second user, with `$home` and `$victim`."""
        subprocess.run(
            ["/bin/sh", "-euc", "umask 022; " + script],
            user=STRANGER,
            group=STRANGER,
            extra_groups=[],
            cwd=self.workspace,
            env={"PATH": os.environ["PATH"], "victim": str(self.victim), "home": str(self.home)},
            check=True,
        )

    def plant(self, name: str, content: bytes) -> Path:
        """Let the second user put a file into the workspace, in folders of theirs."""
        source = self.workspace / ".source"
        source.write_bytes(content)
        source.chmod(0o644)
        quoted = shlex.quote(name)
        self.stranger(f"mkdir -p $(dirname {quoted}); cp .source {quoted}")
        source.unlink()
        return self.workspace / name

    def is_untouched(self) -> bool:
        """Whether the files outside of the workspace are as they were."""
        return self._state() == self.before

    def _state(self) -> dict[str, tuple[int, int, int]]:
        paths = [self.home, *sorted(self.home.rglob("*"))]
        states = {str(path): path.lstat() for path in paths}
        return {path: (state.st_mtime_ns, state.st_size, state.st_mode) for path, state in states.items()}


@pytest.fixture
def shared() -> Iterator[SharedWorkspace]:
    with tempfile.TemporaryDirectory(prefix="second-user-") as folder:  # pytest's own are private
        shared = SharedWorkspace(Path(folder))
        yield shared
        assert shared.is_untouched()


def test_index_cache(shared: SharedWorkspace, caplog: pytest.LogCaptureFixture) -> None:
    """Old folders of a cache are removed: not those that a link leads to."""
    shared.stranger('ln -s "$home" cache')
    cache = IndexCache(shared.workspace, BASE)
    cache.open()
    cache.save({})
    assert "cannot use the index cache" in caplog.text


def test_pack_of_an_index_cache(shared: SharedWorkspace) -> None:
    genuine = shared.home.parent / "pack"
    writer = CacheFileWriter(genuine)
    writer.array(np.arange(3))
    writer.run("run", [])
    writer.finish()
    CacheFile(genuine).close()
    pack = shared.plant("cache/0123/1.pack", genuine.read_bytes())
    with pytest.raises(OSError, match="another user"):
        CacheFile(pack)


def test_values_of_an_index_cache(shared: SharedWorkspace) -> None:
    genuine = ColdColumns(shared.home.parent / "own", values=shared.home.parent / "own")
    section = genuine.store({"loss": 0}, np.ones((1, 3)), None)
    assert section is not None
    assert len(TagValues((section,), "loss", 3).read(0)) == 1
    content = section.file.path.read_bytes()
    planted = shared.plant(f"cache/0123/{section.file.path.name}", content)
    theirs = ColdColumns(shared.workspace / "cache", values=planted.parent).value_file(planted.name)
    with pytest.raises(Gone, match="another user"):
        TagValues((section._replace(file=theirs),), "loss", 3).read(0)


def test_cold_columns(shared: SharedWorkspace) -> None:
    shared.stranger("mkdir cache")
    cold = ColdColumns(shared.workspace / "cache", smallest=1)
    (column,) = cold.move([np.arange(1000)])
    assert (column[999], cold.moved) == (999, 0)


def test_statistics_cache(shared: SharedWorkspace) -> None:
    identity = Identity("/runs/a.npy", "", 1, 2, 3, 4)
    lie = Measurement(Statistics(1, 0, 0, 1, 0, 0, 0), (1,), "float32")
    genuine = StatisticsCache(shared.home.parent / "own" / "statistics.sqlite")
    genuine.keep({identity: lie})
    assert genuine.find([identity])
    file = shared.plant(
        "cache/statistics.sqlite", (shared.home.parent / "own" / "statistics.sqlite").read_bytes()
    )
    theirs = StatisticsCache(file)
    assert theirs.find([identity]) == {}
    theirs.keep({identity: lie})
    assert file.stat().st_uid == STRANGER
    shared.stranger('rm cache/statistics.sqlite; ln -s "$victim" cache/statistics.sqlite')
    theirs.keep({identity: lie})


def test_catalogue(shared: SharedWorkspace) -> None:
    """A catalogue of a second user names a file of ours: nothing of it is read, and nothing is written."""
    file = RemoteFile(str(shared.victim), 4, 1.0, "")
    made = shared.home.parent / "made"
    made.mkdir()
    PlaceholderIndex(made / "copy").put(f"file://{shared.home}", {"tensor": file}, ())
    catalogue = shared.plant(f"remote/digest/{CATALOGUE}", (made / CATALOGUE).read_bytes())
    shared.stranger("cd remote/digest; mkdir runs; truncate -s 4 runs/tensor; chmod 1644 runs/tensor")
    trust_copies(shared.workspace / "remote")
    with pytest.raises(OSError, match="another user"):
        open_stream(catalogue.parent / "runs" / "tensor")


def test_mirror(shared: SharedWorkspace) -> None:
    shared.stranger('mkdir remote; ln -s "$home" remote/digest')
    url = shared.home.as_uri()
    mirror = Mirror(
        RemoteStore(url, threading.Event()), shared.workspace / "remote/digest/runs", threading.Event()
    )
    assert not mirror.sync()
    assert mirror.error == "remote.not_ours"


def test_sections_of_large_files(shared: SharedWorkspace) -> None:
    """Parts of files of a store, in a folder that the second user made first."""
    shared.stranger('mkdir -p remote/digest; ln -s "$home" remote/digest/.parts')
    file = RemoteFile("address", 4, 1.0, "")
    with pytest.raises(OSError, match="a link"):
        put_placeholder(shared.workspace / "remote/digest/runs", "tensor", file)


STORES: Final[dict[str, tuple[Callable[[Path], Any], Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "notes": (lambda at: Notes(at, BASE), lambda s: s.all(), lambda s: s.change("run", note="text")),
    "views": (lambda at: Views(at, BASE), lambda s: s.all(), lambda s: s.keep("view", View("scalar", "q=1"))),
    "defaults": (lambda at: Defaults(at, BASE), lambda s: s.all(), lambda s: s.keep("scalar", "q=1")),
    "reports": (lambda at: Reports(at, BASE), lambda s: s.all(), lambda s: s.add("title")),
    "rules": (
        lambda at: Rules(at, BASE),
        lambda s: any(rule.condition == "above" for rule in s.all().values()),  # beside the built-in ones
        lambda s: s.add(Rule("above", "loss", 1.0)),
    ),
    "webhooks": (
        lambda at: Deliveries(at, BASE),
        lambda s: s.all().get("hook") or {},
        lambda s: s.keep("hook", lambda: Delivery(seen=["id"])),
    ),
}


@pytest.mark.parametrize("name", STORES)
def test_json_file(shared: SharedWorkspace, name: str) -> None:
    make, values, change = STORES[name]
    own = shared.home.parent / "own"
    own.mkdir()
    change(make(own))
    assert values(make(own))
    content = (own / f"{name}.json").read_bytes()
    shared.plant(f"{name}.json", content)
    store = make(shared.workspace)
    assert not values(store)
    with pytest.raises(OSError, match="another user"):
        change(store)
    shared.stranger(f'rm {name}.json; ln -s "$victim" {name}.json')
    assert not values(make(shared.workspace))


def test_colours(shared: SharedWorkspace) -> None:
    shared.plant("colours.json", b'{"/runs": {"job": {"number": 7}}}')
    assert BaseSlots(shared.workspace, BASE).of(["job"]) != {"job": 7}


@pytest.mark.parametrize("script", ['ln -s "$home/new"', "touch", "mkfifo"])
def test_lock(shared: SharedWorkspace, script: str) -> None:
    shared.stranger(f"{script} notes.json.lock")
    with pytest.raises(OSError), locked(shared.workspace / "notes.json"):
        pass
    with pytest.raises(OSError):
        Notes(shared.workspace, BASE).change("run", note="text")


def test_frozen_card(shared: SharedWorkspace) -> None:
    name = "0" * 32
    shared.plant(f"reports/report/{name}.json", b'{"tree": []}')
    cards = FrozenCards(shared.workspace / "reports")
    with pytest.raises(OSError, match="another user"):
        cards.content("report", name)
    shared.stranger(f'cd reports/report; rm {name}.json; ln -s "$victim" {name}.json')
    with pytest.raises(OSError):
        cards.content("report", name)
    with pytest.raises(OSError, match="another user"):
        cards.keep("report", "content")
    cards.drop("report")


def test_request_of_a_job(shared: SharedWorkspace) -> None:
    shared.plant("jobs/7.json", b'{"kind": "compare", "body": {"x": 1}}')
    requests = JobRequests(shared.workspace / "jobs")
    assert requests.body("compare", 7) is None
    requests.add("compare", {"x": 2})
    assert [path.name for path in (shared.workspace / "jobs").iterdir()] == ["7.json"]


def test_journal_of_a_study(shared: SharedWorkspace) -> None:
    path = journal_path(shared.workspace, BASE, "study")
    shared.plant(str(path.relative_to(shared.workspace)), b'{"op_code": 0}\n{"half')
    assert list_journals(shared.workspace) == []
    with pytest.raises(BadSettings, match="another user"), lock_journal(path):
        pass
    assert path.read_bytes().endswith(b"half")


def test_registry_of_servers(shared: SharedWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mindinsight stop` ends the process that the file names."""
    monkeypatch.setenv("XDG_STATE_HOME", str(shared.workspace))
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as sleeper:
        born = daemon.birth(sleeper.pid)
        running = (
            f'"pid": {sleeper.pid}, "born": "{born}", "started": 1.0, "address": "", "base": "", "log": ""'
        )
        name = f"mindinsight/{platform.node()}-18080.json"
        shared.plant(name, f'{{"port": 18080, {running}}}'.encode())
        assert daemon.find(18080) is None
        assert list(daemon.all_running()) == []
        assert main(["stop", "--port", "18080"]) != 0
        assert sleeper.poll() is None
        sleeper.kill()
    shared.stranger(f'rm {name}; ln -s "$victim" {name}')
    daemon.remember(Settings(BASE, shared.workspace, port=18080), shared.workspace / "log")
    assert daemon.find(18080) is None


@pytest.mark.parametrize("script", ['ln -s "$victim"', "touch"])
def test_logs(shared: SharedWorkspace, script: str) -> None:
    shared.stranger(f"mkdir log; {script} log/mindinsight.18080.log; {script} log/start.18080.log")
    settings = Settings(BASE, shared.workspace, port=18080)
    with pytest.raises(BadSettings, match="cannot be written"):
        logs.configure(settings)
    with pytest.raises(BadSettings, match="cannot be written"):
        daemon.launch(settings)
    logging.shutdown()


def test_opened_graphs(shared: SharedWorkspace, tmp_path: Path) -> None:
    graph = tmp_path / "graph.json"
    graph.write_text('{"label": "a", "graphs": [{"id": "g", "nodes": [{"id": "n", "label": "Add"}]}]}')
    shared.stranger('ln -s "$home" opened')
    assert main(["open", "--workspace", str(shared.workspace), str(graph)]) != 0


def test_output_of_a_trial(shared: SharedWorkspace) -> None:
    shared.stranger('mkdir trial; ln -s "$victim" trial/trial.log')
    with pytest.raises(OSError):
        start_process(["true"], {}, shared.workspace / "trial" / "trial.log")


def test_base_directory(shared: SharedWorkspace, capsys: pytest.CaptureFixture[str]) -> None:
    """A shared folder with catalogues without end, links and pipes: `ls` reads the runs and nothing else."""
    base = shared.workspace / "shared"
    base.mkdir()
    base.chmod(0o777)
    with SummaryRecord(str(base / "run")) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
    made = shared.home.parent / "made"
    made.mkdir()
    PlaceholderIndex(made / "copy").put(
        f"file://{shared.home}", {"x": RemoteFile(str(shared.victim), 4, 1.0, "")}, ()
    )
    with closing(sqlite3.connect(made / CATALOGUE)) as database:
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
        database.executescript(f"DROP TABLE store; CREATE VIEW store(url) AS {endless}")
    content = (made / CATALOGUE).read_bytes()
    for folder in ("shared", "."):
        shared.plant(f"{folder}/{CATALOGUE}", content)
    name = "events.out.events.summary.1700000000.0.host_MS"
    shared.stranger(
        f'cd shared; mkdir theirs; cd theirs; mkfifo {name}; ln -s "$victim" {name}1;'
        f'truncate -s 4 {name}2; chmod 1644 {name}2; mkdir .parts; ln -s "$victim" .parts/x'
    )
    assert main(["ls", "--summary-dir", str(base)]) == 1  # there is damage, which is named
    shown = capsys.readouterr().out
    assert "loss" in shown
    assert "mine" not in shown


def test_every_row_has_a_test() -> None:
    """The table of docs/security.md names each test of this module, and no other."""
    page = (Path(__file__).parents[1] / "docs" / "security.md").read_text(encoding="utf-8")
    table = page.partition("### Files of the program")[2].partition("\n#")[0]
    named = set(re.findall(r"`(test_\w+)`", table))
    assert named == {name for name in globals() if name.startswith("test_")} - {"test_every_row_has_a_test"}
