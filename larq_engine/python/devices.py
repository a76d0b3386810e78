"""Lists the devices as options and files name them."""

from dataclasses import dataclass

# The host's own operators, and the plug-in on the CPU.
HOST = "host"
CPU = "cpu"


@dataclass(frozen=True)
class Accelerator:
    """A row: a kind of device beside the CPU, which has memory of its own.

    Attributes:
        name: The name of the first such device. That of number N is `name:N`.
        title: What people call it.
    """

    name: str
    title: str


ACCELERATORS = (Accelerator("cuda", "GPU"),)


def accelerator_of(device: str) -> Accelerator | None:
    """Returns the kind of a device that has a name of its own or one with a number."""
    kind = device.partition(":")[0]
    return next((row for row in ACCELERATORS if row.name == kind), None)


def is_known(device: str) -> bool:
    """Tells whether the plug-in or the host computes on a device of this name."""
    return device.partition(":")[0] in (HOST, CPU) or accelerator_of(device) is not None
