"""SummaryCollector, a callback that records a training automatically."""

from mindinsight.writer.collector.summary_collector import SummaryCollector

__all__ = ["SummaryCollector"]
