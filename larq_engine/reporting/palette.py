"""Defines the colours of pages and drawings by role, for light and dark.

A device also has a symbol and its name beside its colour: the colour by itself never tells
anything.
"""

from collections.abc import Mapping, Sequence

# Roles, each with its colour in the light and in the dark theme. Texts have a contrast of at least
# 4.5 with `page` and `surface`; so have devices, because numbers are written in their colours.
ROLES: Mapping[str, tuple[str, str]] = {
    "page": ("#ffffff", "#14171c"),
    "surface": ("#f4f6f8", "#1d2229"),
    "ink": ("#1b2027", "#e8ecf1"),
    "muted": ("#56606b", "#a3adb8"),
    "line": ("#c6ccd3", "#414a55"),
    "edge": ("#7b8692", "#7f8a96"),
    "focus": ("#8a2be2", "#d7a6ff"),
    "accent": ("#0b57a8", "#7db8ff"),
    "device-0": ("#0b57a8", "#6db1ff"),
    "device-1": ("#9a4a00", "#f2a65a"),
    "device-2": ("#0a6b5d", "#4fd0b5"),
    "device-3": ("#7a2fb8", "#c39bff"),
    "device-4": ("#b0175f", "#ff8fbe"),
    "device-5": ("#5a5f14", "#cfd36a"),
}
_DEVICES = sum(role.startswith("device-") for role in ROLES)
SYMBOLS = ("●", "■", "▲", "◆", "★", "✚")


def device_role(number: int) -> str:
    """Returns the role of the device with this number."""
    return f"device-{number % _DEVICES}"


def device_symbol(number: int) -> str:
    """Returns the symbol of the device with this number."""
    return SYMBOLS[number % len(SYMBOLS)]


def style_sheet() -> str:
    """Returns the colours as CSS variables; the system or the page's switch selects the theme."""
    light, dark = (
        " ".join(f"--{role}: {colours[theme]};" for role, colours in ROLES.items())
        for theme in range(2)
    )
    rules: Sequence[str] = (
        f":root {{ color-scheme: light; {light} }}",
        "@media (prefers-color-scheme: dark) "
        f"{{ :root:not([data-theme=light]) {{ color-scheme: dark; {dark} }} }}",
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}",
        *(f".fill-{role} {{ fill: var(--{role}); }}" for role in ROLES),
        *(f".line-{role} {{ stroke: var(--{role}); fill: none; }}" for role in ROLES),
        ".halo { paint-order: stroke; stroke: var(--page); stroke-width: 4px; }",
        *(f".text-{role} {{ color: var(--{role}); }}" for role in ROLES),
    )
    return "\n".join(rules)
