"""Pictures in, pictures out, compared with independent arithmetic."""
import json
import math
import struct

import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS
from oracle import box_blur


def blurred(satin, array, *options):
    png_file.write(satin.folder / "in.png", array)
    satin.good("blur", "in.png", "-o", "out.png", "--overwrite", *options)
    return png_file.read(satin.folder / "out.png")


def read_npy(path):
    return np.load(path, allow_pickle=False)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1, 3), (17, 33, 3), (32, 31)])
@pytest.mark.parametrize("radius", [0, 1, 2.5, 3.71, 16, 40])
def test_box_blur_is_exact(satin, noise, shape, radius):
    array = noise(shape)
    result = blurred(satin, array, "--radius", radius, "--space", "encoded", "--device", "cpu")
    assert np.array_equal(result, box_blur(array, radius))


@pytest.mark.parametrize("shape", [(13, 21), (13, 21, 3)])
def test_16_bits_stay_16_bits(satin, noise, shape):
    array = noise(shape, np.uint16)
    result = blurred(satin, array, "--radius", "2.25", "--space", "encoded")
    assert result.dtype == np.uint16
    assert np.array_equal(result, box_blur(array, 2.25))


def test_radius_forms(satin, noise):
    array = noise((20, 40))
    encoded = ("--space", "encoded")
    assert np.array_equal(blurred(satin, array, "--radius", "3x1.5", *encoded), box_blur(array, 3, 1.5))
    assert np.array_equal(blurred(satin, array, "--radius=5%", *encoded), box_blur(array, 2))
    assert np.array_equal(blurred(satin, array, "--radius", "0.5x0", *encoded), box_blur(array, 0.5, 0))


@pytest.mark.parametrize("space", ["linear", "encoded"])
def test_identities(satin, noise, space):
    array = noise((15, 22, 4))
    assert np.array_equal(blurred(satin, array, "--radius", "0", "--space", space), array)
    grey = np.full((15, 22, 3), 77, np.uint8)
    assert np.array_equal(blurred(satin, grey, "--radius", "6.3", "--space", space), grey)


def test_radius_map_of_zeros(satin, noise):
    array = noise((15, 22, 3))
    png_file.write(satin.folder / "map.png", np.zeros((15, 22), np.uint8))
    result = blurred(satin, array, "--radius-map", "map.png", "--radius-max", "9")
    assert np.array_equal(result, array)


def test_radius_map_of_two_radii(satin, noise):
    array = noise((18, 24))
    radii = np.zeros((18, 24), np.uint8)
    radii[:, 12:] = 255
    png_file.write(satin.folder / "map.png", radii)
    result = blurred(satin, array, "--radius-map", "map.png", "--radius-min", "1", "--radius-max", "4", "--space",
                     "encoded")
    assert np.array_equal(result[:, :12], box_blur(array, 1)[:, :12])
    assert np.array_equal(result[:, 12:], box_blur(array, 4)[:, 12:])


def test_mask(satin, noise):
    array = noise((18, 24, 3))
    mask = np.zeros((18, 24), np.uint8)
    mask[5:] = 255
    png_file.write(satin.folder / "mask.png", mask)
    result = blurred(satin, array, "--radius", "3", "--space", "encoded", "--mask", "mask.png")
    assert np.array_equal(result[:5], array[:5])
    assert np.array_equal(result[5:], box_blur(array, 3)[5:])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_masks_are_inverted_where_they_are_read(satin, noise, dtype):
    array = noise((18, 24, 3))
    png_file.write(satin.folder / "in.png", array)
    mask = noise((18, 24), dtype)
    mask[:3] = 0
    mask[3:6] = np.iinfo(dtype).max
    for name, values in ("in_mask", mask), ("inverse", np.iinfo(dtype).max - mask):
        png_file.write(satin.folder / (name + ".png"), values)
        np.save(satin.folder / (name + ".npy"), values)
    np.save(satin.folder / "in.npy", array)

    def result(*arguments):
        satin.good(*arguments, "-o", "out.png", "--overwrite")
        return (satin.folder / "out.png").read_bytes()

    wanted = result("blur", "in.png", "--radius", 3, "--mask", "inverse.png")
    assert wanted != result("blur", "in.png", "--radius", 3, "--mask", "in_mask.png")
    assert wanted == result("blur", "in.png", "--radius", 3, "--mask", "in_mask.png", "--invert-mask")
    assert wanted == result("blur", "in.png", "--radius", 3, "--mask", "{dir}/{stem}_mask.png", "--invert-mask")
    assert wanted == result("run", "blur radius=3 mask=in_mask.png", "in.png", "--invert-mask")
    assert np.array_equal(png_file.decode(wanted)[3:6], array[3:6])
    exclude = ("blur", "in.png", "--radius", 3, "--mask-mode", "exclude", "--mask")
    assert result(*exclude, "in_mask.png", "--invert-mask") == result(*exclude, "inverse.png")
    covered = png_file.decode(result("redact", "in.png", "--mask", "in_mask.png", "--invert-mask"))
    assert np.array_equal(covered[mask == np.iinfo(dtype).max], array[mask == np.iinfo(dtype).max]) and not covered[:3].any()
    # What another mask made is out of date
    resumed = ("blur", "in.png", "--mask", "in_mask.png", "-o", "resumed.png", "--resume", "--json")
    statuses = [json.loads(satin.good(*resumed, *more).stdout)["files"][0]["status"]
                for more in ([], [], ["--invert-mask"], ["--invert-mask"])]
    assert statuses == ["done", "unchanged", "done", "unchanged"]
    if FULL_CODECS:
        rows = ("blur", "in.npy", "--radius", 3, "--stream", "--mask")
        satin.good(*rows, "in_mask.npy", "--invert-mask", "-o", "a.tif")
        satin.good(*rows, "inverse.npy", "-o", "b.tif")
        assert (satin.folder / "a.tif").read_bytes() == (satin.folder / "b.tif").read_bytes()


@pytest.mark.parametrize("shape", [(18, 24, 3), (300, 420)])
@pytest.mark.parametrize("radius", [3, 4.25])
def test_excluding_mask(satin, noise, shape, radius):
    array = noise(shape)
    mask = np.zeros(shape[:2], np.uint8)
    mask[5:15, 3:20] = noise((10, 17)) > 90
    mask[mask > 0] = 255
    png_file.write(satin.folder / "mask.png", mask)
    result = blurred(satin, array, "--radius", radius, "--space", "encoded", "--mask", "mask.png", "--mask-mode",
                     "exclude")
    expected = box_blur(array, radius, counted=mask > 0)
    inside = mask > 0
    assert np.array_equal(result[inside], expected[inside])
    assert np.array_equal(result[~inside], array[~inside])
    blend = blurred(satin, array, "--radius", radius, "--space", "encoded", "--mask", "mask.png", "--mask-mode", "blend")
    assert np.array_equal(blend[inside], box_blur(array, radius)[inside])


def test_mask_mode_is_checked(satin, picture):
    png_file.write(satin.folder / "mask.png", np.full(png_file.read(picture).shape[:2], 255, np.uint8))
    arguments = ("blur", "in.png", "-o", "out.png", "--mask-mode", "exclude")
    satin.bad(2, *arguments, says=["mask-mode exclude", "needs a mask"])
    satin.bad(2, *arguments, "--mask", "mask.png", "--sigma", "3", says=["mask-mode exclude", "box"])
    satin.bad(2, *arguments[:-1], "exlude", "--mask", "mask.png", says=["--mask-mode", "exclude"])


def test_impulse_has_the_stated_width(satin):
    array = np.zeros((41, 41), np.uint16)
    array[20, 20] = 65535
    result = blurred(satin, array, "--radius", "8", "--space", "encoded")
    rows, columns = np.nonzero(result)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (12, 28, 12, 28)
    assert np.array_equal(np.unique(result), [0, (2 * 65535 + 289) // (2 * 289)])


def test_transparent_pixels_do_not_bleed(satin):
    array = np.zeros((9, 9, 4), np.uint8)
    array[:, :4] = (255, 0, 0, 255)
    array[:, 4:] = (0, 255, 0, 0)
    result = blurred(satin, array, "--radius", "2", "--space", "encoded")
    seen = result[result[:, :, 3] > 0]
    assert (seen[:, :3] == (255, 0, 0)).all()
    assert (result[:, 8] == (0, 255, 0, 0)).all()


def test_negative_values(satin, picture):
    before = png_file.read(picture)
    satin.bad(2, "blur", "in.png", "-o", "out.png", "--border", "constant", "--border-value", "-1",
              says=["border-value", "-1"])
    satin.bad(2, "blur", "in.png", "-o", "out.png", "--border=constant", "--border-value=-.5", says="border-value")
    satin.good("blur", "in.png", "-o", "out.png", "--radius", "+0", "--border-value", "-0")
    assert np.array_equal(png_file.read(satin.folder / "out.png"), before)


def test_negative_border_of_floats(satin):
    pixels = np.ones((5, 5), "<f4")
    (satin.folder / "in.pfm").write_bytes(b"Pf\n5 5\n-1.0\n" + pixels.tobytes())
    satin.good("blur", "in.pfm", "-o", "out.pfm", "--radius", "1", "--border", "constant", "--border-value", "-1.25e0")
    data = (satin.folder / "out.pfm").read_bytes()
    result = np.frombuffer(data[-100:], "<f4").reshape(5, 5)
    assert result[2, 2] == 1 and abs(result[0, 0] - (4 - 5 * 1.25) / 9) < 1e-6


@pytest.mark.parametrize("options", [("--radius", "5"), ("--radius", "7.3", "--space", "encoded"), ("--sigma", "3"),
                                     ("--kernel", "tent", "--radius", "9")])
def test_threads_do_not_matter(satin, noise, options):
    png_file.write(satin.folder / "in.png", noise((301, 203, 3)))
    for threads in ("1", "2"):
        satin.good("blur", "in.png", "-o", threads + ".png", "--threads", threads, *options)
    assert (satin.folder / "1.png").read_bytes() == (satin.folder / "2.png").read_bytes()


@pytest.mark.parametrize("shape", [(1, 1), (13, 21), (13, 21, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_integral(satin, noise, shape, dtype):
    array = noise(shape, dtype)
    png_file.write(satin.folder / "in.png", array)
    satin.good("integral", "in.png", "-o", "sums.npy")
    satin.good("integral", "in.png", "-o", "squares.npy", "--squared")
    for name, values in (("sums.npy", array.astype(np.uint64)), ("squares.npy", array.astype(np.uint64) ** 2)):
        table = read_npy(satin.folder / name)
        assert table.dtype in (np.uint32, np.uint64)
        assert table.shape == shape
        assert np.array_equal(table, values.cumsum(0).cumsum(1))


@pytest.mark.parametrize("options, power", [((), 1), (("--squared",), 2)])
def test_integral_modulo_32(satin, noise, options, power):
    array = noise((500, 400, 3), np.uint16)
    exact = (array.astype(np.uint64) ** power).cumsum(0).cumsum(1)
    assert (exact >= 2**32).any()
    png_file.write(satin.folder / "in.png", array)
    satin.good("integral", "in.png", "-o", "wrapped.npy", "--modulo", "32", *options)
    satin.good("run", " ".join(("integral modulo=32", *options)).replace("--", ""), "in.png", "-o", "run.npy")
    for name in ("wrapped.npy", "run.npy"):
        table = read_npy(satin.folder / name)
        assert table.dtype == np.uint32 and np.array_equal(table, exact.astype(np.uint32))
    y, x = 80, 60  # a box of u16 is exact up to 65537 pixels
    table = read_npy(satin.folder / "wrapped.npy")
    if power == 1:
        box = table[-1, -1] - table[-1 - y, -1] - table[-1, -1 - x] + table[-1 - y, -1 - x]
        assert np.array_equal(box, array[-y:, -x:].sum((0, 1), np.uint64))


def test_integral_modulo_refusals(satin, picture):
    satin.bad(2, "integral", "in.png", "-o", "out.npy", "--modulo", "33", says=["--modulo", "33", "32"])
    np.save(satin.folder / "floats.npy", np.zeros((4, 5), np.float32))
    satin.bad(2, "integral", "floats.npy", "-o", "out.npy", "--modulo", "32", says=["floats", "modulo"])
    assert not (satin.folder / "out.npy").exists()


@pytest.mark.skipif(not FULL_CODECS, reason="this build has no TIFF")
def test_integral_as_tiff(satin, picture):
    satin.good("integral", "in.png", "-o", "table.tiff")
    data = (satin.folder / "table.tiff").read_bytes()
    assert data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
    satin.good("integral", "in.png", "-o", "-", "--format", "npy")
    satin.good("integral", "in.png", "-o", "wrapped.tiff", "--modulo", "32")
    (file,) = json.loads(satin.good("info", "wrapped.tiff", "--json").stdout)["files"]
    assert [file[key] for key in ("width", "height", "channels", "type")] == [20, 12, 3, "u32"]


@pytest.mark.parametrize("shape", [(1, 1), (13, 21), (17, 33, 3)])
@pytest.mark.parametrize("name, extreme", [("erode", np.min), ("dilate", np.max)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_extremes_of_a_window(satin, noise, shape, name, extreme, dtype):
    array = noise(shape, dtype)
    png_file.write(satin.folder / "in.png", array)
    satin.good(name, "in.png", "-o", "out.png", "--radius", "4x2")
    result = png_file.read(satin.folder / "out.png")
    assert result.dtype == dtype
    for y in range(shape[0]):
        for x in range(shape[1]):
            window = array[max(0, y - 2) : y + 3, max(0, x - 4) : x + 5]
            assert np.array_equal(result[y, x], extreme(window, axis=(0, 1)))


@pytest.mark.parametrize("percent", [0, 2, 50, 99.5, 100])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_percentiles_of_a_window(satin, noise, percent, dtype):
    array = noise((40, 90, 3), dtype)
    png_file.write(satin.folder / "in.png", array)
    satin.good("median", "in.png", "-o", "out.png", "--radius", "4x2", "--percent", percent)
    result = png_file.read(satin.folder / "out.png")
    for y in (0, 1, 20, 39):
        for x in (0, 3, 50, 89):
            window = array[max(0, y - 2) : y + 3, max(0, x - 4) : x + 5].reshape(-1, 3)
            rank = max(1, math.ceil(round(percent * len(window), 6) / 100))
            assert np.array_equal(result[y, x], np.sort(window, axis=0)[rank - 1])


def test_median_is_that_of_pillow(satin, noise):
    image = pytest.importorskip("PIL.Image", reason="python3-pil is missing")
    filters = pytest.importorskip("PIL.ImageFilter")
    png_file.write(satin.folder / "in.png", noise((50, 120, 1))[..., 0])
    for radius in (1, 2, 4):
        satin.good("median", "in.png", "-o", "out.png", "--radius", radius, "--overwrite")
        with image.open(satin.folder / "in.png") as picture:
            expected = np.asarray(picture.filter(filters.MedianFilter(2 * radius + 1)))
        inside = (slice(radius, -radius), slice(radius, -radius))
        assert np.array_equal(png_file.read(satin.folder / "out.png")[inside], expected[inside])


def test_outliers_go_and_the_rest_stays(satin):
    array = np.full((30, 40), 100, np.uint8)
    array[10:20, 10:30] = 110
    wanted = array.copy()
    array[5, 5] = array[15, 20] = 255
    png_file.write(satin.folder / "in.png", array)
    satin.good("median", "in.png", "-o", "out.png", "--radius", 2, "--threshold", 0.1)
    assert np.array_equal(png_file.read(satin.folder / "out.png"), wanted)


def test_median_refuses(satin, picture):
    satin.bad(2, "median", "in.png", "-o", "out.png", "--radius", "2.5", says=["--radius", "2.5", "whole pixels"])
    satin.bad(2, "median", "in.png", "-o", "out.png", "--radius", 513, says=["--radius", "512"])
    satin.bad(2, "median", "in.png", "-o", "out.png", "--percent", 101, says=["--percent", "100"])
    satin.bad(2, "stretch", "in.png", "-o", "out.png", "--low", 50, "--high", 50, says=["low", "high"])


def test_extremes_want_whole_pixels(satin, picture):
    before = png_file.read(picture)
    satin.bad(2, "erode", "in.png", "-o", "out.png", "--radius", "2.5", says=["--radius", "2.5", "whole pixels"])
    satin.good("dilate", "in.png", "-o", "out.png", "--radius", "0.1%")
    assert np.array_equal(png_file.read(satin.folder / "out.png"), before)


def test_upright(satin, noise):
    image = pytest.importorskip("PIL.Image", reason="python3-pil is missing")
    picture = image.fromarray(np.repeat(noise((4, 6, 1)) // 64 * 64, 3, 2)).resize((48, 32), image.NEAREST)
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    picture.save(satin.folder / "turned.jpg", quality=95, subsampling=0, exif=exif)
    satin.good("blur", "turned.jpg", "-o", "out.png", "--radius", "0")
    result = png_file.read(satin.folder / "out.png")
    assert result.shape == (48, 32, 3)
    upright = np.rot90(np.asarray(picture), -1).astype(int)
    assert np.abs(result.astype(int) - upright).max() <= 8


def test_header_of_a_shape_too_large(satin):
    header = struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 16, 6, 0, 0, 0)
    data = png_file.SIGNATURE + png_file._chunk(b"IHDR", header) + png_file._chunk(b"IDAT", b"x\x9c")
    (satin.folder / "bomb.png").write_bytes(data)
    satin.bad(1, "blur", "bomb.png", "-o", "out.png", says="bomb.png")


def exponential(line, sigma):
    """Forward, then backward, over a line whose ends go on."""
    a = 1 - 2 / (1 + np.sqrt(1 + 2 * sigma**2))
    values = np.pad(np.asarray(line, float), 400, "edge")
    for _ in range(2):
        for i in range(1, len(values)):
            values[i] += a * (values[i - 1] - values[i])
        values = values[::-1].copy()
    return values[400:-400]


@pytest.mark.parametrize("shape", [(1, 1), (1, 33), (70, 1), (40, 65), (33, 31, 3)])
def test_smooth_is_the_plain_recurrence(satin, noise, shape):
    array = noise(shape)
    png_file.write(satin.folder / "in.png", array)
    satin.good("smooth", "in.png", "-o", "out.png", "--sigma", "3x1.5", "--space", "encoded")
    expected = np.apply_along_axis(exponential, 1, array, 3)
    expected = np.apply_along_axis(exponential, 0, expected, 1.5)
    result = png_file.read(satin.folder / "out.png")
    assert np.abs(result.reshape(expected.shape) - expected).max() <= 0.51


def test_edge_smooth_takes_a_colour_guide(satin, noise):
    array = noise((30, 40))
    guide = np.zeros((30, 40, 3), np.uint8)
    guide[:, 20:] = (255, 0, 90)
    png_file.write(satin.folder / "in.png", array)
    png_file.write(satin.folder / "guide.png", guide)
    array[:, 20:] = 255 - array[:, 20:]
    png_file.write(satin.folder / "other.png", array)
    options = ("--guide", "guide.png", "--sigma-s", "25", "--sigma-r", "0.01", "--space", "encoded")
    satin.good("edge-smooth", "in.png", "-o", "out.png", *options)
    satin.good("edge-smooth", "other.png", "-o", "other_out.png", *options)
    result = png_file.read(satin.folder / "out.png")
    assert np.array_equal(result[:, :20], png_file.read(satin.folder / "other_out.png")[:, :20])
    assert result[:, :20].std() < array[:, :20].std() / 8
    satin.bad(2, "edge-smooth", "in.png", "-o", "no.png", "--sigma-r", "0", says=["sigma-r", "0.001"])
    satin.bad(2, "edge-smooth", "in.png", "-o", "no.png", "--iterations", "2.5", says="iterations")


@pytest.mark.parametrize("command", [("blur", "--sigma", "4"), ("threshold", "--method", "wolf"),
                                     ("threshold", "--method", "otsu"), ("guided", "--radius", "6"),
                                     ("run", "blur radius=3 | dilate radius=2")])
def test_a_memory_limit_changes_nothing(satin, noise, command):
    png_file.write(satin.folder / "in.png", noise((331, 257, 3)))
    positional = command[:2] if command[0] == "run" else command[:1]
    options = command[len(positional):]
    for name, limit in (("whole", ()), ("parts", ("--memory-limit", "700K"))):
        satin.good(*positional, "in.png", "-o", name + ".png", "--device", "cpu", *options, *limit)
    assert (satin.folder / "whole.png").read_bytes() == (satin.folder / "parts.png").read_bytes()


def test_a_memory_limit_can_be_too_low(satin, noise):
    png_file.write(satin.folder / "in.png", noise((100, 100, 3)))
    satin.bad(3, "smooth", "in.png", "-o", "out.png", "--device", "cpu", "--memory-limit", "1K", says="memory limit")
    for wrong in ("0", "-1", "1X", "K", "nan"):
        satin.bad(2, "blur", "in.png", "-o", "out.png", "--memory-limit", wrong, says="--memory-limit")
