"""Gradients reach the recorder as histograms; the framework is stood in for by its one function."""

from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.writer.operators import record_gradients, take_operator_values


class Network:
    """Hands its gradients to whoever asked, as a backward pass does."""

    def __init__(self, *names: Any) -> None:
        self.names = names
        self.watchers: list[Any] = []

    def backward(self) -> None:
        for wanted, put in self.watchers:
            for name in filter(wanted, self.names):
                put(name, [1.0])


def watch(network: Any, names: Any, put: Any) -> Any:
    network.watchers.append((names, put))
    return network.watchers.clear


@pytest.fixture(autouse=True)
def framework(monkeypatch: pytest.MonkeyPatch) -> None:
    take_operator_values()
    known = SimpleNamespace(on_gradients=watch)
    monkeypatch.setattr(
        "mindinsight.writer.operators.framework_of",
        lambda network: known if isinstance(network, Network) else None,
    )


def tags() -> Any:
    return [f"{plugin} {tag}" for plugin, tag, _ in take_operator_values()]


def test_every_gradient_becomes_a_histogram() -> None:
    network = Network("fc1.weight", "fc1.bias")
    record_gradients(network)
    network.backward()
    assert tags() == ["histogram fc1.weight/gradient", "histogram fc1.bias/gradient"]


def test_a_pattern_matches_from_the_start_of_the_name() -> None:
    network = Network("fc1.weight", "fc2.weight", "fc1.bias")
    record_gradients(network, r"fc\d\.w")
    network.backward()
    assert tags() == ["histogram fc1.weight/gradient", "histogram fc2.weight/gradient"]


def test_only_every_nth_pass_is_recorded() -> None:
    network = Network("w")
    record_gradients(network, every=3)
    recorded = []
    for _ in range(7):
        network.backward()
        recorded.append(len(tags()))
    assert recorded == [1, 0, 0, 1, 0, 0, 1]


def test_the_answer_ends_it() -> None:
    network = Network("w")
    record_gradients(network)()
    network.backward()
    assert tags() == []


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="PyTorch module or a MindSpore Cell, got dict"):
        record_gradients({})
    with pytest.raises(ValueError, match="not a valid regular expression"):
        record_gradients(Network(), "(")
    with pytest.raises(ValueError, match="at least 1"):
        record_gradients(Network(), every=0)
