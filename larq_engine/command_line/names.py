"""Splits values of options that are several names: NAME,NAME."""


def split_names(text: str) -> list[str]:
    """Splits at commas; blanks around a name are not part of it."""
    return [part.strip() for part in text.split(",")]
