"""The most stack that a run takes: tests/micro/test_stack.py proves it of what gcc 12 compiles."""

from larq_engine.micro.plan import Plan

# The deepest kernel, with the functions above and below it.
_KERNELS = 768
# The address of an input or output, which waits for the step that takes it.
_PORT = 4


def stack_bytes(plan: Plan) -> int:
    """Returns the bound of a model that is compiled with -O1, -O2, -O3 or -Os."""
    return _KERNELS + (len(plan.inputs) + len(plan.outputs)) * _PORT
