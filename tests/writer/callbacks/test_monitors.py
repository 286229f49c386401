"""What the monitors print, and when they end a training."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.callbacks import LossMonitor, RunArguments, RunContext, StopAfterTime, TimeMonitor


def step(number: Any, loss: Any = 0.5, **more: Any) -> RunContext:
    arguments = {"cur_step_num": number, "cur_epoch_num": (number - 1) // 3 + 1, "batch_num": 3}
    return RunContext(RunArguments(arguments, net_outputs=loss, **more))


class Clock:
    """Answers the seconds it is given, one after the other."""

    def __init__(self, *seconds: Any) -> None:
        self.seconds = list(seconds)

    def __call__(self) -> Any:
        return self.seconds.pop(0)


def test_each_step_is_printed_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = LossMonitor()
    for number in range(1, 5):
        monitor.on_train_step_end(step(number, 1 / number))
    assert capsys.readouterr().out.splitlines() == [
        "epoch: 1 step: 1, loss is 1.0",
        "epoch: 1 step: 2, loss is 0.5",
        "epoch: 1 step: 3, loss is 0.3333333333333333",
        "epoch: 2 step: 1, loss is 0.25",
    ]


@pytest.mark.parametrize(("every", "printed"), [(0, []), (2, [2, 4, 6]), (5, [5]), (7, [])])
def test_only_every_nth_step_is_printed(capsys: pytest.CaptureFixture[str], every: int, printed: Any) -> None:
    monitor = LossMonitor(every)
    for number in range(1, 7):
        monitor.on_train_step_end(step(number, float(number)))
    losses = [float(line.rpartition(" ")[2]) for line in capsys.readouterr().out.splitlines()]
    assert losses == printed


def test_a_loop_that_goes_back_is_printed_again(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = LossMonitor(2)
    for number in (1, 2, 3, 4, 1, 2):
        monitor.on_train_step_end(step(number, float(number)))
    losses = [float(line.rpartition(" ")[2]) for line in capsys.readouterr().out.splitlines()]
    assert losses == [2, 4, 2]


@pytest.mark.parametrize("loss", [np.nan, np.inf, -np.inf, [np.array([1.0, np.nan])]])
@pytest.mark.parametrize("every", [0, 1])
def test_a_loss_that_is_not_finite_ends_the_training(loss: Any, every: int) -> None:
    with pytest.raises(ValueError, match=r"epoch: 2 step: 2, the loss is (nan|-?inf)"):
        LossMonitor(every).on_train_step_end(step(5, loss))


def test_metrics_of_an_evaluation_inside_fit_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    LossMonitor(0).on_train_epoch_end(step(3, metrics={"acc": 0.75}))
    LossMonitor(0).on_train_epoch_end(step(3))
    assert capsys.readouterr().out == "Eval result: epoch 1, metrics: {'acc': 0.75}\n"


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "1"])
def test_a_wrong_interval_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="per_print_times"):
        LossMonitor(wrong)


def test_epoch_and_step_times_are_printed_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = TimeMonitor(clock=Clock(0, 10, 11, 12, 12.5))
    monitor.on_train_epoch_begin(step(1))
    monitor.on_train_step_begin(step(1))
    monitor.on_train_step_end(step(1))
    monitor.on_train_epoch_end(step(1, mode="train"))
    assert capsys.readouterr().out == "Train epoch time: 2500.000 ms, per step time: 833.333 ms\n"


@pytest.mark.parametrize(("size", "per_step"), [(4, "250.000"), (None, "1000.000")])
def test_without_a_known_epoch_length_the_given_or_counted_steps_are_used(
    capsys: pytest.CaptureFixture[str], size: Any, per_step: str
) -> None:
    monitor = TimeMonitor(size, clock=Clock(0, 1, 2))
    run = RunContext({"mode": "eval"})
    monitor.on_eval_epoch_begin(run)
    monitor.on_eval_epoch_end(run)
    assert capsys.readouterr().out == f"Eval epoch time: 1000.000 ms, per step time: {per_step} ms\n"


def test_the_time_waiting_for_data_is_added(capsys: pytest.CaptureFixture[str]) -> None:
    #               made, epoch begins, step begins, ends, begins, ends, epoch ends
    monitor = TimeMonitor(2, data_time=True, clock=Clock(0, 0, 0.1, 1, 1.3, 2, 2))
    run = RunContext({})
    monitor.on_train_epoch_begin(run)
    for _ in range(2):
        monitor.on_train_step_begin(run)
        monitor.on_train_step_end(run)
    monitor.on_train_epoch_end(run)
    expected = "Train epoch time: 2000.000 ms, per step time: 1000.000 ms (data time: 200.000 ms)\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("wrong", [0, -2, 1.5])
def test_a_wrong_data_size_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="data_size"):
        TimeMonitor(wrong)


def test_the_first_step_past_the_time_asks_to_stop() -> None:
    seconds = iter([0, 100, 159, 160, 161])
    callback = StopAfterTime(minutes=1, clock=lambda: next(seconds))
    run = RunContext({})
    callback.on_train_begin(run)  # at 100
    callback.on_train_step_end(run)
    assert not run.get_stop_requested()
    callback.on_train_step_end(run)
    assert run.get_stop_requested()


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_a_time_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="minutes"):
        StopAfterTime(wrong)
