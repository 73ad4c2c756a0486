"""pyvips with Satin's operations: pictures in memory, threads, reading in rows and in columns, documentation."""
import os
import threading

import numpy as np
import pytest

import png_file
from conftest import MODULES

HOME = MODULES / "vips"
pytestmark = pytest.mark.skipif(not HOME.is_dir(), reason="the module for libvips is not built")


@pytest.fixture(scope="module")
def pyvips():
    """libvips reads the environment when it starts: one thread, so that all operations share one device of one thread."""
    os.environ.update(VIPSHOME=str(HOME), VIPS_CONCURRENCY="1", SATIN_DEVICE="cpu")
    try:
        import pyvips
    except (ImportError, OSError) as error:
        pytest.skip(f"pyvips cannot be imported: {error}")
    return pyvips


@pytest.fixture(scope="module")
def pixels():
    return np.random.default_rng(3).integers(0, 256, (900, 140, 3), np.uint8)


def blurred(satin, pixels, *options):
    png_file.write(satin.folder / "in.png", pixels)
    satin.good("blur", "in.png", "-o", "out.png", "--overwrite", *options)
    return png_file.read(satin.folder / "out.png")


def test_documentation(pyvips):
    text = pyvips.Image.satin_blur.__doc__
    assert "mean over a window of any radius" in text.lower()
    assert "radius (float): radius of the window" in text and "0 to 16384 px" in text
    assert "Kernel" in text and "mask (Image): where to filter" in text


def test_two_threads_share_a_device_of_one_thread(pyvips, satin, pixels):
    expected = blurred(satin, pixels, "--sigma", "20")
    results = {}

    def work(index):
        # Each thread its own picture, since libvips would reuse an operation on the same one.
        picture = pyvips.Image.new_from_array(np.roll(pixels, index, 2)).copy(interpretation="srgb")
        results[index] = np.roll(picture.satin_blur(sigma=20).numpy(), -index, 2)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index in range(3):
        np.testing.assert_array_equal(results[index], expected)


def test_rows_are_read_in_order_and_columns_at_will(pyvips, satin, pixels):
    expected = blurred(satin, pixels, "--sigma", "20")
    path = str(satin.folder / "in.png")
    in_order = pyvips.Image.new_from_file(path, access="sequential").satin_blur(sigma=20)
    np.testing.assert_array_equal(in_order.numpy(), expected)
    at_will = pyvips.Image.new_from_file(path).satin_blur(sigma=20)
    np.testing.assert_array_equal(at_will.rot90().numpy(), np.rot90(expected, -1))
    np.testing.assert_array_equal(at_will.crop(20, 777, 50, 60).numpy(), expected[777:837, 20:70])


def test_a_pipeline_of_operations(pyvips, satin, pixels):
    png_file.write(satin.folder / "in.png", pixels)
    satin.good("run", "median radius=2 | unsharp amount=0.7", "in.png", "-o", "out.png")
    picture = pyvips.Image.new_from_file(str(satin.folder / "in.png"), access="sequential")
    made = picture.satin_median(radius=2).satin_unsharp(amount=0.7)
    np.testing.assert_array_equal(made.numpy(), png_file.read(satin.folder / "out.png"))


def test_a_grey_result_is_declared_grey(pyvips, pixels):
    page = pyvips.Image.new_from_array(pixels).copy(interpretation="srgb").satin_threshold()
    assert (page.bands, page.format, page.interpretation) == (1, "uchar", "b-w")


def test_errors_are_pyvips_errors(pyvips, pixels):
    picture = pyvips.Image.new_from_array(pixels)
    with pytest.raises(pyvips.Error, match="satin_blur: .*sigma"):
        picture.satin_blur(radius=3, sigma=4)
    bad = pyvips.Image.new_from_array(np.full((300, 9), np.nan, np.float32))
    with pytest.raises(pyvips.Error, match="NaN"):
        bad.satin_blur().avg()
