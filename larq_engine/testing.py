"""Provides LCE's `testing.Interpreter`: code written for LCE runs with one changed import."""

from larq_engine.python import interpreter


class Interpreter(interpreter.Interpreter):
    """An Interpreter with LCE's signature.

    Args:
        flatbuffer_model: The content of a .tflite file.
        num_threads: Threads for one run.
        use_reference_bconv: Use the kernel `reference`, plain loops that are slow.
        use_indirect_bgemm: Ignored, as the engine picks the fastest kernel. Code for LCE passes it.
        use_xnnpack: Ignored, as the host uses XNNPACK for float operators anyway.
    """

    def __init__(
        self,
        flatbuffer_model: bytes,
        num_threads: int = 1,
        use_reference_bconv: bool = False,
        use_indirect_bgemm: bool = False,
        use_xnnpack: bool = False,
    ) -> None:
        kernel = "reference" if use_reference_bconv else "auto"
        super().__init__(flatbuffer_model, num_threads=num_threads, kernel=kernel)
