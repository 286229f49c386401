"""``from mindinsight.optimizer import HyperConfig``, as scripts for MindOptimizer have it."""

from mindinsight.writer.hyper_config import HyperConfig

__all__ = ["HyperConfig"]
