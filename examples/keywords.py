"""Hears spoken keywords: `python examples/keywords.py train FILE`, then `... listen FILE`.

`train` lets espeak-ng say ten words in many voices, trains a binary network with them, and writes
its file; it needs larq and espeak-ng. With `--target microcontroller` the file is one for
examples/micro/keywords, which hears the same as this program. `listen` prints the words that it
hears, at the microphone (with sounddevice) or in a WAV file: `listen FILE --file sounds.wav`.
"""

import argparse
import os
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from published import microcontroller
from published.sounds import HOP, LENGTH, WORDS, moments, spectrogram
from published.speaking import RATE, as_samples

import larq_engine

LOOK = 4  # moments from one second that is looked at to the next
STEP = LOOK * HOP  # the same in samples
SURE = 0.7  # the least score of a word
LOUD = 16  # least ratio of the power of the loudest and the quietest moment if somebody speaks
PAUSE = 8  # looks from one word to the next
HISS = 57  # the loudest noise that is added, since the network knows no silence


def train(file: Path, epochs: int, target: str = "arm") -> None:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # larq's is Keras 2
    import tensorflow as tf
    from published import comparing, keywords

    tf.keras.utils.set_random_seed(1)
    model = keywords.network()
    training, held_out = keywords.load(*model.input_shape[-2:])
    comparing.train(model, training, epochs, 3e-3)
    options = microcontroller.options(training.images) if target == "microcontroller" else {}
    content = larq_engine.convert_keras_model(model, **options)
    file.write_bytes(content)
    with larq_engine.Interpreter(content) as interpreter:
        scores = microcontroller.predict(interpreter, held_out.images)
    right = np.mean(scores.argmax(1) == held_out.labels)
    print(f"{file}: {len(content)} bytes, {right:.1%} right of voices that it has not heard")


def microphone() -> Iterator[np.ndarray]:
    try:
        import sounddevice
    except ImportError:
        raise SystemExit(
            "error: the microphone needs sounddevice: pip install sounddevice, or name a --file"
        ) from None
    with sounddevice.InputStream(RATE, channels=1, blocksize=STEP, dtype="int16") as stream:
        print("listening; Ctrl-C ends")
        while True:
            yield stream.read(STEP)[0][:, 0]


def from_file(path: Path) -> Iterator[np.ndarray]:
    with wave.open(str(path)) as file:
        if (file.getsampwidth(), file.getnchannels()) != (2, 1):
            raise SystemExit(f"error: {path}: expected one channel with 16 bits a sample")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
        rate = file.getframerate()
    places = np.arange(len(samples) * RATE // rate) * rate / RATE
    samples = as_samples(np.interp(places, np.arange(len(samples)), samples))
    samples = np.append(samples, np.zeros(RATE, np.int16))
    for begin in range(0, len(samples), STEP):
        yield samples[begin : begin + STEP]


def in_hiss(samples: np.ndarray, first: int) -> np.ndarray:
    """Returns samples in noise, which depends on their places, the first of which is given."""
    noise = np.arange(first, first + len(samples)).astype(np.uint32) * np.uint32(0x9E3779B1)
    noise = (noise ^ noise >> 15) * np.uint32(0x85EBCA77)
    noise = ((noise ^ noise >> 13) >> 16) * np.uint32(2 * HISS + 1) >> 16
    return (samples + noise.astype(np.int64) - HISS).clip(-32768, 32767)


def hear(file: Path, parts: Iterator[np.ndarray]) -> Iterator[tuple[float, str, float]]:
    """Yields time, word and score, once two looks in turn agree; not again for a second."""
    sound, taken, look, before, said = np.zeros(0, np.int64), 0, 0, "", -PAUSE
    with larq_engine.Interpreter(file) as interpreter:
        for part in parts:
            sound, taken = np.append(sound, in_hiss(part, taken)), taken + len(part)
            while len(sound) >= LENGTH:
                second, sound = sound[:LENGTH], sound[STEP:]
                power = (moments(second) ** 2).sum(axis=1)
                [scores] = microcontroller.predict(interpreter, spectrogram(second)[None])
                is_word = power.max() > LOUD * power.min() and scores.max() > SURE
                word = WORDS[scores.argmax()] if is_word else ""
                if word and word == before and look - said >= PAUSE:
                    yield (look * STEP + LENGTH) / RATE, word, scores.max()
                    said = look
                before, look = word, look + 1


def main() -> None:
    parser = argparse.ArgumentParser(description="Spoken keywords.")
    parser.add_argument("what", choices=["train", "listen"])
    parser.add_argument("model", type=Path)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--target", choices=["arm", "microcontroller"], default="arm")
    parser.add_argument("--file", type=Path, help="listen to this WAV file")
    arguments = parser.parse_args()
    if arguments.what == "train":
        train(arguments.model, arguments.epochs, arguments.target)
        return
    parts = from_file(arguments.file) if arguments.file else microphone()
    for second, word, score in hear(arguments.model, parts):
        print(f"{second:6.2f} s  {word:6} {score:.2f}", flush=True)


if __name__ == "__main__":
    main()
