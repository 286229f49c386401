"""A machine is recorded at whole seconds, by one process of it, and the training is never harmed."""

import ctypes
import platform
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.writer import SummaryCollector, SummaryRecord, system
from mindinsight.writer.integrations.training import ALSO, Training
from tests.waiting import until


@pytest.mark.parametrize(
    ("variables", "first"),
    [
        ({}, True),
        ({"LOCAL_RANK": "0", "RANK": "8"}, True),
        ({"LOCAL_RANK": "3", "RANK": "3"}, False),
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "1"}, False),
        ({"RANK_ID": "9", "RANK_SIZE": "16", "DEVICE_ID": "1"}, False),
        ({"RANK_ID": "8", "RANK_SIZE": "16", "DEVICE_ID": "0"}, True),
        ({"DEVICE_ID": "3"}, True),  # a single training on the fourth device
        ({"LOCAL_RANK": "none"}, True),
    ],
)
def test_one_process_of_a_machine_samples_it(variables: dict[str, str], first: bool) -> None:
    assert system.is_first_of_machine(variables) is first


class Notebook:
    """What a sampler writes to."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, Any, int, float]] = []

    def add_value(
        self, plugin: str, name: str, value: Any, *, step: int | None, wall_time: float | None
    ) -> None:
        assert step is not None
        assert wall_time is not None
        assert plugin == "scalar"
        self.rows.append((name, value, step, wall_time))


MACHINE = {
    "system/cpu/percent",
    "system/cpu/process_percent",
    "system/memory/percent",
    "system/memory/process_MB",
    "system/disk/percent",
}


def test_samples_are_plausible_numbers_at_seconds(tmp_path: Path) -> None:
    notebook = Notebook()
    sampler = system.SystemSampler(notebook, str(tmp_path), 1.0)
    until(lambda: len({step for _, _, step, _ in notebook.rows}) >= 2)
    sampler.close()
    assert {name for name, *_ in notebook.rows} >= MACHINE
    for name, value, step, wall in notebook.rows:
        assert abs(step - wall) <= 1
        assert 0 <= value < 1e6
        if name in ("system/cpu/percent", "system/memory/percent", "system/disk/percent"):
            assert value <= 100
    sizes = [value for name, value, *_ in notebook.rows if name == "system/memory/process_MB"]
    assert all(10 < size < 10_000 for size in sizes)  # an interpreter with NumPy
    assert not any(thread.name == "mindinsight-system" for thread in threading.enumerate())


def test_a_probe_that_fails_is_left_out_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls = []

    def broken() -> Any:
        calls.append(time.time())
        raise RuntimeError("driver gone")
        yield

    monkeypatch.setattr(system, "accelerators", lambda: [broken])
    notebook = Notebook()
    sampler = system.SystemSampler(notebook, str(tmp_path), 1.0)
    until(lambda: len({step for _, _, step, _ in notebook.rows}) >= 2)
    sampler.close()
    assert len(calls) == 2  # before the first sample, and in it
    assert [record.message for record in caplog.records if "driver gone" in record.message] != []


def test_a_sampler_ends_with_its_record(tmp_path: Path) -> None:
    notebook = Notebook()
    sampler = system.SystemSampler(notebook, str(tmp_path), 1.0)
    del notebook
    until(lambda: not sampler._thread.is_alive())


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_wrong_interval_is_refused(tmp_path: Path, seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        system.SystemSampler(Notebook(), str(tmp_path), seconds)


def test_a_record_samples_when_asked_and_without_psutil_says_what_to_install(
    tmp_path: Path, reading_of: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with SummaryRecord(tmp_path / "on") as record:
        record.record_system(1.0)
        record.record_system(1.0)
        threads = [thread for thread in threading.enumerate() if thread.name == "mindinsight-system"]
        assert len(threads) == 1
        time.sleep(1.3)
    assert {tag for _, tag, _ in reading_of(tmp_path / "on").samples()} >= MACHINE
    monkeypatch.setitem(sys.modules, "psutil", None)
    caplog.set_level("INFO")
    with SummaryRecord(tmp_path / "off") as record:
        record.record_system()
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    assert "pip install 'mindinsight[system]'" in caplog.text
    assert reading_of(tmp_path / "off").samples() == []
    assert reading_of(tmp_path / "off").scalars() == [(1, "loss", 1.0)]


def test_other_processes_of_a_machine_do_not_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    with SummaryRecord(tmp_path) as record:
        record.record_system()
        assert record._beside == []


def test_callbacks_record_machine_and_console_unless_told_not_to(tmp_path: Path) -> None:
    for also, count in ((ALSO, 2), (("system",), 1), (("console",), 1), ((), 0)):
        training = Training(tmp_path / f"{len(also)}{count}", also=also)
        assert len(training.writer.record._beside) == count
        training.close()
    with pytest.raises(ValueError, match="code, system, console can be recorded, not gpu"):
        Training(tmp_path / "wrong", also=("gpu",))


def test_a_collector_records_machine_and_console_unless_told_not_to(tmp_path: Path) -> None:
    from mindinsight.writer import RunContext

    for options, count in (({}, 2), ({"collect_system": False, "collect_console": False}, 0)):
        with SummaryCollector(tmp_path / str(count), collect_specified_data=options) as collector:
            collector.begin(RunContext({"mode": "train"}))
            assert len(collector._open()._beside) == count


def test_nvidia_devices_by_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    class NVMLError(Exception):
        pass

    def refuse(device: int) -> int:
        if device:
            raise NVMLError("not supported")
        return 71_500

    nvml = SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda i: i,
        nvmlDeviceGetUtilizationRates=lambda device: SimpleNamespace(gpu=90 + device),
        nvmlDeviceGetMemoryInfo=lambda device: SimpleNamespace(used=20_000_000_000, total=80_000_000_000),
        nvmlDeviceGetTemperature=lambda device, sensor: 60,
        nvmlDeviceGetPowerUsage=refuse,
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    values = dict(system.Nvidia().values())
    assert values["gpu.0/percent"] == 90
    assert values["gpu.1/percent"] == 91
    assert values["gpu.0/memory_percent"] == 25.0
    assert values["gpu.0/memory_MB"] == 20_000.0
    assert values["gpu.1/temperature_C"] == 60
    assert values["gpu.0/power_W"] == 71.5
    assert "gpu.1/power_W" not in values


def test_amd_devices_by_amdsmi(monkeypatch: pytest.MonkeyPatch) -> None:
    total = 400

    class AmdSmiException(Exception):
        pass

    smi = SimpleNamespace(
        AmdSmiException=AmdSmiException,
        AmdSmiTemperatureType=SimpleNamespace(EDGE=0),
        AmdSmiTemperatureMetric=SimpleNamespace(CURRENT=0),
        amdsmi_init=lambda: None,
        amdsmi_get_processor_handles=lambda: ["card"],
        amdsmi_get_gpu_activity=lambda device: {"gfx_activity": 55},
        amdsmi_get_gpu_vram_usage=lambda device: {"vram_used": 100, "vram_total": total},
        amdsmi_get_temp_metric=lambda device, kind, metric: 48,
        amdsmi_get_power_info=lambda device: {"average_socket_power": "N/A"},
    )
    monkeypatch.setitem(sys.modules, "amdsmi", smi)
    assert dict(system.Amd().values()) == {
        "gpu.0/percent": 55.0,
        "gpu.0/memory_percent": 25.0,
        "gpu.0/memory_MB": 100,
        "gpu.0/temperature_C": 48,
    }
    total = 0
    assert dict(system.Amd().values()) == {
        "gpu.0/percent": 55.0,
        "gpu.0/memory_MB": 100,
        "gpu.0/temperature_C": 48,
    }


class Dcmi:
    """Ascend's library with two cards of one device; the second one shows no power."""

    def dcmi_init(self) -> int:
        return 0

    def dcmi_get_card_list(self, count: Any, cards: Any, length: int) -> int:
        count._obj.value, cards[0], cards[1] = 2, 0, 4
        return 0

    def dcmi_get_device_num_in_card(self, card: int, count: Any) -> int:
        count._obj.value = 1
        return 0

    def dcmi_get_device_utilization_rate(self, card: int, device: int, kind: int, rate: Any) -> int:
        rate._obj.value = {2: 80, 6: 40}[kind] + card
        return 0

    def dcmi_get_device_temperature(self, card: int, device: int, value: Any) -> int:
        value._obj.value = 45
        return 0

    def dcmi_get_device_power_info(self, card: int, device: int, value: Any) -> int:
        value._obj.value = 2105  # tenths of a watt
        return -8255 if card else 0


def test_ascend_devices_by_dcmi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Dcmi())
    assert dict(system.Ascend().values()) == {
        "npu.0/percent": 80,
        "npu.0/memory_percent": 40,
        "npu.0/temperature_C": 45,
        "npu.0/power_W": pytest.approx(210.5),
        "npu.1/percent": 84,
        "npu.1/memory_percent": 44,
        "npu.1/temperature_C": 45,
    }


def test_apple_devices_by_ioreg_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def ioreg(*command: Any, **options: Any) -> Any:
        calls.append(command)
        return SimpleNamespace(stdout=b'"PerformanceStatistics" = {"Device Utilization %"=37,"x"=1}')

    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(subprocess, "run", ioreg)
    apple = system.Apple()
    samples = [dict(apple.values()) for _ in range(7)]
    assert samples == [{"gpu.0/percent": 37.0}, *[{}] * 5, {"gpu.0/percent": 37.0}]
    assert len(calls) == 2


def test_a_machine_without_accelerators_has_no_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert system.accelerators() == []
