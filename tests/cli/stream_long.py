"""--stream with four gigapixels, what takes too long for tests/run: memory, libvips, kill -9."""
import random
import subprocess
import time

import numpy as np
import pytest

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
    """Of the raw file, without the rest of it in memory."""
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
