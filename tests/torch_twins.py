"""The operators of networks that are written twice, in PyTorch (tests/torch) and in Keras.

Files of both must have the same operators: the same binary layers, and as many operators of the
host between them. So both are equally fast (docs/from_pytorch.md).
"""

# Operators by the names of tests/torch/cases.py, without the TRANSPOSE of inputs that have their
# channels first.
OPERATORS = {
    "AdaBin": {
        "LceBconv2d": 4,
        "ADD": 4,
        "LceQuantize": 2,
        "MUL": 2,
        "CONV_2D": 1,
        "MEAN": 1,
        "FULLY_CONNECTED": 1,
    },
    "AdaBin without padding": {
        "LceBconv2d": 4,
        "LceQuantize": 2,
        "MUL": 2,
        "ADD": 2,
        "CONV_2D": 1,
        "MEAN": 1,
        "FULLY_CONNECTED": 1,
    },
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
    "Brevitas": {
        "LceBconv2d": 3,
        "CONV_2D": 1,
        "LceQuantize": 1,
        "LceBMaxPool2d": 1,
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
    "ReActNet": {
        "ADD": 27,
        "LceBconv2d": 8,
        "LceQuantize": 6,
        "PRELU": 6,
        "CONCATENATION": 2,
        "PAD": 1,
        "CONV_2D": 1,
        "AVERAGE_POOL_2D": 1,
        "MEAN": 1,
        "FULLY_CONNECTED": 1,
    },
    "XNOR-Net": {
        "LceBconv2d": 3,
        "CONV_2D": 2,
        "MAX_POOL_2D": 1,
        "SUB": 1,
        "LceQuantize": 1,
        "LceBMaxPool2d": 1,
        "RELU": 1,
        "AVERAGE_POOL_2D": 1,
        "RESHAPE": 1,
    },
    "keywords": {
        "LceBconv2d": 3,
        "RESHAPE": 2,
        "PAD": 1,
        "CONV_2D": 1,
        "LceQuantize": 1,
        "LceBMaxPool2d": 1,
        "MEAN": 1,
        "FULLY_CONNECTED": 1,
    },
}
