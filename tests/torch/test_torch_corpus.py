"""A sample of the corpus of random modules, another one in each run."""

import random

import pytest

from tests.corpus.torch import GROUP_SIZE, GROUPS_PER_CHECK, Outcome, small_networks, try_group

_NETWORKS = 3


@pytest.mark.parametrize("kind", range(3), ids=["checked", "of one size", "open batch"])
def test_random_modules(kind, request):
    """Converts networks of a random group, whose number decides the options of the conversion."""
    draw = random.Random(request.config.getoption("--sample"))
    group = draw.randrange(1 << 20) * GROUPS_PER_CHECK + kind + (draw.choice([0, 4]) if kind else 0)
    first, count = group * GROUP_SIZE, 2 if kind == 0 else _NETWORKS
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
