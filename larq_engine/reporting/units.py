"""Numbers as people read them: three digits and a unit."""

_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def seconds(value: float) -> str:
    """12.3 ms."""
    return _scaled(value, "s", _SMALL)


def joules(value: float) -> str:
    """12.3 mJ."""
    return _scaled(value, "J", _SMALL)


def size(value: float) -> str:
    """12.3 kB; below a kilobyte all digits."""
    return f"{value:.0f} B" if value < 1000 else _scaled(value, "B", _LARGE)


def count(value: float) -> str:
    """12.3 M."""
    return f"{value:.0f}" if value < 1000 else _scaled(value, "", _LARGE)


def rate(value: float) -> str:
    """12.3 kB/s."""
    return _scaled(value, "B/s", _LARGE)


def share(value: float) -> str:
    """45 %; one digit more below 10 %."""
    return f"{100 * value:.1f} %" if 0 < value < 0.0995 else f"{100 * value:.0f} %"


def times(value: float) -> str:
    """1.23x."""
    return f"{_digits(value)}x"


def _scaled(value: float, unit: str, scale: tuple[tuple[float, str], ...]) -> str:
    if value == 0:
        return f"0 {unit}".strip()
    rounded = float(f"{value:.3g}")  # what 999.9 is shown as decides its unit
    factor, prefix = next((entry for entry in scale if abs(rounded) >= entry[0]), scale[-1])
    return f"{_digits(value / factor)} {prefix}{unit}".strip()


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")
