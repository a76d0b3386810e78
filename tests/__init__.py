"""Makes a regular package of the tests: larq-zoo installs a `tests`, too, which would hide them."""
