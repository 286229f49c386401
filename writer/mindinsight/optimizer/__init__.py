"""Compatible import path of MindOptimizer's scripts: ``from mindinsight.optimizer import HyperConfig``."""

from mindinsight.writer.hyper_config import HyperConfig

__all__ = ["HyperConfig"]
