"""TensorFlow, Keras 2 and larq for the tests that convert from them.

If one of them is missing, those tests are skipped and say so, unless LARQ_ENGINE_REQUIRE_HOSTS
names tensorflow. Import this module before TensorFlow, which reads the variables set here once.
"""

import importlib.util
import os

import pytest

from tests import parts

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
# A convolution of oneDNN reads memory that it does not own (seen in TensorFlow 2.21: 8 images of 6
# x 3 x 1, filter 1 x 2, stride (1, 2), no padding), and then Keras' own answers are wrong.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

_NEEDED = ("tensorflow", "tf_keras", "larq")


def require_keras() -> None:
    """Skips the calling module in the quick part, and if a package is missing that may be."""
    if parts.chosen == parts.QUICK:
        pytest.skip("needs TensorFlow; `make test-all` runs it", allow_module_level=True)
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    required = "tensorflow" in os.environ.get("LARQ_ENGINE_REQUIRE_HOSTS", "").split(",")
    if missing and not required:
        pytest.skip(f"{', '.join(missing)} not installed here", allow_module_level=True)
