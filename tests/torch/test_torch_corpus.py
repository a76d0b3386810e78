"""A sample of the corpus of random modules, another one in each run."""

import random

import pytest

from tests.corpus.torch import GROUPS, PARTS, Outcome, small_networks, try_group

_NETWORKS = 3


@pytest.mark.parametrize("kind", range(3), ids=["checked", "of one size", "open batch"])
def test_random_modules(kind, request):
    """The networks are of one group; the first of each 16 groups is converted with the check."""
    draw = random.Random(request.config.getoption("--sample"))
    group = draw.randrange(1 << 20) * GROUPS + kind + (draw.choice([0, 4]) if kind else 0)
    first, count = group * PARTS, 2 if kind == 0 else _NETWORKS
    outcome = Outcome()
    with small_networks():
        try_group(range(first, first + count), outcome)
    wrong = "".join(
        f"\n{text}\n  to replay: python -m tests.corpus.torch --count 1 --seed {seed}"
        f"\n  beside others: --count {count} --seed {first}"
        for seed, text in outcome.wrong.items()
    )
    assert not wrong, wrong
    assert outcome.right + len(outcome.fixed) + len(outcome.refused) == count
