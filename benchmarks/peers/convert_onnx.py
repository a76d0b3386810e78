"""Makes ONNX models of a float .tflite file: `python convert_onnx.py FOLDER`.

FOLDER holds float.tflite and, in answers.npz, images to calibrate with; float.onnx and int8.onnx
are written there. Prints an empty JSON object when both are done.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

OPSET = 17


def main() -> None:
    folder = Path(sys.argv[1])
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the converters' output must not mix with the result

    import tf2onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Images(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self, name: str, images: Any) -> None:
            self._samples = iter([{name: image[np.newaxis]} for image in images])

        def get_next(self) -> Any:
            return next(self._samples, None)

    in_float, prepared = folder / "float.onnx", folder / "prepared.onnx"
    model, _ = tf2onnx.convert.from_tflite(
        str(folder / "float.tflite"), opset=OPSET, output_path=str(in_float)
    )
    quant_pre_process(in_float, prepared, skip_symbolic_shape=True)
    with np.load(folder / "answers.npz") as answers:
        images = Images(model.graph.input[0].name, answers["images"])
    quantize_static(
        prepared, folder / "int8.onnx", images, quant_format=QuantFormat.QDQ, per_channel=True
    )
    prepared.unlink()
    print(json.dumps({}), file=results)


if __name__ == "__main__":
    main()
