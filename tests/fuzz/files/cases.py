"""Makes case number N, which is always the same file: a seed with one to four mutations."""

from dataclasses import dataclass
from random import Random

from tests.fuzz.files import model_tree
from tests.fuzz.files.mutations import BYTES, LAST, MUTATIONS
from tests.fuzz.files.seeds import make_seeds

KINDS = (*MUTATIONS, *BYTES)
_TREE_KINDS = tuple(kind for kind in MUTATIONS if kind not in LAST)
_LAST_KINDS = tuple(MUTATIONS)
_BYTE_KINDS = tuple(BYTES)

# Numbers of mutations of a case's tree, each as often as it should occur; byte mutations are extra.
_COUNTS = (1,) * 11 + (2,) * 5 + (3,) * 2 + (4,) * 2
_BYTES_SHARE = 0.1
_ATTEMPTS = 20  # tries to draw a kind of mutation that fits the seed


@dataclass(frozen=True)
class Case:
    """A file and how it was made: each mutation's kind and the operator that it touched."""

    number: int
    seed: str
    mutations: tuple[tuple[str, str], ...]
    content: bytes


class Cases:
    """Makes cases; the seeds are read once."""

    def __init__(self) -> None:
        seeds = [(name, model_tree.read(file)) for name, file in make_seeds().items()]
        for _, tree in seeds:
            tree.write()
        # Seeds of a single host operator are the larger number but the smaller models. So half of
        # the cases are drawn from them, and half from models with our operators.
        self._hosts = [seed for seed in seeds if seed[0].startswith("host_")]
        self._ours = [seed for seed in seeds if not seed[0].startswith("host_")]

    def make(self, number: int, without: frozenset[int] = frozenset()) -> Case:
        """Makes a case.

        `without` leaves out mutations by their place; the others stay as they are.
        """
        r = Random(number)
        name, tree = r.choice(r.choice((self._ours, self._hosts)))
        model = tree.copy()
        bytes_too = r.random() < _BYTES_SHARE
        count = r.choice(_COUNTS) if not bytes_too or r.random() < 0.3 else 0
        done = []
        for place in range(count):
            if place in without:
                continue
            own = Random((number << 3) + place)
            for _ in range(_ATTEMPTS):
                kind = own.choice(_LAST_KINDS if place == count - 1 else _TREE_KINDS)
                operator = MUTATIONS[kind](model, own)
                if operator:
                    done.append((kind, operator))
                    break
        content = model.write()
        if bytes_too and count not in without:
            kind = r.choice(_BYTE_KINDS)
            changed = bytearray(content)
            BYTES[kind](changed, Random((number << 3) + count))
            done.append((kind, "file"))
            content = bytes(changed)
        return Case(number, name, tuple(done), content)
