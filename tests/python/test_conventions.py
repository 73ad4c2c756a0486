"""Names and values of other libraries, and messages in the words of Python."""
import json
import re
import subprocess
import sys

import cv2
import numpy as np
import pytest

import satin
from satin import _native, _translation
from satin._translation import options_of, python_words


@pytest.fixture
def image(random):
    return random.integers(0, 256, (40, 60, 3), np.uint8)


@pytest.fixture
def depth(random):
    return random.random((40, 60)).astype(np.float32)


# --- Arguments. ---


def test_the_first_parameter_comes_by_position(image):
    np.testing.assert_array_equal(satin.blur(image, 12), satin.blur(image, radius=12))
    grey = image[..., 0]
    np.testing.assert_array_equal(satin.threshold(grey, "otsu"), satin.threshold(grey, method="otsu"))
    with pytest.raises(TypeError, match=r"blur\(\) too many positional arguments: the picture and its first parameter"):
        satin.blur(image, 12, 3)


@pytest.mark.parametrize("alias,border", _translation.BORDERS.items())
def test_borders_of_other_libraries(image, alias, border):
    options = {"border_value": 0.5} if border == "constant" else {}
    np.testing.assert_array_equal(satin.blur(image, 3, border=alias, **options), satin.blur(image, 3, border=border, **options))


@pytest.mark.parametrize("name", ["REPLICATE", "REFLECT", "REFLECT_101", "WRAP", "CONSTANT", "DEFAULT"])
def test_borders_of_opencv_are_opencvs(image, name):
    number = getattr(cv2, f"BORDER_{name}")
    padded = cv2.copyMakeBorder(image, 5, 5, 5, 5, number)
    expected = satin.blur(padded, 3, space="encoded")[5:-5, 5:-5]
    for border in (number, f"BORDER_{name}"):
        np.testing.assert_array_equal(satin.blur(image, 3, border=border, space="encoded"), expected)


NUMPY_BORDERS = {"edge": "edge", "symmetric": "symmetric", "mirror": "reflect", "wrap": "wrap"}


@pytest.mark.parametrize("border,numpys", NUMPY_BORDERS.items())
def test_borders_of_numpy_are_numpys(image, border, numpys):
    """All names are NumPy's but reflect, which SciPy and OpenCV use for NumPy's symmetric."""
    padded = np.pad(image, ((5, 5), (5, 5), (0, 0)), mode=numpys)
    expected = satin.blur(padded, 3, space="encoded")[5:-5, 5:-5]
    np.testing.assert_array_equal(satin.blur(image, 3, border=border, space="encoded"), expected)


@pytest.mark.parametrize("border", [17, -1, "reflect102", True])
def test_borders_that_nobody_has(image, border):
    with pytest.raises(ValueError, match="border"):
        satin.blur(image, border=border)


def test_a_filter_without_a_constant_border_says_so(image):
    with pytest.raises(ValueError, match="border 'grid-constant'.*shrink"):
        satin.threshold(image, border="grid-constant")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int64])
def test_an_array_of_radii_is_a_map_in_pixels(image, dtype):
    radii = np.full((40, 60), 3, dtype)
    radii[:, 40:] = 7
    result = satin.blur(image, radii)
    np.testing.assert_array_equal(result[:, :40], satin.blur(image, 3)[:, :40])
    np.testing.assert_array_equal(result[:, 40:], satin.blur(image, 7)[:, 40:])
    ranked = satin.median(image, radius=radii)
    np.testing.assert_array_equal(ranked[:, 40:], satin.median(image, 7)[:, 40:])


def test_every_fraction_of_a_radius_arrives(random):
    """Each of 1/256 pixel below 64 gives the bytes of the radius by itself, whatever the largest one is."""
    row = random.integers(0, 65536, (1, 201), np.uint16)
    for quarter in random.integers(0, 64 * 256, 40):
        radii = np.full((1, 201), quarter / 256)
        radii[0, 0] = 63.9
        np.testing.assert_array_equal(satin.blur(row, radii)[0, 1:], satin.blur(row, quarter / 256)[0, 1:])


def test_a_map_with_what_its_ends_mean(image, random):
    values = random.integers(0, 256, (40, 60), np.uint8)
    expected = satin.blur(image, radius_map=values, radius_min=1, radius_max=6)
    np.testing.assert_array_equal(satin.blur(image, values, radius_min=1, radius_max=6), expected)


@pytest.mark.parametrize("options,error,message", [
    ({"radius_map": np.zeros((40, 60), np.uint8)}, TypeError, "leave out radius_map"),
    ({"radius_min": 1}, TypeError, "give radius_max too"),
])  # fmt: skip
def test_two_maps_at_once(image, options, error, message):
    with pytest.raises(error, match=message):
        satin.blur(image, np.ones((40, 60)), **options)


@pytest.mark.parametrize("value", [-1, np.nan, np.inf])
def test_radii_that_are_none(image, value):
    radii = np.ones((40, 60))
    radii[3, 4] = value
    with pytest.raises(ValueError, match="radius: an array holds the radius of every pixel"):
        satin.blur(image, radii)


def test_no_filter_but_those_with_maps_takes_arrays(image):
    with pytest.raises(TypeError, match=r"radius is an array of shape \(40, 60\)"):
        satin.dilate(image, np.ones((40, 60)))


@pytest.mark.parametrize("box", [(2, 3, 10, 5), [2, 3, 10, 5], np.array([2, 3, 10, 5]), [(2, 3, 10, 5)], "2,3,10,5"])
def test_one_box(image, box):
    expected = image.copy()
    expected[3:8, 2:12] = 0
    np.testing.assert_array_equal(satin.redact(image, box=box), expected)


# --- Messages. ---


@pytest.mark.parametrize("call, says", [
    (lambda image, depth: satin.run(image, "blur radius=2"), "pipeline comes first"),
    (lambda image, depth: satin.run(["blur", "unsharp"], image), r"separated by '\|'"),
    (lambda image, depth: satin.Plan(3, image), "not int"),
    (lambda image, depth: satin.blur("photo.jpg", 3), r"satin.read\('photo.jpg'\) reads it"),
    (lambda image, depth: satin.blur(image, 3, threads=2), r"device=satin.Device\('cpu', threads=2\)"),
    (lambda image, depth: satin.dof(image, depth), "by name: depth="),
    (lambda image, depth: satin.blur(np.ma.masked_greater(image, 200), 3), r"image.filled\(value\)"),
    (lambda image, depth: satin.blur(image, 3, mask=np.ma.masked_greater(image[..., 0], 200)), r"mask.filled\(value\)"),
    (lambda image, depth: satin.batch("blur", "in", "out", threads="5"), "threads='5': a whole number"),
])  # fmt: skip
def test_calls_in_other_words_are_refused_with_the_right_ones(image, depth, call, says):
    with pytest.raises(TypeError, match=says):
        call(image, depth)


def test_masks_of_floats_and_filters_that_are_elsewhere(image, depth):
    with pytest.raises(ValueError, match="uint8 and uint16 are possible, with 255 and 65535"):
        satin.blur(image, 3, mask=depth)
    with pytest.raises(AttributeError, match="it finds no edges"):
        satin.canny


def test_a_script_with_functions_ends_without_a_word(tmp_path):
    script = "import numpy, satin\ndef f(): satin.blur(numpy.zeros((8, 9), numpy.uint8), 2)\nf()\n"
    (tmp_path / "script.py").write_text(script)
    ran = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout + ran.stderr == ""


def messages(image, depth):
    """Calls whose message names options, and what it says."""
    return [
        (lambda: satin.dof(image), r"give depth=, or depth_from='photo'"),
        (lambda: satin.dof(image, depth=image), r"by depth_channel=N, from 0"),
        (lambda: satin.dof(image, depth=depth, focus=1, focus_at=(1, 1)), r"takes focus or focus_at, not both"),
        (lambda: satin.dof(image, depth=depth, strength=3, f_number=2), r"takes strength or f_number, not both"),
        (lambda: satin.dof(image, depth=depth, bokeh="square", blades=5), r"Use bokeh='polygon'"),
        (lambda: satin.redact(image), r"give boxes \(box=\(X, Y, W, H\)\)"),
        (lambda: satin.redact(image, box=(900, 0, 5, 5)), r"outside the picture .* with allow_nothing=True"),
        (lambda: satin.redact(image, mask=np.zeros(image.shape[:2], np.uint8)), r"0 everywhere.* with allow_nothing=True"),
        (lambda: satin.blur(image, radius_max=3), r"^radius_max needs a radius map"),
        (lambda: satin.blur(image, mask_mode="exclude"), r"^mask_mode exclude needs a mask"),
        (lambda: satin.regions(image[..., 0], sort="mean"), r"sort='?mean'? needs values: name a picture with image=\."),
        (lambda: satin.run("dof", image), r"give depth=, or depth-from='photo'"),
        (lambda: satin.write("a.jpg", image, quality=300), r"quality"),
        (lambda: satin.batch("blur", "in", "out", shard="9/8"), r"^shard='9': must be"),
    ]  # fmt: skip


@pytest.mark.parametrize("index", range(14))
def test_messages_have_pythons_words(image, depth, index, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, says = messages(image, depth)[index]
    with pytest.raises((ValueError, OSError), match=says) as raised:
        call()
    assert not re.search(r"--[a-z]|\b[uf](8|16|32)\b", str(raised.value))


def test_existing_files(tmp_path, image):
    satin.write(tmp_path / "a.png", image)
    with pytest.raises(ValueError, match="overwrite=True"):
        satin.write(tmp_path / "a.png", image)
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.png").write_bytes(b"")
    with pytest.raises(ValueError, match="skip_existing=True leaves it.*overwrite=True replaces it"):
        satin.batch("blur", tmp_path / "a.png", out)


def test_warnings_have_pythons_words(image, depth):
    with pytest.warns(RuntimeWarning, match=r"largest radius, max_radius=2: .* strength=[\d.]+ fits") as said:
        satin.dof(image, depth=depth, focus_at=(1, 1), strength=1000, max_radius=2)
    assert not any("--" in str(each.message) for each in said)


@pytest.mark.parametrize("text,says", [
    ("give --depth FILE, or --depth-from photo.", "give depth=, or depth_from='photo'."),
    ("Use --quality high, or leave out --invert-depth.", "Use quality='high', or leave out invert_depth=True."),
    ("--max-radius 32 px", "max_radius=32 px"),
    ("choose cuda:0 by --device cuda:N", "choose cuda:0 by device='cuda:N'"),
    ("The file '--depth u8 max-radius' of u16", "The file '--depth u8 max-radius' of uint16"),
    ("sbatch --array=1-N, a well-known way", "sbatch --array=1-N, a well-known way"),
])  # fmt: skip
def test_words(text, says):
    options = options_of(json.loads(_native.describe_filters())["filters"])
    assert python_words(text, options, _translation.identifier) == says
