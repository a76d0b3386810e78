"""Says how to install packages that only some uses need."""


def pip_install(extra: str) -> str:
    """Returns the command with a path: the bare name might install another project's package."""
    return (
        f"pip install 'PATH[{extra}]', where PATH is the folder of larq_engine's repository, or "
        "its wheel"
    )
