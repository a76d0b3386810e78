"""Random PyTorch modules through `convert_torch` and the engine, compared with PyTorch.

    .venv-torch/bin/python -m tests.corpus.torch --count 20000 --seed 1

Exporting takes longer than all else, so several networks are converted as the parts of one module,
and mostly without the converter's own check. A network is right if its output is PyTorch's at
batches of 1, 2 and 9 and at another size of image. A network that is not right, or that is refused,
is converted again by itself, with the check: a file may refuse another size, if it says so. Wrong
results are printed at once; the counts at the end tell what was right, wrong, and refused by which
reason. Several processes may run other seeds each.
"""

import argparse
import contextlib
import gc
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

import larq_engine
from larq_engine.converter import other_sizes, rules_binary, schema
from larq_engine.converter.torch_reader import reader
from tests.corpus.outcomes import blames_converter, difference, reason
from tests.torch.random_modules import CHANNELS, SIZES, RandomModule, RandomModules

_BATCHES = (1, 2, 9)
# Networks that are converted together. A refusal costs another conversion of the rest, so larger
# groups are no faster.
GROUP_SIZE = 8
# One of this many groups is converted with the check.
GROUPS_PER_CHECK = 16
# Largest error of means, and of sums beyond 24 bits, as a share of the largest result.
_ROUNDING = 1e-5
# Names of steps that mostly make a file of one size. In a group with other networks, several
# conversions would be needed to find which of the networks has such a step.
_OF_ONE_SIZE = ("slice: half", "slice: pairs", "pool, rounded up")
_MAX_REASON = 300  # characters


@dataclass
class Outcome:
    """Outcomes of networks.

    Attributes:
        right: Number of networks that are right.
        wrong: Texts about what is wrong, by seeds.
        refused: Reasons of refusals, by seeds.
        fixed: Reasons why files have one size, by seeds; they are right at that size.
        layers: Numbers of layers, by what they became.
    """

    right: int = 0
    wrong: dict[int, str] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    fixed: dict[int, str] = field(default_factory=dict)
    layers: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Options:
    """Options of a group of networks, which follow from its number."""

    flattens: bool
    open_batch: bool
    check: bool
    sign_of_zero: str

    @classmethod
    def of(cls, seed: int) -> "_Options":
        group = seed // GROUP_SIZE
        return cls(
            flattens=group % 4 == 1,
            open_batch=group % 4 in (1, 2),
            check=group % GROUPS_PER_CHECK == 0,
            sign_of_zero="-1" if group % 8 < 4 else "+1",
        )

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        return SIZES[:1] if self.flattens else SIZES


def try_group(seeds: Sequence[int], outcome: Outcome) -> None:
    """Converts and compares networks of one group, some of them by themselves at once."""
    alone = [] if _Options.of(seeds[0]).flattens else list(filter(_has_one_size, seeds))
    for seed in alone:
        _try_alone(seed, "", outcome)
    try_networks([seed for seed in seeds if seed not in alone], outcome)


def _has_one_size(seed: int) -> bool:
    """Tells whether a network that need not be flattened mostly has a file of one size."""
    net = RandomModule(seed, flattens=False).eval()
    if any(name in str(net) for name in _OF_ONE_SIZE):
        return True
    return any(_expected(net, torch.zeros(1, CHANNELS, *size)) is None for size in SIZES[1:])


def try_networks(seeds: Sequence[int], outcome: Outcome) -> None:
    """Converts and compares networks of one group."""
    if not seeds:
        return
    options = _Options.of(seeds[0])
    module = RandomModules(seeds, options.flattens).eval()
    try:
        converted = _convert(module, options, check=options.check)
    except Exception as error:
        _try_parts(seeds, map(int, re.findall(r"nets\.(\d+)", str(error))), str(error), outcome)
        return
    found = _compare(module, converted, options.sizes, options.open_batch)
    if isinstance(found, str):
        held = {seeds[number] for number in _held_by(converted)}
        for seed in held:
            _try_alone(seed, found, outcome)
        if held:
            try_networks([seed for seed in seeds if seed not in held], outcome)
        else:
            _try_parts(seeds, [], found, outcome)
        return
    outcome.layers.update(layer.became for layer in converted.report.layers)
    for seed, why in zip(seeds, found, strict=True):
        if why:
            _try_alone(seed, why, outcome)
        else:
            outcome.right += 1


def _held_by(converted: larq_engine.ConvertedModel) -> list[int]:
    """Returns the networks that are named as the reason of one size, or have an image of one."""
    images = [
        op.output.name
        for op in schema.read(converted).graphs[0].ops
        for x in op.inputs
        if x is not None and x.is_constant and len(x.shape) == 4 and min(x.shape[1:3]) > 1
        if op.kind in ("ADD", "MUL", "SUB")
    ]
    names = [*images, converted.report.fixed_sizes]
    return [int(number) for name in names for number in re.findall(r"nets\.(\d+)", name)]


def _try_parts(seeds: Sequence[int], at_fault: Iterable[int], why: str, outcome: Outcome) -> None:
    """Goes on with networks that were refused together; those at fault go by themselves."""
    chosen = {seeds[number] for number in at_fault}
    if len(seeds) == 1:
        _try_alone(seeds[0], why, outcome)
    elif chosen:
        for seed in chosen:
            try_networks([seed], outcome)
        try_networks([seed for seed in seeds if seed not in chosen], outcome)
    else:
        try_networks(seeds[: len(seeds) // 2], outcome)
        try_networks(seeds[len(seeds) // 2 :], outcome)


def _try_alone(seed: int, why: str, outcome: Outcome) -> None:
    """Converts a network with the converter's check.

    Args:
        seed: Seed of the network.
        why: The reason why it was refused or wrong in its group; empty if it was in none.
        outcome: The outcomes, to which that of the network is added.
    """
    options = _Options.of(seed)
    module = RandomModules([seed], options.flattens).eval()
    try:
        converted = _convert(module, options, check=True)
    except Exception as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        table = outcome.wrong if _is_wrong(error) else outcome.refused
    else:
        fixed = converted.report.fixed_sizes
        found = _compare(
            module, converted, options.sizes[:1] if fixed else options.sizes, options.open_batch
        )
        text = found if isinstance(found, str) else found[0]
        table = outcome.wrong
        if not text and fixed:
            text, table = fixed, outcome.fixed
        elif not text and (not why or _is_of_another_size(why)):
            outcome.right += 1  # files have one size without the check
            return
        elif not text:
            text = f"right by itself, with the check; without it, or beside others: {why}"
    table[seed] = text
    kind = next(name for name, value in vars(outcome).items() if value is table)
    print(f"seed {seed}, {kind}: {text}\n  {module.nets[0]}", flush=True)


def _is_of_another_size(why: str) -> bool:
    return any(f", {height}, {width}): " in why for height, width in SIZES[1:])


def _convert(
    module: RandomModules, options: _Options, *, check: bool
) -> larq_engine.ConvertedModel:
    return larq_engine.convert_torch(
        module,
        torch.randint(-16, 17, (1, CHANNELS, *SIZES[0])) / 4,
        open_batch=options.open_batch,
        sign_of_zero=dict.fromkeys(module.plain_signs, options.sign_of_zero),
        check=check,
    )


def _is_wrong(error: Exception) -> bool:
    return not isinstance(error, larq_engine.ConversionError) or blames_converter(error)


def _compare(
    module: RandomModules, converted: bytes, sizes: Sequence[tuple[int, int]], is_open: bool
) -> list[str] | str:
    """Returns texts on differences from PyTorch, by networks; one text if the file does not run."""
    model = larq_engine.Interpreter(converted)
    found = [""] * len(module.nets)
    generator = torch.Generator().manual_seed(1)
    for size in sizes:
        for batch in _BATCHES:
            shape = (batch, CHANNELS, *size)
            x = torch.randint(-16, 17, shape, generator=generator) / 4
            expected = [_expected(net, x) for net in module.nets]
            if all(want is None for want in expected):
                continue  # no file could compute what the modules do not
            try:
                if batch == 1 or is_open:
                    model.resize([shape])  # else samples run one by one
                got = model.predict(x.numpy())
            except Exception as error:
                return f"{shape}: {type(error).__name__}: {error}"
            outputs = got if isinstance(got, list) else [got]
            for number, (have, want) in enumerate(zip(outputs, expected, strict=True)):
                if want is not None:
                    found[number] = found[number] or difference(f"{shape}", have, want, _ROUNDING)
    return found


def _expected(net: torch.nn.Module, x: torch.Tensor) -> np.ndarray | None:
    """Returns what PyTorch computes; None if it cannot, as shortcuts may not fit at this size."""
    try:
        with torch.no_grad():
            return net(x).numpy()
    except RuntimeError:
        if tuple(x.shape[2:]) == SIZES[0]:
            raise
        return None


@contextlib.contextmanager
def small_networks():
    """Lets layers of any size become binary, and lets files that were not checked be resized."""
    replaced = [
        (rules_binary, "_has_few_products", lambda layer: False),
        (reader, "NOT_COMPARED", ""),
        (other_sizes, "NOT_COMPARED", ""),
    ]
    before = [getattr(module, name) for module, name, _ in replaced]
    for module, name, value in replaced:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(replaced, before, strict=True):
            setattr(module, name, value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=240, help="how many networks")
    parser.add_argument("--seed", type=int, default=1, help="of the first; others follow")
    options = parser.parse_args()
    torch.set_num_threads(1)
    # Exports make millions of objects that stay alive; garbage collection of them took 15 % of the
    # time.
    gc.set_threshold(200_000, 50, 1000)
    outcome = Outcome()
    done, first, end = 0, options.seed, options.seed + options.count
    with contextlib.suppress(KeyboardInterrupt), small_networks():  # the counts so far are printed
        while first < end:
            after = min(end, (first // GROUP_SIZE + 1) * GROUP_SIZE)
            try_group(range(first, after), outcome)
            if not done:
                gc.freeze()  # packages that were imported
            done, first = after - options.seed, after
    print(
        f"{done} networks from seed {options.seed}: {outcome.right} right, {len(outcome.wrong)} "
        f"wrong, {len(outcome.fixed)} of one size, {len(outcome.refused)} refused"
    )
    for title, table in (("of one size", outcome.fixed), ("refused", outcome.refused)):
        reasons: dict[str, list[int]] = {}
        for seed, text in table.items():
            reasons.setdefault(reason(text, _MAX_REASON), []).append(seed)
        print(f"\n{title}:")
        for text, seeds in sorted(reasons.items(), key=lambda reason: -len(reason[1])):
            print(f"{len(seeds):8} {text} (seeds {', '.join(map(str, seeds[:4]))})")
    print(f"\nlayers: {dict(outcome.layers)}")
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
