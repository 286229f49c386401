"""The origin of a tensor is told from its class; the frameworks are stood in for."""

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.dump.origin import Origin, origin_of


def tensor_of(module: Any, **attributes: Any) -> Any:
    return type("Tensor", (), {"__module__": module, **attributes})()


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def load(name: Any, version: Any, **attributes: Any) -> None:
        module = ModuleType(name)
        vars(module).update(attributes, __version__=version)
        monkeypatch.setitem(sys.modules, name, module)

    return load


@pytest.mark.parametrize(
    ("type_", "device"), [("cpu", "CPU"), ("cuda", "GPU"), ("npu", "Ascend"), ("xpu", "XPU")]
)
def test_a_pytorch_tensor_knows_its_device(loaded: Callable[..., Any], type_: str, device: str) -> None:
    loaded("torch", "2.13.0+cpu")
    value = tensor_of("torch", device=SimpleNamespace(type=type_))
    assert origin_of(value) == Origin("pytorch", "2.13.0", device)


def test_a_parameter_of_a_users_class_counts_for_what_it_derives_from(loaded: Callable[..., Any]) -> None:
    loaded("torch", "2.13.0")
    base = type("Tensor", (), {"__module__": "torch", "device": SimpleNamespace(type="cpu")})
    assert origin_of(type("Mine", (base,), {"__module__": "mine"})()).framework == "pytorch"


def test_a_mindspore_tensor_is_on_the_device_of_the_context(loaded: Callable[..., Any]) -> None:
    loaded("mindspore", "2.10.0", get_context={"device_target": "Ascend"}.get)
    assert origin_of(tensor_of("mindspore.common.tensor")) == Origin("mindspore", "2.10.0", "Ascend")


def test_a_jax_array_knows_its_devices(loaded: Callable[..., Any]) -> None:
    loaded("jax", "0.9.0")
    value = tensor_of("jaxlib._jax", devices=lambda self: [SimpleNamespace(platform="tpu")])
    assert origin_of(value) == Origin("jax", "0.9.0", "TPU")


@pytest.mark.parametrize("value", [np.ones(2), 1.5, [1, 2]])
def test_everything_else_counts_for_numpy(value: Any) -> None:
    assert origin_of(value) == Origin("numpy", np.__version__, "CPU")
