"""Steps of operators on float32 values, for chips with a floating-point unit.

Results have the bits of the engine without a host, whose arithmetic is in docs/host_operators.md,
docs/operators.md and larq_engine/kernels/pixels/pixel_ops.h.
"""

from larq_engine.micro import (
    float_byte_steps,
    float_layer_steps,
    float_pool_steps,
    float_value_steps,
)

KERNELS = {
    **float_layer_steps.KERNELS,
    **float_pool_steps.KERNELS,
    **float_value_steps.KERNELS,
    **float_byte_steps.KERNELS,
}
