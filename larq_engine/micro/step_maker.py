"""Knows the memory of tensors, and checks what kernels take, for functions that make steps."""

from larq_engine.converter.graph import Op, Tensor
from larq_engine.exporting.op_checks import unsupported
from larq_engine.micro.plan import C_TYPES, Memory, bytes_of

# Kernels have sizes of 16 bits.
_MOST = 2**16 - 1


class StepMaker:
    """Knows which memory holds which tensor."""

    def __init__(self) -> None:
        self._memory: dict[Tensor, Memory] = {}

    def give(self, tensor: Tensor, name: str) -> Memory:
        """Makes the caller's memory hold a tensor."""
        self._memory[tensor] = Memory(_checked_bytes(tensor), name)
        return self._memory[tensor]

    def memory(self, tensor: Tensor) -> Memory:
        """Returns the memory of a tensor, and makes it if it is a result."""
        if tensor not in self._memory:
            self._memory[tensor] = Memory(_checked_bytes(tensor))
        return self._memory[tensor]

    def share(self, tensor: Tensor, source: Tensor) -> None:
        """Makes a tensor have the bytes of another."""
        if tensor not in self._memory:
            self._memory[tensor] = self.memory(source)


# Kernels count bytes in 32 bits.
_MOST_BYTES = 2**31 - 1


def _checked_bytes(tensor: Tensor) -> int:
    if tensor.dtype not in C_TYPES:
        raise ValueError(
            f"tensor '{tensor.name}': expected one of {', '.join(C_TYPES)}, got {tensor.dtype}; no "
            "kernel in C has other types"
        )
    if not 0 < bytes_of(tensor) <= _MOST_BYTES:
        raise ValueError(
            f"tensor '{tensor.name}': expected 1 to {_MOST_BYTES} bytes, got shape "
            f"{list(tensor.shape)}"
        )
    return bytes_of(tensor)


def check_types(op: Op, *types: str) -> None:
    """Raises an error unless the first input and the output have one of these types each."""
    for tensor in (op.inputs[0], op.output):
        if tensor is not None and tensor.dtype not in types:
            raise unsupported(op, f"its kernel in C takes {' or '.join(types)}, got {tensor.dtype}")


def axis(
    op: Op, sizes: tuple[int, int], taps: int, stride: int, dilation: int, pad: int
) -> dict[str, int]:
    """Returns the fields of le_axis."""
    fields = {
        "in_size": sizes[0],
        "out_size": sizes[1],
        "taps": taps,
        "stride": stride,
        "dilation": dilation,
        "pad": pad,
    }
    for name, value in fields.items():
        if not 0 <= value <= _MOST:
            raise unsupported(op, f"expected a {name} of at most {_MOST}, got {value}")
    return fields


def small(op: Op, name: str, value: int) -> int:
    """Returns a number that a field of 16 bits can have."""
    if not 0 <= value <= _MOST:
        raise unsupported(op, f"expected a number of {name} of at most {_MOST}, got {value}")
    return value
