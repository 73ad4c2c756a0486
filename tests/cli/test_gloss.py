"""satin gloss: levels of an environment map in one file."""
import numpy as np
import pytest


@pytest.fixture
def sky(satin, tmp_path):
    """Half of the sky bright, at longitudes left of the middle; the other half dark. 16 bits as stored."""
    pixels = np.zeros((32, 64), np.uint16)
    pixels[:, :32] = 60000
    with open(tmp_path / "sky.pgm", "wb") as file:
        file.write(b"P5 64 32 65535\n" + pixels.astype(">u2").tobytes())
    return pixels


def read_pgm(path):
    data = path.read_bytes()
    header, size, largest, pixels = data.split(b"\n", 3)
    assert header == b"P5" and largest == b"65535"
    width, height = map(int, size.split())
    return np.frombuffer(pixels, ">u2").reshape(height, width).astype(int)


def test_levels_lie_one_below_the_other(satin, tmp_path, sky):
    satin.good("gloss", "sky.pgm", "-o", "out.pgm", "--levels", 3, "--roughness", 1, "--space", "encoded")
    levels = read_pgm(tmp_path / "out.pgm").reshape(3, 32, 64)
    assert (levels[0] == sky).all()
    equator = levels[:, 16, :]
    for rougher, sharper in (equator[2], equator[1]), (equator[1], equator[0]):
        assert np.abs(np.diff(rougher)).max() < np.abs(np.diff(sharper)).max()
    for level in levels:  # the bright half and the dark one are each other's complement
        assert np.abs(level + np.roll(level, 32, axis=1) - 60000).max() <= 1
    # at a pole all directions are near: half of the circle is bright
    assert np.abs(levels[2, 0] - 30000).max() < 3000


def test_refusals(satin, sky):
    satin.bad(2, "gloss", "sky.pgm", "-o", "out.pgm", "--roughness", "1.5", says="--roughness")
    satin.bad(2, "gloss", "sky.pgm", "-o", "out.pgm", "--levels", "0", says="--levels")
