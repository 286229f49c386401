"""SummaryCollector: a callback that records what is usually wanted of a training."""

from mindinsight.writer.collector.summary import SummaryCollector

__all__ = ["SummaryCollector"]
