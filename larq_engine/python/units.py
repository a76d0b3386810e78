"""Formats numbers for people: three digits and a unit.

Sentences and cells have numbers with their unit. A column whose numbers all have one unit names it
in its title instead.
"""

_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def seconds(value: float) -> str:
    """Formats seconds, as "12.3 ms"."""
    return _scaled(value, "s", _SMALL)


def joules(value: float) -> str:
    """Formats joules, as "12.3 mJ"."""
    return _scaled(value, "J", _SMALL)


def amount(value: float, unit: str) -> str:
    """Formats an amount of any unit; seconds and joules with a prefix."""
    known = {"s": seconds, "J": joules}
    return known[unit](value) if unit in known else f"{value:.3g} {unit}"


def size(value: float) -> str:
    """Formats bytes, as "12.3 kB"; below a kilobyte with all digits."""
    return f"{value:.0f} B" if value < 1000 else _scaled(value, "B", _LARGE)


def count(value: float) -> str:
    """Formats a number of things, as "12.3 M"."""
    return f"{value:.0f}" if value < 1000 else _scaled(value, "", _LARGE)


def rate(value: float) -> str:
    """Formats bytes a second, as "12.3 kB/s"."""
    return _scaled(value, "B/s", _LARGE)


def share(value: float) -> str:
    """Formats a share, as "45 %"; below 10 % with one digit more."""
    return f"{100 * value:.1f} %" if 0 < value < 0.0995 else f"{100 * value:.0f} %"


def times(value: float) -> str:
    """Formats a factor, as "1.23x"."""
    return f"{_digits(value)}x"


def _scaled(value: float, unit: str, scale: tuple[tuple[float, str], ...]) -> str:
    if value == 0:
        return f"0 {unit}".strip()
    rounded = float(f"{value:.3g}")  # the rounded number decides the unit: 999.9 is shown as 1000
    factor, prefix = next((entry for entry in scale if abs(rounded) >= entry[0]), scale[-1])
    return f"{_digits(value / factor)} {prefix}{unit}".strip()


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")
