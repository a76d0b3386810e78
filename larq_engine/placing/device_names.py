"""Names devices and memories in texts that people read.

Files and options have short names: `cpu` is the engine on the CPU, and `host` is LiteRT's or
TensorFlow Lite's own kernels. Both run on the CPU, so tables use the longer names of this module.
"""

from larq_engine.python.devices import CPU, HOST, accelerator_of

# Names of hosts, by how their titles in profiles begin.
_HOSTS = {"LiteRT": "LiteRT", "TensorFlow Lite": "TensorFlow Lite", "tflite": "TensorFlow Lite"}


def device_title(name: str, title: str = "") -> str:
    """Returns a device's name for people; `title` is the device's title in the profile."""
    kind, _, number = name.partition(":")
    if kind == HOST:
        return next((known for begin, known in _HOSTS.items() if title.startswith(begin)), HOST)
    if row := accelerator_of(name):
        return f"engine, {row.title} {number}".rstrip()
    return "engine, CPU" if kind == CPU else name


def memory_title(name: str) -> str:
    """Returns the name of a memory for people."""
    kind, _, number = name.partition(":")
    if row := accelerator_of(name):
        return f"{row.title} {number}".rstrip() + " memory"
    return "CPU memory" if kind == HOST else name
