"""Says how to install packages that only some uses need."""

# Extras that cannot be in one environment: larq needs NumPy below 2, and PyTorch's converter brings
# a JAX that needs NumPy 2.
_APART = {"converter": "torch", "torch": "converter"}


def pip_install(extra: str) -> str:
    """Returns the command with a path: the bare name might install another project's package."""
    command = (
        f"pip install 'PATH[{extra}]', where PATH is the folder of larq_engine's repository, or "
        "its wheel"
    )
    if extra not in _APART:
        return command
    return (
        f"{command}; in a virtual environment without the extra '{_APART[extra]}', which needs "
        "another version of NumPy"
    )
