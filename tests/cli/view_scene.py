"""The pictures that tests of `satin view` show, and the commands that they run."""
import subprocess

import numpy as np
import pytest

import png_file
from conftest import BINARY


def smooth(height, width, channels=3, dtype=np.uint8):
    """A picture with edges and ramps."""
    y, x = np.mgrid[:height, :width]
    planes = [(x * (3 + c) + y * (5 - c)) % 251 + (x // 16 + y // 16) % 2 * 4 for c in range(channels)]
    return (np.stack(planes, 2) * (1 if dtype == np.uint8 else 257)).astype(dtype)


@pytest.fixture
def scene(satin):
    """photo.png, 160 x 120, with depth.png, a ramp, and a folder of three."""
    png_file.write(satin.folder / "photo.png", smooth(120, 160))
    png_file.write(satin.folder / "depth.png", np.tile(np.linspace(0, 255, 160).astype(np.uint8), (120, 1)))
    (satin.folder / "many").mkdir()
    for i in range(3):
        png_file.write(satin.folder / "many" / ("p%d.png" % i), smooth(40 + i, 50 + i))
    return satin


def run(satin, command, shell="sh"):
    """Runs the command line with the program of the test in the place of `satin`."""
    script = "satin() { '%s' \"$@\"; }\n%s\n" % (BINARY, command)
    done = subprocess.run([shell, "-c", script], cwd=satin.folder, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()


def in_8_bits(pixels):
    """Opaque RGB as a page shows it: rounded to 8 bits, over white."""
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    pixels = pixels.astype(np.int64)
    if pixels.max() > 255:
        pixels = (pixels * 255 * 2 + 65535) // (2 * 65535)
    if pixels.shape[2] in (2, 4):
        alpha = pixels[:, :, -1:]
        pixels = (pixels[:, :, :-1] * alpha + 255 * (255 - alpha) + 127) // 255
    return np.repeat(pixels, 3, 2) if pixels.shape[2] == 1 else pixels


def check_true(satin, view, generation, command, output):
    """All pixels of the canvas are those of the file that the command writes."""
    (satin.folder / output).unlink(missing_ok=True)
    run(satin, command)
    if not output.endswith(".png"):
        satin.good("blur", output, "-o", "decoded.png", "--radius", "0", "--overwrite")
    expected = in_8_bits(png_file.read(satin.folder / (output if output.endswith(".png") else "decoded.png")))
    height, width = expected.shape[:2]
    shown, state = view.pixels(generation, width + 7, height + 5, exact=1)
    assert state == "true"
    assert np.array_equal(shown[:height, :width, :3], expected), command
    assert (shown[:height, :width, 3] == 255).all() and not shown[height:].any() and not shown[:, width:].any()
    (satin.folder / output).unlink()
