"""--stream, tests that take too long for tests/run: random pictures, and four gigapixels with memory, libvips and kill -9."""
import random
import subprocess
import time

import numpy as np
import pytest

import tiff_file
from conftest import files_below
from test_interrupt import wait_until
from test_memory import run as measured

SIDE = 65536
BAND = 1024
RADIUS = 9
LEVELS = 9  # 65536 to 256: down to one tile
LINE = ["blur", "in.pgm", "-o", "out.tif", "--radius", RADIUS, "--stream", "--pyramid", "--device", "cpu"]


def band(index):
    """Rows of the picture from index * BAND on: slopes, edges and grain, no two bands alike."""
    y, x = np.ogrid[index * BAND:(index + 1) * BAND, 0:SIDE]
    slope = ((x >> 7) ^ (y >> 6)).astype(np.uint8)
    grain = np.random.default_rng(index).integers(0, 16, (BAND, SIDE), np.uint8)
    return slope + grain


def write(path):
    with open(path, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % (SIDE, SIDE))
        for index in range(SIDE // BAND):
            file.write(band(index).tobytes())


def crop_of(path, x, y, width, height):
    """Reads from the raw file without loading the rest of it."""
    with open(path, "rb") as file:
        start = len(b"P5\n%d %d\n255\n" % (SIDE, SIDE))
        rows = []
        for row in range(y, y + height):
            file.seek(start + row * SIDE + x)
            rows.append(np.frombuffer(file.read(width), np.uint8))
    return np.stack(rows)


def write_pgm(path, pixels):
    path.write_bytes(b"P5\n%d %d\n255\n" % pixels.shape[::-1] + pixels.tobytes())


def read_pgm(path):
    data = path.read_bytes()
    width, height = map(int, next(line for line in data.split(b"\n")[1:] if not line.startswith(b"#")).split()[:2])
    return np.frombuffer(data[-width * height:], np.uint8).reshape(height, width)


def vips(folder, *arguments):
    return subprocess.run(list(map(str, arguments)), cwd=folder, check=True, capture_output=True, text=True).stdout


def halved(pixels):
    sums = pixels[0::2, 0::2].astype(int) + pixels[1::2, 0::2] + pixels[0::2, 1::2] + pixels[1::2, 1::2]
    return ((sums + 2) // 4).astype(np.uint8)


@pytest.fixture
def folder(satin):
    begun = time.monotonic()
    write(satin.folder / "in.pgm")
    print("\n%d x %d grey, made in %.0f s" % (SIDE, SIDE, time.monotonic() - begun))
    yield satin.folder
    for name in files_below(satin.folder):
        (satin.folder / name).unlink()


BORDERS = ["shrink", "clamp", "reflect", "mirror"]
MASKS = ["", "", " mask=mask.npy"]


def random_step(chosen):
    """A filter of finite reach with settings of every kind."""
    border, mask, radius = chosen.choice(BORDERS), chosen.choice(MASKS), chosen.randint(0, 20)
    odd = 2 * chosen.randint(1, 30) + 1
    return chosen.choice([
        "blur radius=%s border=%s space=%s%s" % (chosen.choice(["0", "0.3", "17.25", "2%", "40", "3x30"]), border,
                                                 chosen.choice(["linear", "encoded"]), mask),
        "blur radius=6 mask=mask.npy mask-mode=exclude", "blur radius-map=map.npy radius-max=%d" % (radius + 8),
        "blur sigma=%s" % chosen.choice(["0.5", "3", "9"]), "unsharp sigma=%s%s" % (chosen.choice(["1", "4"]), mask),
        "median radius=%d border=%s percent=%d" % (radius // 2, border, chosen.randint(0, 100)),
        "erode radius=%d%s" % (radius, mask), "dilate radius=%dx%d" % (radius // 2, 3 * radius), "normalize window=%d" % odd,
        "stretch window=%d" % odd, "local-mean window=%d" % odd, "local-deviation window=%d" % odd,
        "guided radius=%d" % (radius + 1), "guided radius=%d guide=guide.npy" % (radius + 1),
        "threshold window=%d method=%s" % (odd, chosen.choice(["otsu", "wolf", "sauvola", "nick", "bradley", "niblack"]))])


def write_random_pictures(folder, chosen):
    """in.npy or in.pam, and side inputs of its size."""
    height, width = chosen.choice([(chosen.randint(1, 1500), chosen.randint(1, 300)), (chosen.randint(1, 9000), chosen.randint(1, 5)),
                                   (chosen.randint(1, 700), chosen.randint(500, 3000))])
    numbers = np.random.default_rng(chosen.randrange(1 << 30))
    dtype, channels = chosen.choice([np.uint8, np.uint8, np.uint16, np.float32]), chosen.choice([1, 1, 3, 3, 4])
    np.save(folder / "map.npy", numbers.integers(0, 256, (height, width), np.uint8))
    np.save(folder / "guide.npy", numbers.integers(0, 256, (height, width, 3), np.uint8))
    white = numbers.random((height, width)) < chosen.random()
    np.save(folder / "mask.npy", np.where(white, numbers.integers(0, 256, (height, width)), 0).astype(np.uint8))
    if dtype == np.float32:
        pixels = numbers.random((height, width, channels)).astype(dtype)
    else:
        pixels = numbers.integers(0, np.iinfo(dtype).max, (height, width, channels), dtype, endpoint=True)
    if channels == 4 and dtype != np.float32:
        header = b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL %d\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
        big_endian = pixels.astype(pixels.dtype.newbyteorder(">"))
        (folder / "in.pam").write_bytes(header % (width, height, np.iinfo(dtype).max) + big_endian.tobytes())
        return "in.pam", pixels.nbytes
    np.save(folder / "in.npy", pixels[:, :, 0] if channels == 1 else pixels)
    return "in.npy", pixels.nbytes


def test_random_pictures_and_pipelines(satin):
    """Whole and by rows: the same pixels, warnings and refusals. The seed repeats a run."""
    seed, compared = random.randrange(1 << 30), 0
    chosen = random.Random(seed)
    for number in range(300):
        name, size = write_random_pictures(satin.folder, chosen)
        steps = " | ".join(random_step(chosen) for _ in range(chosen.randint(1, 3)))
        limit = chosen.choice([[], ["--memory-limit", 200_000 + chosen.choice([1, 4, 20]) * size]])
        line = ["run", steps, name, "--overwrite", "--device", "cpu"]
        whole, rows = satin(*line, "-o", "whole.tif"), satin(*line, "-o", "rows.tif", "--stream", *limit)
        about = (seed, number, steps, limit, whole.error, rows.error)
        if limit and rows.returncode == 3:
            continue
        assert (whole.returncode, whole.error) == (rows.returncode, rows.error), about
        if whole.returncode != 0:
            continue
        one, other = (tiff_file.pages(satin.folder / made)[0].pixels() for made in ("whole.tif", "rows.tif"))
        assert one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes(), about
        compared += 1
    print("\nseed %d: %d of 300 compared, the others refused" % (seed, compared))
    assert compared > 200


def test_four_gigapixels(satin, folder):
    process = satin.start(*LINE, "--resume")
    wait_until(lambda: any(name.endswith(".tmp") and (folder / name).stat().st_size > 10_000_000 for name in files_below(folder)),
               120)
    process.kill()
    process.communicate()
    assert not (folder / "out.tif").exists(), "kill -9 left half a file"
    print("killed while it wrote: %s" % ", ".join(name for name in files_below(folder) if name != "in.pgm"))

    begun = time.monotonic()
    result = measured(satin, *LINE, "--resume", timeout=3600)
    seconds = time.monotonic() - begun
    assert result.returncode == 0, result.error
    assert files_below(folder) == [".satin-manifest", "in.pgm", "out.tif"]
    print("radius %d with a pyramid: %.0f s, %.1f megapixels/s, peak %.0f MB, %.2f GB written" % (
        RADIUS, seconds, SIDE * SIDE / 1e6 / seconds, result.peak / 1e6, (folder / "out.tif").stat().st_size / 1e9))
    assert result.peak < 1e9

    header = vips(folder, "vipsheader", "-a", "out.tif")
    assert "width: %d" % SIDE in header and "height: %d" % SIDE in header, header
    seed = random.randrange(1 << 30)
    print("crops of seed %d" % seed)
    chosen = random.Random(seed)
    for _ in range(5):
        x, y = (chosen.randrange(64, SIDE - 1024) // 4 * 4 for _ in range(2))
        write_pgm(folder / "crop.pgm", crop_of(folder / "in.pgm", x - RADIUS, y - RADIUS, 512 + 2 * RADIUS, 512 + 2 * RADIUS))
        satin.good("blur", "crop.pgm", "-o", "soft.pgm", "--radius", RADIUS, "--overwrite")
        expected = read_pgm(folder / "soft.pgm")[RADIUS:-RADIUS, RADIUS:-RADIUS]
        for level in range(3):
            side = 512 >> level
            vips(folder, "vips", "crop", "out.tif[page=%d]" % level, "vips.pgm", x >> level, y >> level, side, side)
            np.testing.assert_array_equal(read_pgm(folder / "vips.pgm"), expected)
            expected = halved(expected)
    for level in range(LEVELS):
        size = vips(folder, "vipsheader", "-f", "width", "out.tif[page=%d]" % level)
        assert int(size) == SIDE >> level
    print("libvips %s: the picture, %d levels, crops equal" % (vips(folder, "vips", "--version").split()[0], LEVELS - 1))
