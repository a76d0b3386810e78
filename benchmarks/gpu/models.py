"""Makes the models that `make gpu-check` runs: `python -m benchmarks.gpu.models FOLDER`.

QuickNet and BiRealNet of larq_zoo, QuickNet for images of bytes, and the network that HEP-BNN's
paper measures on CIFAR-10 images, all with made-up weights.
"""

import sys
from pathlib import Path
from typing import Any

import larq_engine
from benchmarks import zoo_models

tf = zoo_models.tf

_ZOO = ("QuickNet", "BiRealNet")


def of_bytes(model: Any) -> Any:
    """Returns the model for images of uint8, which it converts to floats on the GPU."""
    images = tf.keras.Input(model.input_shape[1:], dtype="uint8")
    return tf.keras.Model(images, model(tf.cast(images, "float32")))


def hep_cifar() -> Any:
    """Returns six binary convolutions, pooled after every second, and two dense layers."""
    import larq  # after zoo_models, which chooses the Keras

    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input((32, 32, 3))])
    for number, channels in enumerate((64, 64, 256, 256, 512, 512)):
        model.add(
            larq.layers.QuantConv2D(
                channels,
                3,
                padding="same",
                pad_values=1.0,
                use_bias=False,
                input_quantizer=None if number == 0 else "ste_sign",
                kernel_quantizer="ste_sign",
            )
        )
        if number % 2:
            model.add(tf.keras.layers.MaxPool2D(2))
        model.add(tf.keras.layers.BatchNormalization(scale=False))
    model.add(tf.keras.layers.Flatten())
    for units in (1024, 10):
        model.add(
            larq.layers.QuantDense(
                units, use_bias=False, input_quantizer="ste_sign", kernel_quantizer="ste_sign"
            )
        )
        model.add(tf.keras.layers.BatchNormalization(scale=False))
    return model


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = {name: zoo_models.build(name) for name in _ZOO}
    made |= {"QuickNetUint8": of_bytes(made["QuickNet"]), "HepCifar": hep_cifar()}
    for name, model in made.items():
        print(f"{name}.tflite", flush=True)
        (folder / f"{name}.tflite").write_bytes(larq_engine.convert_keras_model(model))


if __name__ == "__main__":
    main()
