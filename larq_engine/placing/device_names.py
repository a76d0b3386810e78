"""What devices and memories are called where people read.

Files and options have short names of their own. There `cpu` is the engine on the CPU and `host` are
LiteRT's or TensorFlow Lite's own kernels, which run on the CPU too: so tables say what they are.
"""

# The names of hosts by how their titles in profiles begin.
_HOSTS = {"LiteRT": "LiteRT", "TensorFlow Lite": "TensorFlow Lite", "tflite": "TensorFlow Lite"}


def device_title(name: str, title: str = "") -> str:
    """What a profile's device is called; `title` is what the profile says of it."""
    kind, _, number = name.partition(":")
    if kind == "host":
        return next((known for begin, known in _HOSTS.items() if title.startswith(begin)), "host")
    if kind == "cuda":
        return f"engine, GPU {number}".rstrip()
    return "engine, CPU" if kind == "cpu" else name


def memory_title(name: str) -> str:
    """What a memory is called."""
    kind, _, number = name.partition(":")
    if kind == "cuda":
        return f"GPU {number}".rstrip() + " memory"
    return "CPU memory" if kind == "host" else name
