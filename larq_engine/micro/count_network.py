"""Writes C that counts the bits in which so many words differ, without a loop.

Chips without an instruction that counts ones add words up column by column (c/le_count.h). How many
words there are is known here, so nothing is added that is not there: three words of one weight
become two, as long as there are three, and what is left is counted.
"""

from dataclasses import dataclass, field

from larq_engine.micro.plan import Instance

# A count of four columns' ones is 4 at most, and its four bits hold 15: so many units fit.
_UNITS = 3

# Eight columns of that many units, in each byte of a sum.
_OF_BYTE = 8 * _UNITS
_MOST_OF_BYTE = 255


@dataclass
class _Network:
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
        self.lines.append(f"uint32_t {name} = {first};")
        self.lines.append(f"const uint32_t c{name} = le_add(&{name}, {second}, {third});")
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
                    times = f"{units} * " if units > 1 else ""
                    parts.append(f"{times}le_ones_of_four({word})")
                else:
                    rest.append((level, word))
            groups.append((1 << base, " + ".join(parts)))
            left = rest
        return groups


def count_network(words: int) -> Instance:
    """Returns the function for a number of words."""
    network = _Network()
    for number in range(words):
        network.add(0, f"x[{number}] ^ w[{number}]")
    lines = [*network.lines, *_sum(network.groups())]
    body = "\n".join(f"  {line}" for line in lines)
    name = f"differences_{words}"
    return Instance(
        name,
        f"LE_INLINE uint32_t {name}(const uint32_t* x, const uint32_t* w, uint32_t words) {{{{\n"
        "  (void)words;\n"
        "#ifdef LE_COUNTS_ONES\n"
        f"  return {_counts(words)};\n"
        "#else\n"
        f"{body}\n"
        "#endif\n"
        "}}\n",
    )


def _counts(words: int) -> str:
    """Returns the sum for chips that count the ones of a word."""
    return " +\n         ".join(f"le_count_ones(x[{n}] ^ w[{n}])" for n in range(words))


def _sum(groups: list[tuple[int, str]]) -> list[str]:
    """Returns the lines that add groups up, as many as fit in bytes at once."""
    lines = ["uint32_t bytes;", "uint32_t total = 0;"]
    room, scale, is_first = 0, 1, True
    for base, text in groups:
        if base // scale * _OF_BYTE > room:
            if not is_first:
                lines.append(f"total += {_times(scale)}le_sum_bytes(bytes);")
            scale, room = base, _MOST_OF_BYTE
            lines.append(f"bytes = le_fours_to_bytes({text});")
        else:
            lines.append(f"bytes += {_times(base // scale)}le_fours_to_bytes({text});")
        is_first = False
        room -= base // scale * _OF_BYTE
    return [*lines, f"return total + {_times(scale)}le_sum_bytes(bytes);"]


def _times(factor: int) -> str:
    return f"{factor} * " if factor > 1 else ""
