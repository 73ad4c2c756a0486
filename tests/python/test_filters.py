"""Functions made from the registry."""
import inspect
import re

import numpy as np
import pytest

import satin
from conftest import ROOT, has_cuda

COMMON = ["out", "layout", "alpha", "order", "device"]


def readme_filters():
    """Names and options of all filters from the reference's table, which the command writes."""
    table = re.search(r"<!-- filters.*?-->(.*?)<!-- /filters -->", (ROOT / "src" / "app" / "README.md").read_text(), re.S).group(1)
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \| (.*?) \|", table, re.M)
    return {name: (help, re.findall(r"`--(.+?)`", options)) for name, help, options in rows}


FILTERS = readme_filters()


def test_every_filter_is_a_function():
    assert len(FILTERS) > 15
    assert sorted(satin.filters.__all__) == sorted(name.replace("-", "_") for name in FILTERS)
    assert set(satin.filters.__all__) < set(satin.__all__)


@pytest.mark.parametrize("name", FILTERS)
def test_signatures_and_docstrings_are_the_registrys(name):
    help, options = FILTERS[name]
    function = getattr(satin, name.replace("-", "_"))
    parameters = inspect.signature(function).parameters
    picture = "picture" if "image" in options else "image"
    assert list(parameters) == [picture, *(option.replace("-", "_") for option in options), *COMMON]
    assert [each.kind.name for each in parameters.values()][:3] == ["POSITIONAL_OR_KEYWORD"] * 2 + ["KEYWORD_ONLY"]
    help = help.replace("\\|", "|").lower()
    assert " ".join(function.__doc__.lower().split()).startswith(help)
    description = satin.describe(function)
    assert description.lower().startswith(help)
    for parameter in parameters:
        assert re.search(rf"^{parameter} : ", description, re.M), parameter


def test_defaults():
    defaults = {name: each.default for name, each in inspect.signature(satin.blur).parameters.items()}
    assert defaults["radius"] == 8 and defaults["sigma"] is None and defaults["border"] == "shrink"
    assert inspect.signature(satin.threshold).parameters["invert"].default is False
    assert inspect.signature(satin.tilt_shift).parameters["place"].default == "50%,50%"


def test_defaults_are_what_the_filters_use(random):
    """Giving every default by hand changes nothing."""
    image = random.integers(0, 256, (24, 32, 3), np.uint8)
    for name in satin.filters.__all__:
        if name in ("dof", "redact", "resize", "crop"):  # these have no result without a depth, boxes, a size or an aspect
            continue
        function = getattr(satin, name)
        given = {
            key: each.default
            for key, each in inspect.signature(function).parameters.items()
            if each.default is not inspect.Parameter.empty
        }
        np.testing.assert_array_equal(function(image, **given), function(image), err_msg=name)


# --- Values. ---


@pytest.fixture
def image(random):
    return random.integers(0, 256, (40, 60, 3), np.uint8)


def test_numbers_of_every_kind(image):
    expected = satin.blur(image, radius="3")
    for radius in (3, 3.0, np.float32(3), np.int16(3), (3, 3), ("5%", 3)):
        np.testing.assert_array_equal(satin.blur(image, radius=radius), expected)
    assert not np.array_equal(satin.blur(image, radius=(3, 4)), expected)


def test_small_and_long_numbers_arrive(image):
    small = 1.0000000000000002e-05
    grey = image[..., 0].astype(np.float32)
    np.testing.assert_array_equal(satin.guided(grey, eps=small), satin.guided(grey, eps=repr(small)))


def test_flags(image):
    grey = image[..., 0]
    assert np.array_equal(satin.threshold(grey, invert=np.True_), 255 - satin.threshold(grey, invert=False))


def test_boxes_colours_and_points(image):
    covered = satin.redact(image, box=[(2, 3, 10, 5), np.array([30, 20, 4, 4])], colour=(255, 0, 16))
    expected = image.copy()
    expected[3:8, 2:12] = expected[20:24, 30:34] = (255, 0, 16)
    np.testing.assert_array_equal(covered, expected)
    np.testing.assert_array_equal(
        satin.tilt_shift(image, place=("25%", 10), band=2), satin.tilt_shift(image, place="25%,10", band=2)
    )


def test_depth_of_field(image):
    depth = np.zeros((40, 60), np.float32)
    depth[:, 30:] = 1
    result = satin.dof(image, depth=depth, focus=0, strength=6)
    np.testing.assert_array_equal(result[:, :20], image[:, :20])
    assert np.abs(result[:, 40:].astype(int) - image[:, 40:]).mean() > 5
    # The range of the depth, 1, spans 10 % of the longer side: 6 pixels.
    np.testing.assert_array_equal(satin.dof(image, depth=depth, focus=0, strength="10%"), result)
    np.testing.assert_array_equal(satin.dof(image, depth=depth, focus="farthest", strength=6), result)
    np.testing.assert_array_equal(satin.dof(image, depth=depth, focus="nearest", depth_kind="depth", depth_range=(1, 2)),
                                  satin.dof(image, depth=depth, focus=1, depth_kind="depth", depth_range=(1, 2)))
    with pytest.raises(ValueError, match="focus 'nearst': a number, nearest or farthest is expected. Did you mean 'nearest'"):
        satin.dof(image, depth=depth, focus="nearst")
    with pytest.raises(ValueError, match="values from 0 to 1"):
        satin.dof(image, depth=depth, focus=3)
    with pytest.raises(ValueError, match="depth"):
        satin.dof(image)


def test_gloss_grows_by_levels(image):
    assert satin.gloss(image, levels=3).shape == (120, 60, 3)


# --- Errors. ---


@pytest.mark.parametrize(
    "options,message",
    [
        ({"radius": -1}, "radius.*0"),
        ({"radius": float("nan")}, "radius"),
        ({"radius": "many"}, "radius.*many"),
        ({"border": "wrapp"}, "did you mean 'wrap'"),
        ({"radius_max": 5}, "radius map"),
        ({"device": "gpu"}, "auto, cpu or cuda:N"),
        ({"alpha": "strait"}, "straight"),
        ({"mask": np.zeros((3, 3), np.uint8)}, "mask"),
        ({"radius": True}, "radius"),
    ],
    ids=str,
)
def test_wrong_values(image, options, message):
    with pytest.raises(ValueError, match=message):
        satin.blur(image, **options)


def test_wrong_whole_numbers(image):
    with pytest.raises(ValueError, match="window.*whole number"):
        satin.threshold(image, window=31.5)


def test_unknown_parameters_get_the_nearest_name(image):
    with pytest.raises(TypeError, match=r"blur\(\) has no parameter 'radus'. Did you mean 'radius'\?"):
        satin.blur(image, radus=3)


@pytest.mark.parametrize("unknown,ours", [("mode", "border"), ("ksize", "radius"), ("sigmaX", "sigma"), ("cval", "border_value")])
def test_parameters_of_other_libraries_lead_to_satins(image, unknown, ours):
    with pytest.raises(TypeError, match=rf"blur\(\) has no parameter '{unknown}'. Did you mean '{ours}'\?"):
        satin.blur(image, **{unknown: 3})
    with pytest.raises(TypeError, match="Did you mean 'window'"):
        satin.threshold(image, block_size=31)


def test_a_value_of_a_wrong_kind_names_its_parameter(image):
    with pytest.raises(TypeError, match=r"method=\(1, 2, 3, 4\): one of solid, mosaic, blur is expected"):
        satin.redact(image, (1, 2, 3, 4))
    with pytest.raises(TypeError, match="sigma={}: float is expected"):
        satin.blur(image, sigma={})


def test_a_pipeline_of_an_unknown_filter_says_where_the_names_are(image):
    with pytest.raises(ValueError, match="satin.filters.__all__"):
        satin.run("sharpen", image)


def test_colours_out_of_range(image):
    with pytest.raises(ValueError, match="from 0 to 255"):
        satin.redact(image, box=[(0, 0, 2, 2)], colour=(300, 0, 0))


def test_numbers_that_are_none(image):
    bad = image.astype(np.float32)
    bad[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        satin.blur(bad)


def test_values_that_vanish_are_warned_about():
    image = np.ones((8, 8), np.float32)
    image[0, 0] = 1e-20
    with pytest.warns(RuntimeWarning, match="2\\^-40"):
        satin.blur(image, radius=1)


def test_too_little_memory_is_a_runtime_error(image):
    device = satin.Device("cpu")
    device.limit_memory(1000)
    with pytest.raises(RuntimeError, match="memory limit"):
        satin.gloss(image, device=device)


# --- Devices. ---


def test_devices(image):
    found = satin.devices()
    assert found[0]["id"] == "cpu" and found[0]["usable"]
    assert all(device["usable"] or device["reason"] for device in found)
    device = satin.Device("cpu", threads=1)
    assert device.id == "cpu" and "1 thread" in device.name and "cpu" in repr(device)
    np.testing.assert_array_equal(satin.blur(image, device=device), satin.blur(image, device="auto"))


@pytest.mark.skipif(has_cuda(), reason="there is a GPU")
def test_a_missing_gpu_is_a_runtime_error_with_the_reason(image):
    with pytest.raises(RuntimeError, match="CUDA|cuda|GPU|driver"):
        satin.blur(image, device="cuda:0")
    assert satin.Device().id == "cpu"
