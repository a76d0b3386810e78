"""Refuses shapes of inputs that a host would take, but that a file was not made for."""

from collections.abc import Sequence

from larq_engine.python.model_file import FIXED_SIZES, read_metadata
from larq_engine.python.tensors import Shape, TensorInfo
from larq_engine.python.text_table import printable

# Most letters that are shown of a text in a file, which anybody can have written.
_MOST_REASON = 400


def check_sizes(
    action: str, content: bytes, inputs: Sequence[TensorInfo], wanted: Sequence[Shape]
) -> None:
    """Refuses sizes at which the converter did not see the file compute the right thing.

    The number of samples is free, and so are sizes that the file leaves open.

    Args:
        action: The beginning of errors.
        content: The bytes of the model's file.
        inputs: The inputs as the file declares them.
        wanted: The shapes to check.
    """
    for info, shape in zip(inputs, wanted, strict=True):
        sides = zip(info.shape[1:], shape[1:], info.signature[1:], strict=True)
        if all(old == new or is_open == -1 for old, new, is_open in sides):
            continue
        reason = read_metadata(content, FIXED_SIZES)
        if reason:
            raise ValueError(
                f"{action}: expected for input {info} the sizes that the file was made for, "
                f"{info.shape[1:]} behind the batch, got {shape[1:]}: "
                f"{printable(reason[:_MOST_REASON])}; convert the model for inputs of this size"
            )


def check_batch(
    action: str,
    inputs: Sequence[TensorInfo],
    outputs: Sequence[TensorInfo],
    wanted: Sequence[Shape],
    made: Sequence[TensorInfo],
) -> None:
    """Refuses images that a RESHAPE would split into several samples.

    A RESHAPE to [-1, 256], as files have one before a dense layer, takes an image of twice the
    height and width for a batch of four.

    Args:
        action: The beginning of errors.
        inputs: The inputs as the file declares them.
        outputs: The outputs as the file declares them.
        wanted: The shapes that the inputs now have.
        made: The outputs with the shapes that follow.
    """
    before = {info.shape[:1] for info in inputs}
    after = {shape[:1] for shape in wanted}
    is_open = any(-1 in info.signature[1:] for info in inputs)
    if len(before) != 1 or len(after) != 1 or is_open:
        return
    for old, new in zip(outputs, made, strict=True):
        # Sizes that are known only after a run are still those of the file.
        fits = new.shape[:1] in (*before, *after)
        if old.shape and old.shape[:1] in before and not fits:
            raise ValueError(
                f"{action}: expected output {new} to have as many samples as the inputs, "
                f"{wanted[0][0]}, got {new.shape[0]}: a RESHAPE of the model fixes the sizes "
                "of its inputs; give it those of the file, or convert the model for others"
            )
