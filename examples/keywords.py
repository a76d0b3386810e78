"""Hears spoken keywords: `python examples/keywords.py train FILE`, then `... listen FILE`.

`train` lets espeak-ng say ten words in many voices, trains a binary network with them, and writes
its file; it needs larq and espeak-ng. `listen` prints the words that it hears, at the microphone
(with sounddevice) or in a WAV file: `listen FILE --file sounds.wav`.
"""

import argparse
import os
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from published.sounds import WORDS, spectrogram
from published.speaking import RATE

import larq_engine

STEP = RATE // 8  # samples between the starts of two seconds that are looked at
SURE = 0.7  # the least score of a word
LOUD = 4  # least ratio of the loudest and the quietest moment if somebody speaks


def train(file: Path, epochs: int) -> None:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # larq's is Keras 2
    import tensorflow as tf
    from published import comparing, keywords

    tf.keras.utils.set_random_seed(1)
    model = keywords.network()
    training, held_out = keywords.load(*model.input_shape[-2:])
    comparing.train(model, training, epochs, 3e-3)
    content = larq_engine.convert_keras_model(model)
    file.write_bytes(content)
    with larq_engine.Interpreter(content) as interpreter:
        right = np.mean(interpreter.predict(held_out.images).argmax(1) == held_out.labels)
    print(f"{file}: {len(content)} bytes, {right:.1%} right of voices that it has not heard")


def microphone() -> Iterator[np.ndarray]:
    try:
        import sounddevice
    except ImportError:
        raise SystemExit(
            "error: the microphone needs sounddevice: pip install sounddevice, or name a --file"
        ) from None
    with sounddevice.InputStream(RATE, channels=1, blocksize=STEP) as stream:
        print("listening; Ctrl-C ends")
        while True:
            yield stream.read(STEP)[0][:, 0]


def from_file(path: Path) -> Iterator[np.ndarray]:
    with wave.open(str(path)) as file:
        if (file.getsampwidth(), file.getnchannels()) != (2, 1):
            raise SystemExit(f"error: {path}: expected one channel with 16 bits a sample")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
        rate = file.getframerate()
    moments = np.arange(len(samples) * RATE // rate) * rate / RATE
    samples = np.append(np.interp(moments, np.arange(len(samples)), samples), np.zeros(RATE))
    for begin in range(0, len(samples) - STEP, STEP):
        yield samples[begin : begin + STEP]


def hear(file: Path, parts: Iterator[np.ndarray]) -> Iterator[tuple[float, str, float]]:
    """Yields time, word and score, once two looks in turn agree; not again for a second."""
    second, before, said = np.zeros(RATE), "", -8
    hiss = 1e-3 * np.random.default_rng(1).standard_normal(RATE)  # the network knows no silence
    with larq_engine.Interpreter(file) as interpreter:
        for number, part in enumerate(parts):
            second = np.append(second[STEP:], part)
            levels = np.sqrt(np.mean((second + hiss)[: 16 * 1378].reshape(16, -1) ** 2, axis=1))
            [scores] = interpreter.predict(spectrogram(second + hiss)[None])
            is_word = levels.max() > LOUD * levels.min() and scores.max() > SURE
            word = WORDS[scores.argmax()] if is_word else ""
            if word and word == before and number - said >= 8:
                yield number * STEP / RATE, word, scores.max()
                said = number
            before = word


def main() -> None:
    parser = argparse.ArgumentParser(description="Spoken keywords.")
    parser.add_argument("what", choices=["train", "listen"])
    parser.add_argument("model", type=Path)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--file", type=Path, help="listen to this WAV file")
    arguments = parser.parse_args()
    if arguments.what == "train":
        train(arguments.model, arguments.epochs)
        return
    parts = from_file(arguments.file) if arguments.file else microphone()
    for second, word, score in hear(arguments.model, parts):
        print(f"{second:6.2f} s  {word:6} {score:.2f}", flush=True)


if __name__ == "__main__":
    main()
