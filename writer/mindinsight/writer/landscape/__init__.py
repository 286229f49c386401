"""Loss landscapes: the loss around the trajectory of the weights."""

from mindinsight.writer.landscape.message import loss_landscape
from mindinsight.writer.landscape.summary import SummaryLandscape

__all__ = ["SummaryLandscape", "loss_landscape"]
