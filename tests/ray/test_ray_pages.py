"""The Python of the documents about clusters runs."""

import pytest

from tests.docs import pages


@pytest.mark.parametrize("snippet", pages.RAY, ids=str)
def test_python_of_a_page_runs(snippet, tmp_path):
    pages.check(snippet, tmp_path)
