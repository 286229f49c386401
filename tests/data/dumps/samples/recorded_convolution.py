import mindspore
import numpy as np
from mindspore import Tensor, nn, ops

from mindinsight.writer import DumpRecorder


@mindspore.jit
def squashed(x):
    return ops.tanh(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 3, has_bias=True)
        self.conv2 = nn.Conv2d(2, 2, 3)
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x):
        return squashed(self.pool(self.conv2(self.conv1(x)))).sum()


mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
mindspore.set_seed(0)
model = Net()
gradient = mindspore.value_and_grad(model, None, model.trainable_params())
config = {"net_name": "Net", "saved_data": "full", "path": "/home/user/train/recorded_convolution"}
with DumpRecorder(model, config) as recorder:
    gradient(Tensor(np.random.default_rng(0).normal(size=(1, 1, 4, 4)).astype(np.float32)))
    recorder.step()
