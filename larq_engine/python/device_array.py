"""Reads arrays in a GPU's memory in place, which other libraries hand over by DLPack."""

import ctypes
import math
from typing import Any

import numpy as np

from larq_engine.python.tensors import Shape

# DLPack's number for devices with CUDA.
_CUDA = 2

# DLPack's numbers for kinds of data types, with NumPy's letters for them.
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}

# DLPack's number for the stream that the whole process shares. The plug-in waits for that stream
# before it reads, so the producer need not know the plug-in's own streams.
_SHARED_STREAM = 1


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor, with which a DLManagedTensor begins."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DeviceArray:
    """Contiguous data on a GPU, with those properties of an array that batching needs."""

    def __init__(self, owner: Any, address: int, shape: Shape, dtype: np.dtype[Any]) -> None:
        self._owner = owner  # keeps the memory
        self.address = address
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size of the data."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, samples: slice) -> "DeviceArray":
        """Returns a range of samples along axis 0."""
        start, stop, _ = samples.indices(len(self))
        address = self.address + start * (self.nbytes // max(len(self), 1))
        return DeviceArray(self._owner, address, (stop - start, *self.shape[1:]), self.dtype)


def is_on_gpu(x: Any) -> bool:
    """Tells whether the data of `x` are in a GPU's memory."""
    tell = getattr(x, "__dlpack_device__", None)
    return tell is not None and int(tell()[0]) == _CUDA


def from_gpu(x: Any) -> DeviceArray:
    """Takes an array for which `is_on_gpu` holds, without a copy.

    Raises:
        TypeError: NumPy has no equal data type.
        ValueError: The array is not contiguous.
    """
    # Nobody consumes the capsule: it keeps the data, and frees them when it is deleted.
    capsule = x.__dlpack__(stream=_SHARED_STREAM)
    open_capsule = ctypes.pythonapi.PyCapsule_GetPointer
    open_capsule.restype = ctypes.c_void_p
    open_capsule.argtypes = [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(open_capsule(capsule, b"dltensor"))
    kind = _KINDS.get(tensor.code)
    if kind is None or tensor.bits % 8 or tensor.lanes != 1:
        raise TypeError(
            f"expected a data type of NumPy's, got DLPack's code {tensor.code} of {tensor.bits} "
            f"bits and {tensor.lanes} lanes; convert it"
        )
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides and not _is_contiguous(shape, tuple(tensor.strides[: tensor.ndim])):
        raise ValueError(
            f"expected a contiguous array on the GPU, got one of shape {shape} with the strides "
            f"{tuple(tensor.strides[: tensor.ndim])}; copy it, as by x.contiguous() in PyTorch"
        )
    address = (tensor.data or 0) + tensor.byte_offset
    return DeviceArray((x, capsule), address, shape, np.dtype(f"{kind}{tensor.bits // 8}"))


def _is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Tells whether data are contiguous; strides count values. Axes of length 1 have any stride."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True
