"""LRU cache of scope trees, and the request dependencies that select a tree and its nodes."""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Annotated, Final, Literal

import numpy as np
from fastapi import Query

from mindinsight.server.cancellation import result_of
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.errors import ApiError, unknown_tag
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.graphs.pipelines import pipeline_graph
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.comparison.graph_comparison import Comparison, compare
from mindinsight.server.graph.layout.nested import DrawingCache
from mindinsight.server.graph.model.simplification import simplify
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.http.indices import index_of, indices_of
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ReferenceSeries

View = Literal["recorded", "simplified", "dataset"]
Tag = Annotated[str, Query(description="name of the graph; default: the first by name")]

_MOST_TREES: Final = 6  # in memory
_MOST_COMPARISONS: Final = 2  # in memory; each also keeps its two trees
_LARGE: Final = 8 << 20  # bytes; a smaller graph is decoded faster than a worker process starts


class TreeCache:
    """LRU cache of trees with their layouts, and of comparisons."""

    def __init__(self) -> None:
        self._trees = LruCache[DrawingCache](_MOST_TREES)
        self._comparisons = LruCache[Comparison](_MOST_COMPARISONS)

    def drawings(self, tree: Tree) -> DrawingCache:
        """Return the layout cache of a tree, a new one if the tree is no longer cached."""
        cached = (drawings for drawings in self._trees.values() if drawings.tree is tree)
        return next(cached, DrawingCache(tree))

    def comparison(self, left: Tree, right: Tree) -> Comparison:
        """Return the comparison of two trees, by identity. It references both, so that no id is reused."""
        return self._comparisons.get((id(left), id(right)), lambda: compare(left, right))

    def tree(self, run: Run, tag: str, view: View, executor: Executor) -> Tree:
        """Return the tree of a run's newest graph with this tag, or of its data pipeline. Raises ApiError
        if there is none or it cannot be read, and Gone if its file was replaced. Without a tag, the first
        by name counts."""
        if view == "dataset":
            return self._pipeline(run)
        graphs = run.references.get("graph", {})
        series = graphs.get(tag or min(graphs, default=""))
        if series is None:
            raise unknown_tag(tag)
        try:
            return self.newest(series, view, partial(build, simplified=view == "simplified"), executor)
        except UnreadableError as error:
            raise ApiError(422, "graph_unreadable", f"The graph cannot be read: {error.detail}.") from error

    def newest(
        self, series: ReferenceSeries, view: str, build_tree: Callable[[bytes], Tree], executor: Executor
    ) -> Tree:
        """Return the tree of the newest graph of a series. Large graphs are built in `executor`. Raises
        UnreadableError, Gone. `view` distinguishes the builders in the cache."""
        reference = series.reference(series.count - 1)
        key = (reference.path, reference.offset, reference.size, series.version, view)

        def read() -> DrawingCache:
            data = series.read(series.count - 1)
            if len(data) < _LARGE:
                return DrawingCache(build_tree(data))
            return DrawingCache(result_of(executor.submit(build_tree, data)))

        return self._trees.get(key, read).tree

    def _pipeline(self, run: Run) -> Tree:
        if run.lineage is None or run.lineage.dataset_graph is None:
            raise ApiError(404, "no_pipeline", "The run has no data pipeline.", run=run.id)
        return folded_tree(pipeline_graph(run.lineage.dataset_graph))


def build(data: bytes, simplified: bool) -> Tree:
    """Decode a graph and build its tree. Raises UnreadableError."""
    graph = read_graph(data)
    return folded_tree(simplify(graph, ordering=False) if simplified else graph)


def tree_of(service: CurrentService, run: str, tag: Tag = "", view: View = "recorded") -> Tree:
    """Return the tree selected by a request's parameters. FastAPI dependency. Raises ApiError for an unknown
    run, and as `TreeCache.tree`."""
    record = service.store.snapshot().run(run)
    return service.parts.of(TreeCache).tree(record, tag, view, service.openers)


def node_index(tree: Tree, text: str) -> int:
    """Return the index of a scope or operator, from its path or the index as text. Raises ApiError if
    unknown."""
    if text in tree.indices:
        return tree.indices[text]
    index = index_of(text, len(tree.paths))
    if index is None:
        raise ApiError(404, "unknown_node", f"There is no node {text!r} in this graph.", node=text)
    return index


def nearest_index(tree: Tree, path: str) -> int:
    """Return the index of a path, or of its innermost ancestor that exists. Raises ApiError if there
    is none."""
    enclosing = path
    while enclosing and enclosing not in tree.indices:
        enclosing = enclosing.rpartition("/")[0]
    return node_index(tree, enclosing or path)


def scopes_of(tree: Tree, text: str) -> list[int]:
    """Return the indices of scopes given as text: comma-separated, or `all`, optionally followed by `-5` for
    all except 5. Indices of operators and invalid ones are ignored, as in a link to an older graph."""
    if text.split(",", maxsplit=1)[0] != "all":
        return [index for index in node_indices(tree, text) if tree.nodes[index] < 0]
    closed = {ROOT, *indices_of(text.removeprefix("all").replace("-", ""), len(tree.paths))}
    return [index for index in np.flatnonzero(tree.nodes < 0).tolist() if index not in closed]


def node_indices(tree: Tree, text: str | None) -> list[int]:
    """Return the indices of nodes given as text: comma-separated, or `all` except the root. [] for None.
    Invalid ones are ignored, as in a link to an older graph."""
    if text == "all":
        return list(range(ROOT + 1, len(tree.paths)))
    return indices_of(text, len(tree.paths))
