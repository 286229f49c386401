import torch
from torch import nn

from mindinsight.writer import PrecisionDebugger


class Planted(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        hidden = self.fc(x)
        return torch.sqrt(hidden - 100)


torch.manual_seed(0)
model = Planted()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
debugger = PrecisionDebugger(task="tensor", level="mix", dump_path="/home/user/train/probed_torch")
for _ in range(2):
    debugger.start(model)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    debugger.stop()
    debugger.step()
