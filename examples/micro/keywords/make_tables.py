"""Prints tables.h: `PYTHONPATH=.:examples python examples/micro/keywords/make_tables.py`.

All numbers are those of examples/published/sounds.py and examples/keywords.py.
"""

import math
import textwrap
from collections.abc import Iterable

import keywords
from published import sounds
from published.speaking import RATE

_SOUND = ("SIZE", "WINDOW", "HOP", "LENGTH")
_BITS = ("SINE_BITS", "SAMPLE_BITS", "WEIGHT_BITS", "LEVEL_BITS", "TABLE_BITS", "STEP_BITS")
_RULE = ("LOOK", "LOUD", "PAUSE", "HISS")


def text() -> str:
    """Returns the header's content."""
    constants = {"RATE": RATE}
    constants |= {name: getattr(sounds, name) for name in (*_SOUND, *_BITS, "STEPS")}
    constants |= {name: getattr(keywords, name) for name in _RULE}
    constants["WORD_COUNT"] = len(sounds.WORDS)
    constants["SURE"] = math.floor(256 * keywords.SURE)
    lines = [
        "// examples/micro/keywords/make_tables.py writes this; what numbers mean is said in",
        "// examples/published/sounds.py and examples/keywords.py. SURE is in steps of 1/256.",
        "// clang-format off",
        *("#ifndef TABLES_H_", "#define TABLES_H_", "", "#include <stdint.h>", ""),
        *("enum {", *(f"  {name} = {value}," for name, value in constants.items()), "};", ""),
        *_table("int32_t", "SINES", sounds.sines()),
        *_table("uint16_t", "FIRST_FREQUENCIES", sounds.first_frequencies()),
        *_table("uint16_t", "RISING_WEIGHTS", sounds.rising_weights()),
        *_table("uint16_t", "LOGARITHMS", sounds.logarithms()),
        *_table("char* const", "WORDS", (f'"{word}"' for word in sounds.WORDS)),
        *("#endif  // TABLES_H_", ""),
    ]
    return "\n".join(lines)


def _table(kind: str, name: str, values: Iterable[object]) -> list[str]:
    rows = textwrap.wrap(", ".join(map(str, values)) + ",", 98)
    return [f"static const {kind} {name}[] = {{", *(f"  {row}" for row in rows), "};", ""]


if __name__ == "__main__":
    print(text(), end="")
