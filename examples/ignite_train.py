"""PyTorch Ignite: a logger for engines.

python ignite_train.py
mindinsight start --summary-base-dir runs
"""

import sys

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import MeanSquaredError
from torch.utils.data import DataLoader, TensorDataset

from mindinsight.writer.integrations.ignite import Gradients, MindInsightLogger, Weights


def main(directory):
    torch.manual_seed(0)
    model, x = torch.nn.Linear(4, 1), torch.randn(256, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
    trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss)
    evaluator = create_supervised_evaluator(model, {"mse": MeanSquaredError()})
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda _: evaluator.run(loader))
    with MindInsightLogger(directory) as logger:
        step = Events.ITERATION_COMPLETED(every=4)
        logger.attach_output_handler(trainer, step, tag="train", output_transform=lambda loss: {"loss": loss})
        logger.attach_opt_params_handler(trainer, step, optimizer)
        logger.attach(trainer, Weights(model), Events.EPOCH_COMPLETED)
        logger.attach(trainer, Gradients(model), Events.EPOCH_COMPLETED)
        steps = {"global_step_transform": lambda *_: trainer.state.epoch}
        logger.attach_output_handler(evaluator, Events.COMPLETED, "eval", ["mse"], **steps)
        trainer.run(loader, max_epochs=4)


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--out"] else "runs/ignite")
