"""How to get packages that only some uses need."""


def pip_install(extra: str) -> str:
    """The command; the name alone could bring what others call larq-engine."""
    return (
        f"pip install 'PATH[{extra}]', where PATH is the folder of larq_engine's repository, or "
        "its wheel"
    )
