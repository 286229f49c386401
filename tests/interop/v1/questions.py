"""What both servers are asked: every call of the interface, on every sample run, and what is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from servers import Answer, Server

PLUGINS = ("image", "scalar", "graph", "optimized_graph", "histogram", "tensor", "loss_landscape")
SECONDS = 60  # until a run must be read


@dataclass(frozen=True)
class Question:
    """One call; ``label`` names it in the report and in the list of intended differences."""

    label: str
    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None

    def ask(self, server: Server) -> Answer:
        return server.ask(self.method, self.path, self.query, self.body)


def get(label: str, path: str, **query: Any) -> Question:
    return Question(label, "GET", path, query)


def post(label: str, path: str, body: Any = None, **query: Any) -> Question:
    return Question(label, "POST", path, query, body)


def load(server: Server, run: str) -> dict[str, list[str]]:
    """Have a run read and wait until the server is at rest; the tags of the run by plugin."""
    server.ask("POST", "datavisual/train-job-caches", body={"train_ids": [run]})
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        answer = server.ask("GET", "datavisual/train-jobs", {"train_id": run}).content
        cached = answer["train_jobs"] and answer["train_jobs"][0]["cache_status"] == "CACHED"
        if cached and answer["load_status"] != "loading":
            break
        time.sleep(0.2)
    tags: dict[str, list[str]] = server.ask("GET", "datavisual/plugins", {"train_id": run}).content["plugins"]
    return tags


def about_run(run: str, tags: dict[str, list[str]], peer: Server) -> Iterator[Question]:
    """All calls on one run; the other server tells what there is."""
    yield get(f"train-jobs {run}", "datavisual/train-jobs", train_id=run)
    yield get(f"plugins {run}", "datavisual/plugins", train_id=run)
    for plugin in PLUGINS:
        yield get(f"single-job {run} {plugin}", "datavisual/single-job", train_id=run, plugin_name=plugin)
    yield get(f"dataset_graph {run}", "datasets/dataset_graph", train_id=run)
    yield get(f"intervals {run}", "datavisual/landscape/intervals", train_id=run)
    yield get(f"landscapes {run} final", "datavisual/landscape/landscapes", train_id=run, type="final")
    for plugin, ask in _BY_PLUGIN.items():
        for tag in tags[plugin]:
            yield from ask(run, tag, peer)


def _scalars(run: str, tag: str, peer: Server) -> Iterator[Question]:
    yield get(f"scalar/metadata {run} {tag}", "datavisual/scalar/metadata", train_id=run, tag=tag)
    yield get(f"scalars {run} {tag}", "datavisual/scalars", train_id=[run, "./none"], tag=[tag, "none"])
    yield get(f"wrong-kind tensors {run} {tag}", "datavisual/tensors", train_id=run, tag=tag)
    yield get(f"wrong-kind image {run} {tag}", "datavisual/image/metadata", train_id=run, tag=tag)
    yield get(f"wrong-kind histograms {run} {tag}", "datavisual/histograms", train_id=run, tag=tag)


def _images(run: str, tag: str, peer: Server) -> Iterator[Question]:
    path = "datavisual/image"
    yield get(f"image/metadata {run} {tag}", f"{path}/metadata", train_id=run, tag=tag)
    rows = peer.ask("GET", f"{path}/metadata", {"train_id": run, "tag": tag}).content["metadatas"]
    for step in [*(row["step"] for row in rows), -1, 123456, "x"]:
        query = {"train_id": run, "tag": tag, "step": step}
        yield get(f"single-image {run} {tag} {step}", f"{path}/single-image", **query)
    yield get(f"wrong-kind scalar {run} {tag}", "datavisual/scalar/metadata", train_id=run, tag=tag)


def _histograms(run: str, tag: str, peer: Server) -> Iterator[Question]:
    yield get(f"histograms {run} {tag}", "datavisual/histograms", train_id=run, tag=tag)


def _tensors(run: str, tag: str, peer: Server) -> Iterator[Question]:
    path, query = "datavisual/tensors", {"train_id": run, "tag": tag}
    for detail in (None, "stats", "histogram", "other"):
        options = {"detail": detail} if detail else {}
        yield get(f"tensors {run} {tag} {detail}", path, **query, **options)
    values = peer.ask("GET", path, query).content["tensors"][0]["values"]
    for value in values:
        rank = len(value["value"]["dims"])
        for dims in ("[" + ",".join([":"] * min(rank, 2) + ["0"] * (rank - 2)) + "]", "[0]", "x", "[::0]"):
            options = {"detail": "data", "step": value["step"], "dims": dims}
            yield get(f"tensors {run} {tag} data {value['step']} {dims}", path, **query, **options)
    yield get(f"tensors {run} {tag} no step", path, **query, detail="data")
    yield get(f"tensors {run} {tag} far step", path, **query, detail="data", step=987654, dims="[0]")


def _graph(mode: str) -> Callable[[str, str, Server], Iterator[Question]]:
    def ask(run: str, tag: str, peer: Server) -> Iterator[Question]:
        path, query = "datavisual/graphs", {"train_id": run, "tag": tag, "mode": mode}
        waiting = [""]
        while waiting:
            scope = waiting.pop()
            yield get(f"nodes {run} {tag} {scope}", f"{path}/nodes", **query, name=scope)
            nodes = peer.ask("GET", f"{path}/nodes", {**query, "name": scope}).content.get("nodes", [])
            waiting += [node["name"] for node in nodes if node["subnode_count"]]
            for node in nodes[:2]:
                yield get(
                    f"single-node {run} {tag} {node['name']}",
                    f"{path}/single-node",
                    **query,
                    name=node["name"],
                )
        for scope in ("", "Default", "nothing"):
            yield get(f"nodes/all {run} {tag} {scope}", f"{path}/nodes/all", **query, name=scope)
        for words in ("", "/", "conv", "op1", "no such node"):
            yield get(f"nodes/names {run} {tag} {words}", f"{path}/nodes/names", **query, search=words)

    return ask


def _landscapes(run: str, tag: str, peer: Server) -> Iterator[Question]:
    path = "datavisual/landscape/landscapes"
    yield get(f"landscapes {run} {tag} wrong interval", path, train_id=run, interval_id="1")
    yield get(f"landscapes {run} {tag} wrong type", path, train_id=run, type="other")


_BY_PLUGIN: dict[str, Callable[[str, str, Server], Iterator[Question]]] = {
    "scalar": _scalars,
    "image": _images,
    "histogram": _histograms,
    "tensor": _tensors,
    "graph": _graph("normal"),
    "optimized_graph": _graph("optimize"),
    "loss_landscape": _landscapes,
}
