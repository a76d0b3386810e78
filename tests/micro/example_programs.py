"""Examples for microcontrollers: their folders, what they import, and their front end on the PC."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.micro import boards, c_model

EXAMPLES = boards.MAKEFILE.parents[2]
KEYWORDS = boards.MAKEFILE.parents[1] / "keywords"
DIGITS = boards.MAKEFILE.parents[1] / "digits"


@contextmanager
def imported_from_examples() -> Iterator[None]:
    """Lets tests import what programs in examples/ import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        yield


_MAIN = """
#include <stdio.h>

#include "spectrogram.h"

int main(void) {
  static spectrogram sound;
  static int16_t samples[LENGTH];
  static int8_t image[SIZE * SIZE];
  while (fread(samples, sizeof(samples), 1, stdin) == 1) {
    spectrogram_start(&sound);
    for (uint32_t n = 0; n < LENGTH; ++n) spectrogram_push(&sound, samples[n]);
    spectrogram_write(&sound, image);
    fwrite(image, sizeof(image), 1, stdout);
  }
  return 0;
}
"""


def images_on_the_pc(sounds: Any, folder: Path) -> Any:
    """Returns the bytes that the C front end makes of sounds, under sanitizers."""
    main, program = folder / "main.c", folder / "program"
    main.write_text(_MAIN)
    sources = [str(main), str(KEYWORDS / "spectrogram.c")]
    flags = [*c_model.FLAGS, *c_model.SANITIZE, f"-I{KEYWORDS}"]
    subprocess.run(["gcc", *flags, *sources, "-o", str(program)], check=True)
    done = subprocess.run([str(program)], input=sounds.tobytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, np.int8).reshape(len(sounds), -1)
