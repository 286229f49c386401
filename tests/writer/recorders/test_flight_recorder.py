"""The flight recorder, with stand-ins for PyTorch: when it triggers, what it says, what it sets back.

``tests/interop/flight_in_torch.py`` is the same with real networks.
"""

import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.writer import FlightRecorder, TrainingFaultError, recorders
from mindinsight.writer.recorders import flight_recorder
from mindinsight.writer.recorders.fault_signs import OWN, RankSign


class Network:
    """A network whose generator, gradients and weight are plain attributes."""

    def __init__(self) -> None:
        self.random, self.gradient, self.weight = 0, None, 1.0
        self.other_ranks: list[Any] = []
        self.zeros, self.output = 0, 1.0

    def named_modules(self) -> Iterator[Any]:
        yield "", self


class Alerts:
    """A record that keeps its alerts."""

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.closed = False

    def alert(self, title: Any, text: Any, level: Any, step: Any, wait_seconds: Any, dump: Any) -> None:
        self.kept.append((title, text, level, step))
        self.dump = dump

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def network() -> Any:
    return Network()


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch, network: Any) -> None:
    def restore(models: Any, state: Any) -> None:
        network.random = state

    def take(models: Any) -> Any:
        gradient, network.gradient = network.gradient, None
        return gradient

    def give(models: Any, gradient: Any) -> None:
        network.gradient = gradient

    module = SimpleNamespace(
        SAMPLED_TENSORS=64,
        collect=lambda models, sampled: SimpleNamespace(sample=[network]),
        save_state=lambda models, hosts=True: network.random,
        uses_host_generators=lambda state: False,
        norm_name=lambda models: "norm of the gradients",
        restore_state=restore,
        take_gradients=take,
        give_gradients=give,
        gradient_facts=lambda models: None if network.gradient is None else (network.gradient, network.zeros),
        sampled_facts=lambda models: None if network.gradient is None else (network.gradient, network.zeros),
        quiet_modules=lambda models: frozenset({"fc"}),
        weights_norm=lambda models: network.weight,
        weight_norms=lambda models: {"fc.weight": network.weight},
        loss_of=lambda result: result,
        OutputWatch=lambda models, suspects, recorded=False: SimpleNamespace(
            outputs={"fc": 1.0, "act": network.output},
            repeated={"act"},
            highest={},
            seconds=0.0,
            end=lambda: None,
        ),
        is_distributed=lambda: bool(network.other_ranks),
        gather_signs=lambda own, device: [own, *network.other_ranks],
        device_of=lambda models: None,
    )
    monkeypatch.setitem(sys.modules, "mindinsight.writer.recorders.torch_training", module)
    monkeypatch.setattr(recorders, "torch_training", module, raising=False)


@pytest.fixture(autouse=True)
def dumps(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Paths and settings of the dumps that were recorded."""
    made = []

    @contextmanager
    def record(models: Any, settings: Any, path: Any, limit: Any) -> Iterator[Any]:
        made.append((path, settings["initial_iteration"], limit))
        yield SimpleNamespace(step=lambda: None, problem="")

    monkeypatch.setattr(flight_recorder, "DumpRecorder", record)
    return made


def train(network: Any, folder: Any, losses: Any, **options: Any) -> Any:
    """Run steps with these losses; the second run of a step gives the same one."""
    alerts = Alerts()
    recorder = FlightRecorder(network, folder, record=alerts, **options)  # type: ignore[arg-type]

    def step(loss: Any) -> Any:
        network.random += 1
        network.gradient = 1.0
        return loss

    results = [recorder.step(lambda loss=loss: step(loss)) for loss in losses]  # type: ignore[misc]
    recorder.close()
    assert not alerts.closed
    return results, alerts.kept


def marked(folder: Path) -> tuple[int, int]:
    """Return the steps that a closed recorder watched, and how much it reported."""
    (path,) = folder.glob("flight_recorder_*.json")
    assert path.name == "flight_recorder_0.json"
    facts = json.loads(path.read_text())
    assert facts["version"] == 1
    assert abs(facts["written"] - time.time()) < 600
    return facts["steps"], facts["reported"]


def test_a_healthy_training_leaves_nothing_but_how_much_was_watched(
    network: Any, tmp_path: Path, dumps: Any
) -> None:
    results, alerts = train(network, tmp_path, [1.0] * 50)
    assert (results, alerts, dumps) == ([1.0] * 50, [], [])
    assert [path.name for path in tmp_path.iterdir()] == ["flight_recorder_0.json"]
    assert marked(tmp_path) == (50, 0)


def test_a_recorder_that_saw_no_step_or_was_replaced_leaves_no_mark(network: Any, tmp_path: Path) -> None:
    train(network, tmp_path / "unused", [])
    assert not (tmp_path / "unused").exists()
    first = FlightRecorder(network, tmp_path / "first", record=Alerts())  # type: ignore[arg-type]
    first.step(lambda: 1.0)
    train(network, tmp_path / "second", [1.0])
    first.close()
    assert marked(tmp_path / "second") == (1, 0)
    assert not (tmp_path / "first").exists()


def test_the_mark_of_a_recorder_counts_what_it_reported(network: Any, tmp_path: Path) -> None:
    train(network, tmp_path, [1.0] * 10 + [math.nan])
    assert marked(tmp_path) == (11, 1)


def test_a_fault_is_dumped_and_told_and_the_state_is_as_the_first_run_left_it(
    network: Any, tmp_path: Path, dumps: Any
) -> None:
    results, alerts = train(network, tmp_path, [1.0, 1.0, math.nan, 1.0], budget=77)
    assert len(results) == 4
    assert dumps == [(tmp_path / "flight_dump", 2, 77)]
    ((title, text, level, step),) = alerts
    assert (title, level, step) == ("Training fault: the loss is NaN", "error", 2)
    assert text == "Step 2: the loss is NaN. Its dump is flight_dump, step 2."
    assert (network.random, network.gradient) == (4, 1.0)


def test_a_second_training_in_the_directory_has_a_dump_of_its_own(
    network: Any, tmp_path: Path, dumps: Any
) -> None:
    (tmp_path / "flight_dump" / "rank_0").mkdir(parents=True)
    _, ((_, text, _, _),) = train(network, tmp_path, [1.0, math.nan])
    assert dumps[0][0] == tmp_path / "flight_dump_2"
    assert text.endswith("Its dump is flight_dump_2, step 1.")


def test_steps_have_the_numbers_of_the_curves(network: Any, tmp_path: Path, dumps: Any) -> None:
    alerts = Alerts()
    recorder = FlightRecorder(network, tmp_path, record=alerts, on_trigger="raise")  # type: ignore[arg-type]
    for step in (101, 102):
        recorder.step(lambda: 1.0, step)
    with pytest.raises(TrainingFaultError, match=r"^Step 103: .* --step 103$"):
        recorder.step(lambda: math.nan)  # one more than before
    recorder.step(lambda: 1.0)
    ((_, text, _, step),) = alerts.kept
    assert (step, text) == (103, "Step 103: the loss is NaN. Its dump is flight_dump, step 103.")
    assert dumps[0][1] == 103


@pytest.mark.parametrize(("scale", "faults"), [(65536.0, 0), (1.0, 1)])
def test_gradients_that_overflow_are_left_to_a_scaler_until_its_scale_has_fallen(
    network: Any, tmp_path: Path, scale: float, faults: int
) -> None:
    alerts = Alerts()
    scaler = SimpleNamespace(get_scale=lambda: scale, is_enabled=lambda: True)
    recorder = FlightRecorder(network, tmp_path, record=alerts, scaler=scaler)  # type: ignore[arg-type]

    def step() -> float:
        network.gradient = math.inf
        return 1.0

    recorder.step(step)
    titles = [title for title, *_ in alerts.kept]
    expected = "Training fault: the norm of the gradients is Inf although the loss scale has fallen to 1"
    assert titles == [expected] * faults
    alerts = Alerts()
    FlightRecorder(network, tmp_path, record=alerts).step(step)  # type: ignore[arg-type]
    assert alerts.kept[0][1].endswith("With a GradScaler this is normal: give it to the recorder as scaler=.")


def test_what_cannot_be_measured_does_not_end_the_training(
    network: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(models: Any) -> Any:
        raise NotImplementedError("norms of this kind of tensor")

    backend = sys.modules["mindinsight.writer.recorders.torch_training"]
    monkeypatch.setattr(backend, "gradient_facts", refuse)
    monkeypatch.setattr(backend, "weight_norms", refuse)
    results, alerts = train(network, tmp_path, [1.0, math.inf, 1.0], check_every=1)
    assert (results, len(alerts)) == ([1.0, math.inf, 1.0], 1)
    assert "a measurement failed; the training continues" in caplog.text


def test_a_fault_that_lasts_is_one_alert_and_one_dump(network: Any, tmp_path: Path, dumps: Any) -> None:
    _, alerts = train(network, tmp_path, [1.0] * 5 + [math.nan] * 50)
    assert [step for _, step, _ in dumps] == [step for *_, step in alerts] == [5]


def test_the_number_of_dumps_is_limited(network: Any, tmp_path: Path, dumps: Any) -> None:
    _, alerts = train(network, tmp_path, ([math.nan] + [1.0] * 30) * 3, dumps=2)
    assert [step for _, step, _ in dumps] == [0, 31]
    assert len(alerts) == 3
    assert "No dump was written: their number is used up." in alerts[2][1]


def test_a_layer_that_dies_is_one_warning(network: Any, tmp_path: Path, dumps: Any) -> None:
    alerts = Alerts()
    recorder = FlightRecorder(network, tmp_path, record=alerts)  # type: ignore[arg-type]
    recorder._size.clock = lambda: 0.0  # steps of microseconds: on a busy machine a look seems too costly
    for number in range(200):
        network.gradient, network.zeros, network.output = 1.0, 2 * (number >= 25), float(number < 25)
        recorder.step(lambda: 1.0)
    ((title, _, level, step),) = alerts.kept
    assert title.startswith("Training warning: every output of act is zero; its norm was 1 at step ")
    assert level == "warning" and 25 <= step <= 36
    assert [number for _, number, _ in dumps] == [step]


def test_a_fault_that_does_not_come_again_is_said_to_be_so(network: Any, tmp_path: Path) -> None:
    losses = iter([math.inf, 1.0])
    alerts = Alerts()
    FlightRecorder(network, tmp_path, record=alerts).step(lambda: next(losses))  # type: ignore[arg-type]
    assert "The step did not break when it ran again." in alerts.kept[0][1]
    assert alerts.dump == tmp_path / "flight_dump"


def test_a_second_run_that_fails_does_not_end_the_training(network: Any, tmp_path: Path) -> None:
    losses = iter([math.nan])
    alerts = Alerts()
    result = FlightRecorder(network, tmp_path, record=alerts).step(lambda: next(losses))  # type: ignore[arg-type]
    assert math.isnan(result)
    assert "The step could not be recorded again: StopIteration" in alerts.kept[0][1]


def test_skip_clears_gradients_and_raise_raises(network: Any, tmp_path: Path) -> None:
    train(network, tmp_path, [math.nan], on_trigger="skip")
    assert network.gradient is None
    with pytest.raises(TrainingFaultError, match=r"Step 0: the loss is NaN.* dump check /.* --step 0"):
        train(network, tmp_path, [math.nan], on_trigger="raise")


def test_a_fault_of_another_rank_is_dumped_here_too(network: Any, tmp_path: Path, dumps: Any) -> None:
    network.other_ranks = [RankSign(OWN, math.nan)]
    _, alerts = train(network, tmp_path, [1.0])
    assert [step for _, step, _ in dumps] == [0]
    assert alerts[0][0] == "Training fault: rank 1 reported it"


def test_a_step_that_raises_is_forgotten(network: Any, tmp_path: Path, dumps: Any) -> None:
    recorder = FlightRecorder(network, tmp_path, record=Alerts())  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        recorder.step(lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert recorder.step(lambda: 1.0) == 1.0
    assert not recorder.end(math.nan, lambda: 1.0)  # no step has begun
    assert dumps == []


def test_a_second_recorder_takes_over_and_a_closed_one_does_nothing(
    network: Any, tmp_path: Path, dumps: Any, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = (FlightRecorder(network, tmp_path, record=Alerts()) for _ in range(2))  # type: ignore[arg-type]
    first.step(lambda: second.step(lambda: math.nan))
    assert len(dumps) == 1
    assert caplog.text.count("another one has replaced it") == 1
    second.close()
    second.step(lambda: math.nan)
    assert len(dumps) == 1
    assert all(not name.startswith("_mindinsight") for name in vars(network))


def test_a_dump_that_is_incomplete_is_said_to_be_so(
    network: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def record(models: Any, settings: Any, path: Any, limit: Any) -> Iterator[Any]:
        yield SimpleNamespace(step=lambda: None, problem="OSError: No space left on device")

    monkeypatch.setattr(flight_recorder, "DumpRecorder", record)
    _, alerts = train(network, tmp_path, [math.nan])
    assert "is incomplete: OSError: No space left on device." in alerts[0][1]


def test_a_folder_that_cannot_be_written_does_not_end_the_training(network: Any, tmp_path: Path) -> None:
    (tmp_path / "flight_dump").write_text("in the way")
    results, alerts = train(network, tmp_path, [math.nan, 1.0])
    assert len(results) == 2
    assert "could not be recorded again: " in alerts[0][1]
    with pytest.raises(ValueError, match="on_trigger is 'continue', 'skip' or 'raise', got 'stop'"):
        FlightRecorder(network, tmp_path, record=Alerts(), on_trigger="stop")  # type: ignore[arg-type]


def test_a_weight_that_grew_is_named(network: Any, tmp_path: Path) -> None:
    alerts = Alerts()
    recorder = FlightRecorder(network, tmp_path, record=alerts, check_every=10)  # type: ignore[arg-type]
    for number in range(15):
        network.weight = 31000.0 if number == 14 else 12.0
        recorder.step(lambda number=number: math.nan if number == 14 else 1.0)  # type: ignore[misc]
    assert (
        "The weight fc.weight has norm 3.1e+04, 2.58e+03 times as much as 12 at step 10." in alerts.kept[0][1]
    )
    content = json.loads(Path(tmp_path, "flight_dump", "rank_0", "health_14.json").read_text())
    assert content["healthy_step"] == 10
    assert content["outputs_now"] == {"fc": 1.0, "act": 1.0} and content["repeated"] == ["act"]


def test_the_optimizer_stays_outside(network: Any, tmp_path: Path) -> None:
    hooks = []
    optimizer = SimpleNamespace(
        register_step_pre_hook=lambda hook: hooks.append(hook) or SimpleNamespace(remove=hooks.clear)
    )
    with FlightRecorder(network, tmp_path, optimizer, record=Alerts()) as recorder:  # type: ignore[arg-type]
        hooks[0]()
        with pytest.raises(RuntimeError, match="call it after"):
            recorder.step(hooks[0])
        hooks[0]()
    assert hooks == []


def test_a_sample_that_costs_more_than_a_hundredth_of_a_step_is_made_smaller_once() -> None:
    size = flight_recorder.SampleSize(None)
    sizes = []
    for number in range(6):
        size.seconds = 9.0 if number == 0 else 0.5  # the first step warms caches up
        sizes.append(size.fewer(number, 10.5, count=64))
    assert sizes == [None, None, None, 12, None, None]  # 64 take 5 % of a step
    cheap = flight_recorder.SampleSize(None)
    cheap.seconds = 0.05
    assert [cheap.fewer(number, 10.05, count=64) for number in range(5)] == [None] * 5
    costly = flight_recorder.SampleSize(None)
    costly.seconds = 100.0
    assert [costly.fewer(number, 101.0, count=64) for number in range(4)][-1] == 2
