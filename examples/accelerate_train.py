"""Hugging Face Accelerate: a tracker for the Accelerator.

python accelerate_train.py
mindinsight start --summary-base-dir runs
"""

import argparse

import torch
from accelerate import Accelerator

from mindinsight.writer.integrations.accelerate import MindInsightTracker


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", default="runs")
    chosen = options.parse_args()
    torch.manual_seed(0)
    accelerator = Accelerator(log_with=MindInsightTracker("accelerate", chosen.out), cpu=True)
    accelerator.init_trackers("accelerate", config={"lr": 0.05, "batch_size": 16})
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x = torch.randn(256, 4)
    data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
    loader = torch.utils.data.DataLoader(data, batch_size=16)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, (inputs, target) in enumerate([*loader, *loader]):
        loss = torch.nn.functional.mse_loss(model(inputs), target)
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        accelerator.log({"train/loss": loss, "learning_rate": optimizer.param_groups[0]["lr"]}, step=step)
    accelerator.get_tracker("mindinsight").tracker.add_histogram("weight", model.weight, step)
    accelerator.end_training()


if __name__ == "__main__":
    main()
