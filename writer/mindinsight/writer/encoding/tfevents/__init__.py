"""Encoders of TensorBoard's event files: the records of a ``SummaryWriter(format="tensorboard")``."""
