"""SummaryCollector, a callback that records a training by itself."""

from mindinsight.writer.collector.summary_collector import SummaryCollector

__all__ = ["SummaryCollector"]
