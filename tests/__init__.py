"""The tests, as a regular package: larq-zoo installs a `tests` too, which would hide a folder."""
