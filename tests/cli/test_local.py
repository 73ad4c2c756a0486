"""Filters from local statistics, compared with independent arithmetic."""
import numpy as np
import pytest

import png_file
from oracle import box_blur


def run(satin, name, array, *options):
    png_file.write(satin.folder / "in.png", array)
    satin.good(name, "in.png", "-o", "out.png", "--overwrite", *options)
    return png_file.read(satin.folder / "out.png")


def statistics(array, window):
    """Mean and standard deviation over the pixels that exist, per channel, in double."""
    reach = window // 2
    mean = np.empty(array.shape)
    deviation = np.empty(array.shape)
    for y in range(array.shape[0]):
        for x in range(array.shape[1]):
            part = array[max(0, y - reach):y + reach + 1, max(0, x - reach):x + reach + 1].astype(float)
            mean[y, x] = part.mean(axis=(0, 1))
            deviation[y, x] = part.std(axis=(0, 1))
    return mean, deviation


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(17, 23), (17, 23, 3)])
def test_mean_and_deviation(satin, noise, shape, dtype):
    array = noise(shape, dtype)
    mean, deviation = statistics(array, 5)
    assert np.abs(run(satin, "local-mean", array, "--window", 5) - mean).max() <= 0.5 + 1e-9
    assert np.abs(run(satin, "local-deviation", array, "--window", 5) - deviation).max() <= 0.5 + 1e-9


def test_alpha_stays(satin, noise):
    array = noise((9, 14, 4))
    for name in ("local-mean", "local-deviation", "normalize", "unsharp"):
        assert np.array_equal(run(satin, name, array)[:, :, 3], array[:, :, 3]), name


def test_normalize(satin, noise):
    array = (noise((20, 30)) // 8 + 90).astype(np.uint8)
    mean, deviation = statistics(array, 7)
    wanted = (array - mean) * (0.25 * 255) / np.maximum(deviation, 0.25 * 255 / 4) + 0.4 * 255
    result = run(satin, "normalize", array, "--window", 7, "--mean", 0.4, "--deviation", 0.25, "--gain", 4)
    assert np.abs(result - np.clip(wanted, 0, 255)).max() <= 0.5 + 1e-9


def test_unsharp(satin, noise):
    array = noise((20, 30, 3))
    mean = box_blur(array.astype(np.int64) * 4096, 3) / 4096  # finer than the filter's own
    result = run(satin, "unsharp", array, "--amount", 0.75, "--radius", 3, "--kernel", "box")
    assert np.abs(result - np.clip(array + 0.75 * (array - mean), 0, 255)).max() <= 0.5 + 0.75 / 512 + 1e-9


def test_unsharp_leaves_small_differences_and_identities(satin, noise):
    array = (noise((20, 30)) // 32 + 100).astype(np.uint8)
    assert np.array_equal(run(satin, "unsharp", array, "--amount", 5, "--threshold", 0.1), array)
    assert not np.array_equal(run(satin, "unsharp", array, "--amount", 5), array)
    for option in (["--amount", 0], ["--radius", 0], ["--sigma", 0]):
        assert np.array_equal(run(satin, "unsharp", array, *option), array)


def test_mask(satin, noise):
    array = noise((16, 20, 3))
    mask = np.zeros((16, 20), np.uint8)
    mask[:, 10:] = 255
    png_file.write(satin.folder / "mask.png", mask)
    for name in ("local-mean", "local-deviation", "normalize", "unsharp"):
        everywhere = run(satin, name, array)
        masked = run(satin, name, array, "--mask", "mask.png")
        assert np.array_equal(masked[:, :10], array[:, :10]), name
        assert np.array_equal(masked[:, 10:], everywhere[:, 10:]), name


def test_several_filters_at_once(satin, noise):
    png_file.write(satin.folder / "in.png", noise((16, 20, 3)))
    satin.good("run", "normalize window=9 | unsharp amount=0.5 sigma=1.5", "in.png", "-o", "out.png")
    satin.good("normalize", "in.png", "-o", "a.png", "--window", 9)
    satin.good("unsharp", "a.png", "-o", "b.png", "--amount", 0.5, "--sigma", 1.5)
    assert np.array_equal(png_file.read(satin.folder / "out.png"), png_file.read(satin.folder / "b.png"))


@pytest.mark.parametrize("shape", [(16, 21, 3), (16, 21), (16, 21, 4)])
def test_a_threshold_behind_unsharp(satin, noise, shape):
    """The two are one step where there is no alpha, between others and in a folder too."""
    for name in ("in.png", "other.png"):
        png_file.write(satin.folder / name, noise(shape))
    text = "unsharp amount=2 | threshold method=fixed level=0.4 | dilate radius=1"
    satin.good("run", text, "in.png", "other.png", "-o", "out/")
    for name in ("in.png", "other.png"):
        satin.good("unsharp", name, "-o", "a.png", "--amount", 2, "--overwrite")
        satin.good("threshold", "a.png", "-o", "b.png", "--method", "fixed", "--level", 0.4, "--overwrite")
        satin.good("dilate", "b.png", "-o", "c.png", "--radius", 1, "--overwrite")
        assert np.array_equal(png_file.read(satin.folder / "out" / name), png_file.read(satin.folder / "c.png"))


@pytest.mark.parametrize("name, arguments, says", [
    ("local-mean", ["--window", "4"], ["window 4", "odd"]),
    ("local-deviation", ["--window", "0"], "--window"),
    ("local-mean", ["--border", "constant"], "--border"),
    ("normalize", ["--deviation", "-1"], "--deviation"),
    ("normalize", ["--gian", "2"], "--gain"),
    ("unsharp", ["--amount", "-1"], "--amount"),
    ("unsharp", ["--threshold", "nan"], "--threshold"),
    ("unsharp", ["--kernel", "bx"], "box"),
])
def test_usage_errors(satin, picture, name, arguments, says):
    satin.bad(2, name, "in.png", "-o", "out.png", *arguments, says=says)
