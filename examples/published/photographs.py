"""Cuts pieces out of photographs: faces.py learns from pieces, and looks for faces in them."""

from collections.abc import Iterator

import numpy as np
from skimage import color, data, transform
from sklearn.datasets import load_sample_images

SIZE = 24  # of a piece that a network sees
SMALLEST, GROWTH = 40, 1.2  # of the sides of squares in a photograph


def gray(photo: np.ndarray) -> np.ndarray:
    return color.rgb2gray(photo[..., :3]) if photo.ndim == 3 else photo / 255.0


def pieces(photo: np.ndarray, stride: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yields the squares of each size as pieces, with their top, left and side."""
    photo, side = gray(photo), float(SMALLEST)
    while side < 0.8 * min(photo.shape):
        shape = [round(length * SIZE / side) for length in photo.shape]
        smaller = transform.resize(photo, shape, anti_aliasing=True)
        found = np.lib.stride_tricks.sliding_window_view(smaller, (SIZE, SIZE))[::stride, ::stride]
        corners = np.indices(found.shape[:2]).reshape(2, -1).T * stride * side / SIZE
        yield found.reshape(-1, SIZE, SIZE), np.c_[corners, np.full(len(corners), side)]
        side *= GROWTH


def as_input(images: np.ndarray) -> np.ndarray:
    """Gives all images the same brightness and contrast."""
    centred = images - images.mean((1, 2), keepdims=True)
    return np.float32(centred / (centred.std((1, 2), keepdims=True) + 0.02))[..., None]


def faces(count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns faces of scikit-image's 100: turned, moved, larger or darker, perhaps mirrored."""
    known = data.lfw_subset()[:100]  # the others are no faces
    return np.array([_vary(known[i], rng) for i in rng.integers(0, len(known), count)])


def _vary(face: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    size, angle = rng.uniform(0.9, 1.12), rng.uniform(-0.2, 0.2)
    turn = transform.AffineTransform(translation=(-SIZE / 2, -SIZE / 2))
    turn += transform.AffineTransform(scale=(size, size), rotation=angle)
    turn += transform.AffineTransform(translation=rng.uniform(-1.2, 1.2, 2) + SIZE / 2)
    face = transform.warp(face, turn.inverse, mode="edge", output_shape=(SIZE, SIZE))
    return face[:, :: rng.choice([-1, 1])] ** rng.uniform(0.7, 1.4)


def without_faces(of_each: int, rng: np.random.Generator) -> np.ndarray:
    """Returns pieces of scikit-image's and scikit-learn's photographs of other things.

    The heads on its coins count as no faces."""
    load = (data.coffee, data.chelsea, data.rocket, data.hubble_deep_field, data.page, data.coins,
            data.grass, data.brick, data.gravel, data.text, data.moon, data.retina,
            data.immunohistochemistry, data.clock)  # fmt: skip
    photos = [*(each() for each in load), data.stereo_motorcycle()[0], *load_sample_images().images]
    found = [np.concatenate([part for part, _ in pieces(photo, 3)]) for photo in photos]
    return np.concatenate([rng.permutation(each)[:of_each] for each in found])
