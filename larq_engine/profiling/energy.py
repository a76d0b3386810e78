"""Measures joules of a piece of work with the machine's counters, or says why it cannot.

A counter counts a whole chip: it includes what other programs and the idle chip take.
"""

import ctypes
import time
from collections.abc import Callable
from pathlib import Path

# Least time of a measurement, as counters move in steps of milliseconds.
_SECONDS = 0.1

_RAPL = Path("/sys/class/powercap")

# Quantities that a sensor's file counts, by how its name begins: the factor to joules or, of a
# power, to watts. hwmon counts microwatts, Jetson's INA monitors count milliwatts.
_JOULES = {"energy": 1e-6}
_WATTS = {"power": 1e-6, "in_power": 1e-3}


class Meter:
    """Measures the joules of work that is repeated."""

    def __init__(self, source: str, joules: Callable[[], float] | None, watts: bool) -> None:
        self.source = source
        self._read = joules
        self._is_power = watts

    def measure(self, work: Callable[[], object]) -> float | None:
        """Returns the joules of one piece of work; repeats it until the counter can tell."""
        if self._read is None:
            return None
        begun, first = time.perf_counter(), self._read()
        samples, runs = [first], 0
        while time.perf_counter() - begun < _SECONDS:
            work()
            runs += 1
            if self._is_power:
                samples.append(self._read())
        seconds, last = time.perf_counter() - begun, self._read()
        if self._is_power:
            return sum(samples) / len(samples) * seconds / runs
        # A counter that wrapped around in between tells nothing.
        return (last - first) / runs if last >= first else None


def cpu_meter(sensor: Path | None) -> Meter:
    """Returns the meter of the CPU: a sensor's file, or RAPL.

    Raises:
        ValueError: The sensor cannot be read, or is of no known kind.
    """
    if sensor is not None:
        return _sensor_meter(sensor)
    if not _RAPL.is_dir() or not (packages := sorted(_RAPL.glob("*rapl:[0-9]/energy_uj"))):
        return Meter(f"not available: {_RAPL} has no counters", None, False)
    try:
        for package in packages:
            package.read_text()
    except OSError as error:
        return Meter(f"not available: {error}", None, False)
    names = ", ".join(package.parent.name for package in packages)
    return Meter(
        f"RAPL of {names}: whole CPU packages, idle power included",
        lambda: sum(int(package.read_text()) for package in packages) * 1e-6,
        False,
    )


def _sensor_meter(sensor: Path) -> Meter:
    factors = {**_JOULES, **_WATTS}
    kind = next((start for start in factors if sensor.name.startswith(start)), None)
    try:
        float(sensor.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"energy '{sensor}': expected a sensor's file, got {error}") from error
    if kind is None:
        raise ValueError(
            f"energy '{sensor}': expected a file whose name begins with "
            f"{', '.join(factors)}, got '{sensor.name}'; sensors are in /sys/class/hwmon"
        )
    factor = factors[kind]
    return Meter(
        f"{sensor}: whole board or rail, idle power included",
        lambda: float(sensor.read_text()) * factor,
        kind in _WATTS,
    )


def gpu_meter(ordinal: int) -> Meter:
    """Returns the meter of a GPU: NVML's counter."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError as error:
        return Meter(f"not available: {error}", None, False)
    device = ctypes.c_void_p()
    millijoules = ctypes.c_ulonglong()
    if (
        nvml.nvmlInit_v2() != 0
        or nvml.nvmlDeviceGetHandleByIndex_v2(ordinal, ctypes.byref(device)) != 0
        or nvml.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(millijoules)) != 0
    ):
        return Meter("not available: NVML has no counter for this GPU", None, False)

    def joules() -> float:
        nvml.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(millijoules))
        return float(millijoules.value) * 1e-3

    return Meter("NVML: the whole GPU, idle power included", joules, False)
