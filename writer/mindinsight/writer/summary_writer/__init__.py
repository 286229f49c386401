"""SummaryWriter: the interface of ``torch.utils.tensorboard``, for either format of event files."""

from mindinsight.writer.summary_writer.writer import SummaryWriter

__all__ = ["SummaryWriter"]
