"""These tests need PyTorch, in an environment of its own: tools/test_torch.sh runs them."""

import importlib.util

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]
