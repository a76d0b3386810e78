"""Makes tables for pandas, which is an optional package."""

from collections.abc import Mapping, Sequence
from typing import Any


def make_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Returns a pandas.DataFrame of these rows.

    Raises:
        ImportError: pandas is not installed.
    """
    try:
        import pandas  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ImportError(
            "to_pandas: expected the package pandas, got none; `pip install pandas`"
        ) from None
    return pandas.DataFrame.from_records(list(rows))
