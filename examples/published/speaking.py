"""Speaks words into a WAV file, a second apart.

python examples/published/speaking.py FILE WORD...
"""

import argparse
import subprocess
import wave
from pathlib import Path

import numpy as np

RATE = 22_050  # samples a second in espeak-ng's files
_HEADER = 44  # bytes of a WAV file before its samples


def speak(word: str, voice: str, speed: int = 150, pitch: int = 50) -> np.ndarray:
    """Returns samples from -1 to 1. The speed is in words a minute, the pitch is from 0 to 99."""
    options = ("-v", voice, "-s", str(speed), "-p", str(pitch))
    command = ("espeak-ng", "--stdout", *options, word)
    spoken = subprocess.run(command, check=True, capture_output=True).stdout
    return np.frombuffer(spoken, "<i2", offset=_HEADER) / 32768


def as_samples(sound: np.ndarray) -> np.ndarray:
    """Returns numbers from -1 to 1 as samples of 16 bits."""
    return np.rint(32768 * sound).clip(-32768, 32767).astype("<i2")


def write(path: Path, words: list[str], voice: str) -> None:
    silence = np.zeros(RATE)
    parts = [part for word in words for part in (silence, speak(word, voice))]
    samples = as_samples(np.concatenate([*parts, silence]))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description="Words into a WAV file, a second apart.")
    parser.add_argument("file", type=Path)
    parser.add_argument("words", nargs="+")
    parser.add_argument("--voice", default="en-us+f3", help="one of espeak-ng's (en-us+f3)")
    arguments = parser.parse_args()
    write(arguments.file, arguments.words, arguments.voice)


if __name__ == "__main__":
    main()
