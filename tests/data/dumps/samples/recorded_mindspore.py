import mindspore
from mindspore import Tensor, nn, ops

from mindinsight.writer import DumpRecorder


class Planted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        hidden = self.fc(x)
        return ops.sqrt(hidden - 100)


mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
mindspore.set_seed(0)
model = Planted()
gradient = mindspore.value_and_grad(lambda x: model(x).sum(), None, model.trainable_params())
config = {"net_name": "Planted", "saved_data": "full", "path": "/home/user/train/recorded_mindspore"}
with DumpRecorder(model, config) as recorder:
    for _ in range(2):
        gradient(Tensor([[1.0] * 4] * 2))
        recorder.step()
