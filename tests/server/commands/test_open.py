"""Command that shows graphs of Model Explorer; the server itself is tested with ``start``."""

import argparse
import json
from pathlib import Path

import pytest

from mindinsight.server.commands import open as command
from mindinsight.server.commands.main import main
from mindinsight.server.formats.graphs.graph_proto import read_graph

NODES = [{"id": "a", "label": "Add", "namespace": "net"}]


def test_every_graph_of_a_file_is_one_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[argparse.Namespace] = []
    monkeypatch.setattr(command, "start", lambda options: started.append(options) or 0)
    file = tmp_path / "net.json"
    file.write_text(json.dumps([{"id": "main/x", "nodes": NODES}, {"id": "loss", "nodes": NODES}]))
    assert main(["open", str(file), "--workspace", str(tmp_path / "workspace")]) == 0
    (base,) = started[0].summary_base_dir
    graphs = sorted((Path(base) / "net").iterdir())
    assert [graph.name for graph in graphs] == ["loss.pb", "main%2Fx.pb"]
    assert read_graph(graphs[0].read_bytes()).names == ("net/Add",)


def test_files_and_graphs_of_equal_names_are_all_shown_and_earlier_graphs_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[argparse.Namespace] = []
    monkeypatch.setattr(command, "start", lambda options: started.append(options) or 0)
    files = [tmp_path / folder / "net.json" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text(json.dumps([{"nodes": NODES}, {"nodes": NODES}]))

    def opened() -> list[str]:
        assert main(["open", *map(str, files), "--workspace", str(tmp_path / "workspace")]) == 0
        base = Path(started[-1].summary_base_dir[0])
        return sorted(graph.relative_to(base).as_posix() for graph in base.glob("*/*"))

    names = [f"{run}/{graph}.pb" for run in ("net", "net_2") for graph in ("graph", "graph_2")]
    assert opened() == sorted(names)
    files[0].write_text(json.dumps([{"id": "other", "nodes": NODES}]))
    assert opened() == sorted(["net/other.pb", *names[2:]])


@pytest.mark.parametrize("text", ["{}", "not json", ""])
def test_a_file_that_is_no_graph_is_said_to_be_none(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    assert main(["open", str(file), "--workspace", str(tmp_path / "workspace")]) == 1
    assert "bad.json cannot be shown" in capsys.readouterr().err
    assert not (tmp_path / "workspace").exists()


def test_a_directory_is_no_graph_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["open", str(tmp_path), "--workspace", str(tmp_path / "workspace")]) == 1
    assert "is a directory" in capsys.readouterr().err
