"""Sampler of machine load during a training: processors, memory, disk, network and accelerators."""

from __future__ import annotations

import ctypes
import logging
import os
import platform
import re
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol, TypeAlias

from mindinsight.writer import options
from mindinsight.writer.ranks import rank_of

_log: Final = logging.getLogger(__name__)
PREFIX: Final = "system/"  # of the tags, which readers show apart from the metrics of the training
SECONDS: Final = 5.0  # between two samples
_LEAST_SECONDS: Final = 1.0  # a step is a second
_FIRST: Final = 1.0  # seconds after which the first sample shows what was done since the start
_MEGABYTE: Final = 1e6  # bytes, as in the names that end in _MB
Values: TypeAlias = Iterator[tuple[str, float]]
# Number of a process on its machine, by the variables of launchers.
_LOCAL_RANKS: Final = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID")
_DEVICE: Final = "DEVICE_ID"  # all that MindSpore's launcher sets; a single training may run on any device


class Record(Protocol):
    """Interface of the recorder of samples, such as SummaryRecord."""

    def add_value(
        self, plugin: str, name: str, value: Any, *, step: int | None, wall_time: float | None
    ) -> None:
        """Record a value."""


def is_first_of_machine(environment: Mapping[str, str] = os.environ) -> bool:
    """Return True unless another process of this training, on this machine, records the samples. That is
    decided by the local rank in the variables of the launcher. Without one the answer is True."""
    names = (*_LOCAL_RANKS, _DEVICE) if rank_of(environment).world > 1 else _LOCAL_RANKS
    numbers = (environment.get(name, "") for name in names)
    return next((int(number) == 0 for number in numbers if number.isdecimal()), True)


class SystemSampler:
    """Thread that records a sample every ``seconds``, at the same times on all machines.

    The step of a sample is its Unix time in seconds. Values that a machine does not provide are omitted.
    """

    def __init__(self, record: Record, directory: str, seconds: float = SECONDS) -> None:
        """Start the thread. ``seconds`` below 1 count as 1. Raises ImportError without psutil, ValueError
        unless ``seconds`` is above 0."""
        self._seconds = max(options.interval(seconds, "seconds"), _LEAST_SECONDS)
        self._record = weakref.ref(record)
        self._probes: list[Callable[[], Values]] = [Machine(directory).values, *accelerators()]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mindinsight-system", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread. Wait up to two seconds for a driver that does not respond."""
        self._ended.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        for probe in self._probes:  # rates are counted from here on, those of psutil in this thread
            with suppress(Exception):
                list(probe())
        wait = _FIRST
        while not self._ended.wait(wait):
            self._sample()
            wait = self._seconds - time.time() % self._seconds

    def _sample(self) -> None:
        now = time.time()
        step, record = round(now), self._record()
        if record is None:  # forgotten without a close
            self._ended.set()
            return
        for probe in list(self._probes):
            try:
                for name, value in probe():
                    record.add_value("scalar", PREFIX + name, value, step=step, wall_time=now)
            except Exception as error:  # a driver may raise anything, and training goes on
                self._probes.remove(probe)
                _log.warning("the system is sampled without %s: %s", probe.__qualname__, error)


class Machine:
    """Sampler of processors, memory, disk and network of this machine, and of the usage by this process."""

    def __init__(self, directory: str) -> None:
        """Take the first counts, which later ones are compared with. ``directory`` is on the disk whose free
        space is recorded."""
        import psutil  # an extra

        self._psutil = psutil
        self._process = psutil.Process()
        self._directory = directory
        self._before: tuple[float, dict[str, int]] = time.monotonic(), self._counts()

    def values(self) -> Values:
        """Yield name and value of each quantity: in percent, megabytes, or megabytes a second. Percents of
        processors and megabytes a second count since the last call. The percent of this process is 100 for
        one whole core."""
        memory = self._psutil.virtual_memory()
        yield "cpu/percent", self._psutil.cpu_percent()
        yield "cpu/process_percent", self._process.cpu_percent()  # 100: one core
        yield "memory/percent", memory.percent
        yield "memory/process_MB", self._process.memory_info().rss / _MEGABYTE
        with suppress(OSError):  # the directory may be gone
            yield "disk/percent", self._psutil.disk_usage(self._directory).percent
        (before, old), now = self._before, time.monotonic()
        new = self._counts()
        for name in new.keys() & old.keys() if now > before else ():
            yield name, max(new[name] - old[name], 0) / _MEGABYTE / (now - before)
        self._before = now, new

    def _counts(self) -> dict[str, int]:
        """Return the bytes so far. Containers may show neither disks nor networks."""
        counts: dict[str, int] = {}
        with suppress(OSError, RuntimeError):
            if disk := self._psutil.disk_io_counters():
                counts |= {"disk/read_MB_per_s": disk.read_bytes, "disk/write_MB_per_s": disk.write_bytes}
        with suppress(OSError):
            if net := self._psutil.net_io_counters():
                counts["network/sent_MB_per_s"] = net.bytes_sent
                counts["network/received_MB_per_s"] = net.bytes_recv
        return counts


def accelerators() -> list[Callable[[], Values]]:
    """Return the method ``values`` of each kind of accelerator whose library is installed and answers, or
    []. Each call of a method yields name and value of its quantities."""
    probes = []
    for kind in (Nvidia, Amd, Ascend, Apple):
        try:
            probes.append(kind().values)
        except Exception as error:  # no library, no driver, no device
            _log.debug("no accelerators of %s: %s", kind.__name__, error)
    return probes


class Nvidia:
    """NVIDIA's devices by NVML, which the package nvidia-ml-py calls ``pynvml``."""

    def __init__(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        self._nvml: Any = pynvml
        self._devices = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]

    def values(self) -> Values:
        """Yield name and value of each quantity that a device reports, and skip what it does not report."""
        nvml = self._nvml
        for number, device in enumerate(self._devices):
            name = f"gpu.{number}/"
            with suppress(nvml.NVMLError):
                yield f"{name}percent", nvml.nvmlDeviceGetUtilizationRates(device).gpu
            with suppress(nvml.NVMLError):
                memory = nvml.nvmlDeviceGetMemoryInfo(device)
                yield f"{name}memory_percent", 100 * memory.used / memory.total
                yield f"{name}memory_MB", memory.used / _MEGABYTE
            with suppress(nvml.NVMLError):
                yield f"{name}temperature_C", nvml.nvmlDeviceGetTemperature(device, 0)
            with suppress(nvml.NVMLError):
                yield f"{name}power_W", nvml.nvmlDeviceGetPowerUsage(device) / 1000


class Amd:
    """AMD's devices by ``amdsmi``, which comes with ROCm."""

    def __init__(self) -> None:
        import amdsmi

        amdsmi.amdsmi_init()
        self._smi: Any = amdsmi
        self._devices = amdsmi.amdsmi_get_processor_handles()

    def values(self) -> Values:
        """Yield name and value of each quantity that a device reports, and skip what it does not report."""
        smi = self._smi
        for number, device in enumerate(self._devices):
            name = f"gpu.{number}/"
            with suppress(smi.AmdSmiException, TypeError, ValueError):
                yield f"{name}percent", float(smi.amdsmi_get_gpu_activity(device)["gfx_activity"])
            with suppress(smi.AmdSmiException, ZeroDivisionError):  # a device without memory of its own
                memory = smi.amdsmi_get_gpu_vram_usage(device)  # in MB
                yield f"{name}memory_MB", memory["vram_used"]
                yield f"{name}memory_percent", 100 * memory["vram_used"] / memory["vram_total"]
            with suppress(smi.AmdSmiException):
                kind, now = smi.AmdSmiTemperatureType.EDGE, smi.AmdSmiTemperatureMetric.CURRENT
                yield f"{name}temperature_C", smi.amdsmi_get_temp_metric(device, kind, now)
            with suppress(smi.AmdSmiException, TypeError, ValueError):  # "N/A" where it is not measured
                power = smi.amdsmi_get_power_info(device)["average_socket_power"]
                yield f"{name}power_W", float(power)


_ASCEND: Final = {  # name: function of DCMI, type of utilisation, factor
    "percent": ("dcmi_get_device_utilization_rate", 2, 1.0),  # AI cores
    "memory_percent": ("dcmi_get_device_utilization_rate", 6, 1.0),  # HBM
    "temperature_C": ("dcmi_get_device_temperature", None, 1.0),
    "power_W": ("dcmi_get_device_power_info", None, 0.1),
}
_MOST_CARDS: Final = 64  # the limit of DCMI


class Ascend:
    """Ascend's devices by DCMI, the library of their driver."""

    def __init__(self, library: str = "libdcmi.so") -> None:
        self._dcmi = ctypes.CDLL(library)
        cards, count = (ctypes.c_int * _MOST_CARDS)(), ctypes.c_int()
        self._check(self._dcmi.dcmi_init())
        self._check(self._dcmi.dcmi_get_card_list(ctypes.byref(count), cards, _MOST_CARDS))
        self._devices = [(card, device) for card in cards[: count.value] for device in self._devices_of(card)]

    def values(self) -> Values:
        """Yield name and value of each quantity that a device reports, and skip what it does not report."""
        for number, position in enumerate(self._devices):
            for name, (function, kind, factor) in _ASCEND.items():
                value = ctypes.c_int()
                what = () if kind is None else (kind,)
                if getattr(self._dcmi, function)(*position, *what, ctypes.byref(value)) == 0:
                    yield f"npu.{number}/{name}", value.value * factor

    def _devices_of(self, card: int) -> range:
        count = ctypes.c_int()
        self._check(self._dcmi.dcmi_get_device_num_in_card(card, ctypes.byref(count)))
        return range(count.value)

    def _check(self, status: int) -> None:
        if status:
            raise OSError(f"DCMI answers {status}")


_APPLE_SAMPLES: Final = 6  # samples between two calls of ioreg, which takes 15 ms of a core


class Apple:
    """Apple's GPU by ``ioreg``, which needs no rights. Temperature and power need those of root."""

    def __init__(self) -> None:
        if platform.system() != "Darwin":
            raise OSError("this is no Mac")
        self._samples = 0

    def values(self) -> Values:
        """Yield name and utilisation of each GPU in percent, at the first of every six calls, otherwise
        nothing."""
        self._samples += 1
        if self._samples % _APPLE_SAMPLES == 1:
            command = ["/usr/sbin/ioreg", "-r", "-d", "1", "-w", "0", "-c", "IOAccelerator"]
            done = subprocess.run(command, capture_output=True, timeout=2.0, check=True)
            for number, share in enumerate(re.findall(rb'"Device Utilization %"=(\d+)', done.stdout)):
                yield f"gpu.{number}/percent", float(share)
