"""Writes C that counts the bits in which so many words differ, without a loop.

Chips without an instruction that counts ones add words up column by column (c/le_count.h), those
with vectors four words at once. How many words there are is known here, so nothing is added that is
not there: three words of one weight become two, as long as there are three, and what is left is
counted.
"""

from dataclasses import dataclass, field

from larq_engine.micro.plan import Instance

# A count of four columns' ones is 4 at most, and its four bits hold 15: so many units fit.
_UNITS = 3

# Eight columns of that many units, in each byte of a sum.
_OF_BYTE = 8 * _UNITS
_MOST_OF_BYTE = 255


# Fewer words fill too little of vectors of four.
_WORDS_OF_VECTORS = 8


@dataclass
class _Network:
    """Sums of words, or of vectors: `vector` ends the names of functions of vectors."""

    c_type: str
    add_function: str
    vector: str
    lines: list[str] = field(default_factory=list)
    # The words of each weight, 1, 2, 4 and so on.
    levels: list[list[str]] = field(default_factory=list)
    names: int = 0

    def add(self, level: int, word: str) -> None:
        if level == len(self.levels):
            self.levels.append([])
        words = self.levels[level]
        words.append(word)
        if len(words) < 3:
            return
        name = f"s{self.names}"
        self.names += 1
        first, second, third = words
        self.lines.append(f"{self.c_type} {name} = {first};")
        self.lines.append(
            f"const {self.c_type} c{name} = {self.add_function}(&{name}, {second}, {third});"
        )
        self.levels[level] = [name]
        self.add(level + 1, f"c{name}")

    def groups(self) -> list[tuple[int, str]]:
        """Returns sums of four bits for each four columns, with the weight of each sum."""
        left = [(level, word) for level, words in enumerate(self.levels) for word in words]
        groups = []
        while left:
            base = left[0][0]
            room, parts, rest = _UNITS, [], []
            for level, word in left:
                units = 1 << (level - base)
                if units <= room:
                    room -= units
                    parts.append(f"{_times(units)}le_ones_of_four{self.vector}({word})")
                else:
                    rest.append((level, word))
            groups.append((1 << base, " + ".join(parts)))
            left = rest
        return groups

    def sum(self) -> list[str]:
        """Returns the lines that add all up, as many groups as fit in bytes at once."""
        add_bytes = f"le_sum_bytes{self.vector}(bytes)"
        lines = [f"{self.c_type} bytes;", "uint32_t total = 0;"]
        room, scale, is_first = 0, 1, True
        for base, text in self.groups():
            as_bytes = f"le_fours_to_bytes{self.vector}({text})"
            if base // scale * _OF_BYTE > room:
                if not is_first:
                    lines.append(f"total += {_times(scale)}{add_bytes};")
                scale, room = base, _MOST_OF_BYTE
                lines.append(f"bytes = {as_bytes};")
            else:
                lines.append(f"bytes += {_times(base // scale)}{as_bytes};")
            is_first = False
            room -= base // scale * _OF_BYTE
        return [*self.lines, *lines, f"return total + {_times(scale)}{add_bytes};"]


def count_network(words: int) -> Instance:
    """Returns the function for a number of words."""
    name = f"differences_{words}"
    return Instance(
        name,
        f"LE_INLINE uint32_t {name}(const uint32_t* x, const uint32_t* w, uint32_t words) {{{{\n"
        "  (void)words;\n"
        "#if defined(LE_COUNTS_ONES)\n"
        f"  return {_counts(words)};\n"
        f"{_vectors(words)}"
        "#else\n"
        f"{_words(words)}"
        "#endif\n"
        "}}\n",
    )


def _counts(words: int) -> str:
    """Returns the sum for chips that count the ones of a word."""
    return " +\n         ".join(f"le_count_ones(x[{n}] ^ w[{n}])" for n in range(words))


def _vectors(words: int) -> str:
    """Returns the lines for chips with vectors."""
    if words < _WORDS_OF_VECTORS:
        return ""
    network = _Network("uint32x4_t", "le_add_vectors", "_vector")
    for first in range(0, words, 4):
        place = f"x + {first}, w + {first}"
        is_whole = first + 4 <= words
        rest = f"le_differing_rest({place}, {words - first})"
        network.add(0, f"le_differing({place})" if is_whole else rest)
    return "#elif defined(LE_HAS_HELIUM)\n" + _lines(network.sum())


def _words(words: int) -> str:
    network = _Network("uint32_t", "le_add", "")
    for number in range(words):
        network.add(0, f"x[{number}] ^ w[{number}]")
    return _lines(network.sum())


def _lines(lines: list[str]) -> str:
    return "".join(f"  {line}\n" for line in lines)


def _times(factor: int) -> str:
    return f"{factor} * " if factor > 1 else ""
