"""Methods of SummaryWriter for what a page of its own draws: curves, layouts; and those refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from mindinsight.writer import options
from mindinsight.writer.encoding import layouts, pr_curves
from mindinsight.writer.summary_writer.run_files import RunFiles, moment


class PlotMethods(RunFiles):
    """Precision-recall curves and layouts of custom scalars."""

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Record a precision-recall curve of binary labels and predictions within 0..1."""
        rows = pr_curves.curve(labels, predictions, num_thresholds, weights)
        self._files().pr_curve(options.tag(tag), rows, moment(global_step, walltime))

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Record a precision-recall curve that was counted elsewhere. ``weights`` change nothing."""
        del weights
        rows = [
            true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts,
            precision, recall,
        ]  # fmt: skip
        curve = pr_curves.given(rows, num_thresholds)
        self._files().pr_curve(options.tag(tag), curve, moment(global_step, walltime))

    def add_custom_scalars(self, layout: layouts.Layout) -> None:
        """Record the charts of a page: category -> title -> ["Multiline", tags] or ["Margin", three tags]."""
        self._files().layout(layouts.checked(layout))

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Record a page of one chart with the lines of ``tags``."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Record a page of one chart with a line and its margin: the tags of value, lower and upper end."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_embedding(self, *_arguments: Any, **_named: Any) -> NoReturn:
        """Refused: neither format's pages draw embeddings that this package writes."""
        raise NotImplementedError(
            "embeddings are not written; record the matrix with add_tensor, or use torch's own writer beside"
        )

    def add_mesh(self, *_arguments: Any, **_named: Any) -> NoReturn:
        """Refused, as embeddings are."""
        raise NotImplementedError(
            "meshes are not written; record the vertices with add_tensor, or use torch's own writer beside"
        )

    def add_onnx_graph(self, *_arguments: Any, **_named: Any) -> NoReturn:
        """Refused: record the network itself."""
        raise NotImplementedError("ONNX files are not read; record the network itself with add_graph")
