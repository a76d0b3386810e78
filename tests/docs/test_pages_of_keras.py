"""The Python of the documents about TensorFlow and Keras runs."""

from pathlib import Path

import pytest

from tests.converter.frameworks import require_keras
from tests.docs import pages


@pytest.mark.parametrize("snippet", pages.KERAS, ids=str)
def test_python_of_a_page_runs(snippet: pages.Snippet, tmp_path: Path) -> None:
    require_keras()
    pages.check(snippet, tmp_path)
