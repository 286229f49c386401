import torch
from torch import nn

from mindinsight.writer import DumpRecorder


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
config = {"net_name": "Planted", "saved_data": "full", "path": "/home/user/train/recorded_torch"}
with DumpRecorder(model, config) as recorder:
    for _ in range(2):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        recorder.step()
