"""The result of a front door's reader."""

from dataclasses import dataclass

from larq_engine.python.model_file import ModelSource


@dataclass(frozen=True)
class FloatFile:
    """A model as a .tflite file of float operators, before anything in it becomes binary.

    Attributes:
        content: The file, or its path.
        remarks: Remarks on the conversion for the report.
        compared: What was compared with the framework, in words; empty if nothing was.
        fixed_sizes: The reason why its inputs have fixed sizes; empty if other sizes are right, and
            None if the file is the user's own, or TensorFlow's, which is right by definition.
    """

    content: ModelSource
    remarks: tuple[str, ...] = ()
    compared: str = ""
    fixed_sizes: str | None = None
