"""Linear light by the tone curves of the profile in the file."""
import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS
from icc_profile import gamma_profile, with_profile

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="profiles need SATIN_CODECS=FULL")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("gamma", [1.0, 1.80078125, 2.19921875])
def test_means_are_taken_in_the_light_of_the_profile(satin, noise, gamma, dtype):
    values = noise((9, 9, 3), dtype)
    (satin.folder / "in.png").write_bytes(with_profile(values, gamma_profile(gamma)))
    satin.good("blur", "in.png", "-o", "out.png", "--radius", 20)  # the mean of everything
    largest = np.iinfo(dtype).max
    exact = ((values / largest) ** gamma).mean(axis=(0, 1)) ** (1 / gamma) * largest
    result = png_file.read(satin.folder / "out.png")
    assert np.abs(result - exact).max() <= 0.5 + largest * 2e-5
    assert b"iCCP" in (satin.folder / "out.png").read_bytes()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_every_code_survives(satin, dtype):
    side = 16 if dtype == np.uint8 else 256
    codes = np.arange(side * side, dtype=dtype).reshape(side, side)[:, :, None].repeat(3, axis=2)
    (satin.folder / "in.png").write_bytes(with_profile(codes, gamma_profile(2.19921875)))
    satin.good("blur", "in.png", "-o", "out.png", "--radius", 0)
    np.testing.assert_array_equal(png_file.read(satin.folder / "out.png"), codes)


def test_a_damaged_profile_is_told(satin, noise):
    from PIL import Image
    Image.fromarray(noise((9, 9, 3))).save(satin.folder / "in.jpg", icc_profile=bytes(16) + b"RGB " + bytes(108))
    assert "no tone curves" in satin.good("blur", "in.jpg", "-o", "out.jpg", "--radius", 3).error
    assert "no tone curves" not in satin.good("blur", "in.jpg", "-o", "o.jpg", "--radius", 3, "--space", "encoded").error


def linear_of(codes, maximum):
    encoded = codes.astype(np.float64) / maximum
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("extension", ["exr", "pfm", "hdr"])
def test_codes_become_linear_light_in_files_of_floats(satin, noise, dtype, extension):
    pixels = noise((9, 12, 3), dtype)
    png_file.write(satin.folder / "in.png", pixels)
    result = satin.good("blur", "in.png", "-o", "out." + extension, "--radius", "0")
    assert b"codes became linear light" in result.stderr
    satin.good("blur", "out." + extension, "-o", "out.npy", "--radius", "0")
    tolerance = 0.01 if extension == "hdr" else 1e-6  # 8 bits of mantissa for all channels
    expected = linear_of(pixels, np.iinfo(dtype).max)
    np.testing.assert_allclose(np.load(satin.folder / "out.npy"), expected, rtol=1e-6, atol=tolerance)


def test_alpha_of_codes_is_premultiplied_in_openexr(satin, noise):
    pixels = noise((9, 12, 4))
    png_file.write(satin.folder / "in.png", pixels)
    satin.good("redact", "in.png", "-o", "out.exr", "--box", "0,0,1,1")
    satin.good("blur", "out.exr", "-o", "out.npy", "--radius", "0")
    alpha = pixels[..., 3:] / 255
    expected = np.concatenate([linear_of(pixels[..., :3], 255) * alpha, alpha], 2)
    np.testing.assert_allclose(np.load(satin.folder / "out.npy")[1:], expected[1:], rtol=1e-6)


def test_codes_become_the_linear_light_of_their_profile(satin, noise):
    values = noise((9, 12, 3))
    (satin.folder / "in.png").write_bytes(with_profile(values, gamma_profile(2.19921875)))
    satin.good("blur", "in.png", "-o", "out.pfm", "--radius", "0")
    satin.good("blur", "out.pfm", "-o", "out.npy", "--radius", "0")
    np.testing.assert_allclose(np.load(satin.folder / "out.npy"), (values / 255) ** 2.19921875, atol=1e-6)
