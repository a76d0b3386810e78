"""The operators of networks that are written twice, in PyTorch (tests/torch) and in Keras.

A file of the one must have the operators that a file of the other has: the same binary layers, and
as many operators of the host's between them. So it is as fast.
"""

# By the names of tests/torch/test_torch_networks.py; inputs have their channels last.
OPERATORS = {
    "Bi-Real-18": {
        "LceQuantize": 16,
        "LceBconv2d": 16,
        "ADD": 16,
        "CONV_2D": 4,
        "AVERAGE_POOL_2D": 3,
        "PAD": 1,
        "PADV2": 1,
        "MAX_POOL_2D": 1,
        "MEAN": 1,
        "FULLY_CONNECTED": 1,
    },
    "MLP": {
        "RESHAPE": 3,
        "LceBconv2d": 3,
        "LceUnpackWeights": 1,
        "FULLY_CONNECTED": 1,
        "LceQuantize": 1,
        "LOG_SOFTMAX": 1,
    },
}
