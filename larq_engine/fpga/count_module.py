"""The module that sums bits, which lanes of the same size share."""

from larq_engine.fpga.text import Module, Port, bits_for, module, vector, widened, wire

# Bits that are summed first: four full adders make 3 bits of 7. A full adder is two tables of four
# inputs, and takes the product of a value and a weight in place of one of its three bits. 576 such
# products took 2.5 tables each, and 3.2 with first sums of 4 bits.
_LEAF = 7
_LEAF_BITS = 3

# The stages of a first sum.
_LEAF_STAGES = 2


def count_latency(bits: int) -> int:
    """Returns the stages of a sum of so many bits."""
    return _LEAF_STAGES + len(_levels(bits)) - 1


def _levels(bits: int) -> list[tuple[int, int]]:
    """Returns of each level how many sums it has, and their bits.

    Each is registered. Yosys would merge additions without registers between them into sums of many
    numbers, which took half as many tables again.
    """
    most = bits_for(bits)
    found = [(-(-bits // _LEAF), min(most, _LEAF_BITS))]
    while found[-1][0] > 1:
        found.append((-(-found[-1][0] // 2), min(most, found[-1][1] + 1)))
    return found


def count_module(prefix: str, bits: int) -> Module:
    """Returns the module that sums bits, as a tree of adders in stages."""
    levels = _levels(bits)
    number, size = levels[0]
    # Simulators compile one module for all instances then.
    body = "  /* verilator no_inline_module */\n"
    spare = _LEAF * number - bits
    padded = f"{{{spare}'b0, in_bits}}" if spare else "in_bits"
    body += wire(_LEAF * number, "bits", padded)
    body += _first_sums(number, size)
    for level, (number, size) in enumerate(levels[1:], 1):
        before, old = levels[level - 1]
        source = f"s{level - 1}"
        if before % 2:
            body += wire((before + 1) * old, f"even{level - 1}", f"{{{old}'b0, {source}}}")
            source = f"even{level - 1}"
        pair = [f"{source}[{2 * old} * i{f' + {old}' if n else ''} +: {old}]" for n in (0, 1)]
        total = " + ".join(widened(term, old, size) for term in pair)
        body += f"  reg {vector(number * size)} s{level};\n"
        body += _each(f"level_{level}", number, [f"s{level}[{size} * i +: {size}] <= {total};"])
    body += f"  assign out_count = s{len(levels) - 1};"
    ports = [
        Port("clk", 1),
        Port("in_bits", bits),
        Port("out_count", bits_for(bits), is_input=False),
    ]
    return module(f"{prefix}_count_{bits}", f"The ones among {bits} bits.", ports, body)


def _first_sums(number: int, size: int) -> str:
    """Returns the text of the sums of 7 bits, which are the registers s0.

    Sum i is of the bits i, i + number, and so on: simulators add all sums at once then.
    """
    a, b, c, d, e, f, g = (f"bits[{(n + 1) * number - 1}:{n * number}]" for n in range(_LEAF))
    body = "".join(f"  reg {vector(number)} {name};\n" for name in _HALVES)
    body += f"""\
  always @(posedge clk) begin
    sum_a <= {a} ^ {b} ^ {c};
    carry_a <= {a} & {b} | {a} & {c} | {b} & {c};
    sum_b <= {d} ^ {e} ^ {f};
    carry_b <= {d} & {e} | {d} & {f} | {e} & {f};
    seventh <= {g};
  end
"""
    body += """\
  wire [@:0] sum = sum_a ^ sum_b ^ seventh;
  wire [@:0] carry = sum_a & sum_b | sum_a & seventh | sum_b & seventh;
  wire [@:0] twos = carry_a ^ carry_b ^ carry;
  wire [@:0] fours = carry_a & carry_b | carry_a & carry | carry_b & carry;
""".replace("@", str(number - 1))
    places = [f"s0[{size} * i{f' + {n}' if n else ''}]" for n in range(size)]
    results = ("sum", "twos", "fours")
    for name in results[size:]:
        body += f"  wire unused_{name} = &{{1'b0, {name}}};\n"
    body += f"  reg {vector(number * size)} s0;\n"
    named = zip(places, results, strict=False)
    return body + _each("level_0", number, [f"{place} <= {name}[i];" for place, name in named])


_HALVES = ("sum_a", "carry_a", "sum_b", "carry_b", "seventh")


def _each(name: str, count: int, lines: list[str]) -> str:
    """Returns a stage that does the same for each i."""
    text = "".join(f"      {line}\n" for line in lines)
    return (
        f"  always @(posedge clk) begin : {name}\n"
        "    integer i;\n"
        f"    for (i = 0; i < {count}; i = i + 1) begin\n{text}    end\n  end\n"
    )
