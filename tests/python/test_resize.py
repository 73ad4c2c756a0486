"""resize(): exact areas against fractions, and the frequency response of lanczos beside Pillow's."""
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image

import satin


def shares(results, pixels):
    """Returns the share of every pixel in every result, of one axis."""
    step = Fraction(pixels, results)
    return [
        [max(Fraction(0), min(Fraction(j + 1), (i + 1) * step) - max(Fraction(j), i * step)) / step for j in range(pixels)]
        for i in range(results)
    ]


@pytest.mark.parametrize("width, height", [(5, 4), (7, 3), (20, 17), (13, 13)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_area_is_the_mean_in_fractions(random, width, height, dtype):
    image = random.integers(0, np.iinfo(dtype).max, (13, 11), dtype, endpoint=True)
    across, down = shares(width, 11), shares(height, 13)
    found = satin.resize(image, (width, height), fit="stretch", space="encoded")
    for y in range(height):
        rows = [sum(down[y][j] * int(image[j, i]) for j in range(13)) for i in range(11)]
        for x in range(width):
            mean = sum(share * value for share, value in zip(across[x], rows))
            assert found[y, x] == (2 * mean + 1) // 2, (x, y)


def response(cycles, resized):
    """Returns the amplitude of a wave, in cycles per pixel of the result, in a quarter of the width."""
    x = np.arange(4096) + 0.5
    waves = [np.tile(wave(2 * np.pi * cycles * x / 4), (8, 1)).astype(np.float32) for wave in (np.cos, np.sin)]
    cosine, sine = (resized(wave)[1, 64:-64].astype(float) for wave in waves)
    return np.sqrt(np.mean(cosine**2 + sine**2))


def by_satin(image):
    return satin.resize(image, (image.shape[1] // 4, 4), fit="stretch")


def by_pillow(image):
    return np.asarray(Image.fromarray(image).resize((image.shape[1] // 4, 4), Image.LANCZOS))


@pytest.mark.parametrize("cycles", [0.2, 0.3, 0.45])
def test_lanczos_passes_the_frequencies_of_its_window(cycles):
    x = np.linspace(-3, 3, 60001)
    window = np.sinc(x) * np.sinc(x / 3)
    expected = np.sum(window * np.cos(2 * np.pi * cycles * x)) / np.sum(window)
    assert abs(response(cycles, by_satin) - expected) < 0.01


@pytest.mark.parametrize("cycles, limit", [(0.6, 0.18), (0.75, 0.013)])
def test_lanczos_stops_what_would_alias_as_pillow_does(cycles, limit):
    found = response(cycles, by_satin)
    assert found < limit
    assert found < response(cycles, by_pillow) + 1e-4


def test_a_size_is_a_number_a_pair_or_a_text(random):
    image = random.integers(0, 256, (30, 40, 3), np.uint8)
    for size, shape in [(20, (15, 20)), ((12, 12), (9, 12)), ("50%", (15, 20)), ("x10", (10, 13)), (np.int64(8), (6, 8))]:
        assert satin.resize(image, size=size).shape == (*shape, 3)
    assert satin.resize(image, size=(12, 12), fit="cover").shape == (12, 12, 3)
    assert np.array_equal(satin.resize(image, 80), image)
    with pytest.raises(ValueError, match="size"):
        satin.resize(image)
    with pytest.raises(TypeError, match="size"):
        satin.resize(image, size=object())
