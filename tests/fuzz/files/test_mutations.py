"""Each kind of mutation changes files, and a number always makes the same file."""

from random import Random

import pytest

from tests.fuzz.files import model_tree
from tests.fuzz.files.cases import KINDS, Cases
from tests.fuzz.files.mutations import BYTES, MUTATIONS
from tests.fuzz.files.seeds import make_seeds

_TREES = {name: model_tree.read(content) for name, content in make_seeds().items()}
_BEFORE = {name: tree.write() for name, tree in _TREES.items()}


@pytest.mark.parametrize("kind", MUTATIONS)
def test_each_kind_changes_files(kind):
    changed = 0
    for number, (name, tree) in enumerate(_TREES.items()):
        model = tree.copy()
        touched = MUTATIONS[kind](model, Random(number))
        after = model.write()
        assert touched or after == _BEFORE[name]
        changed += after != _BEFORE[name]
        assert tree.write() == _BEFORE[name], "the seed was changed"
    assert changed


@pytest.mark.parametrize("kind", BYTES)
def test_each_kind_changes_bytes(kind):
    changed = 0
    for number in range(10):
        content = bytearray(_BEFORE["loop"])
        BYTES[kind](content, Random(number))
        changed += content != _BEFORE["loop"]
    assert changed


def test_cases_are_what_their_number_says():
    one, other = Cases(), Cases()
    for number in range(300):
        case = one.make(number)
        assert case == other.make(number)
    assert [one.make(number) for number in (5, 3, 5)] == [other.make(n) for n in (5, 3, 5)]


def test_all_kinds_come_up():
    cases = Cases()
    seen = {kind for number in range(3000) for kind, _ in cases.make(number).mutations}
    assert seen == set(KINDS)


def test_leaving_out_a_mutation_leaves_the_others():
    cases = Cases()
    several = [case for case in map(cases.make, range(300)) if len(case.mutations) > 2]
    assert len(several) > 20
    for case in several:
        last = len(case.mutations) - 1
        assert cases.make(case.number, frozenset([last])).mutations == case.mutations[:last]
        assert cases.make(case.number, frozenset(range(6))).mutations == ()
