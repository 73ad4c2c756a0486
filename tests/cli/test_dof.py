"""satin dof: sources of depth, reported values and debug pictures."""
import json

import numpy as np
import pytest

import exr_file
import pfm_file
from conftest import FULL_CODECS

WIDTH, HEIGHT = 40, 30
LENS = ("--focus", 0.5, "--strength", 12)


def read_ppm(path):
    magic, size, largest, pixels = path.read_bytes().split(b"\n", 3)
    assert magic == b"P6" and largest == b"255"
    width, height = map(int, size.split())
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3).astype(int)


@pytest.fixture
def colours(noise):
    return noise((HEIGHT, WIDTH, 3)).astype(np.float32) / 255


@pytest.fixture
def disparity():
    """Near on the left, sharp in the middle, far on the right."""
    columns = np.repeat([0.9, 0.5, 0.2], [14, 12, 14])
    return np.tile(columns, (HEIGHT, 1)).astype(np.float32)


@pytest.fixture
def render(tmp_path, colours, disparity):
    """An OpenEXR file with two planes of depth, and the same picture and planes as PFM."""
    pfm_file.write(tmp_path / "colours.pfm", colours)
    pfm_file.write(tmp_path / "disparity.pfm", disparity)
    pfm_file.write(tmp_path / "other.pfm", 1 - disparity)
    planes = dict(zip("RGB", np.moveaxis(colours, 2, 0)), Z=1 - disparity)
    return exr_file.write(tmp_path / "render.exr", {**planes, "depth.V": disparity})


def result_of(satin, name, picture, *arguments):
    satin.good("dof", picture, "-o", name, *LENS, *arguments)
    return (satin.folder / name).read_bytes()


def test_the_focus_is_an_end_of_the_depth(satin, tmp_path, colours, disparity):
    pfm_file.write(tmp_path / "in.pfm", colours)
    pfm_file.write(tmp_path / "disparity.pfm", disparity)
    pfm_file.write(tmp_path / "distance.pfm", 1 / disparity)
    dof = ("in.pfm", "--strength", 12)
    values = {"nearest": np.float32(0.9), "farthest": np.float32(0.2)}
    for word, value in values.items():
        plain = ("dof", *dof, "--depth", "disparity.pfm")
        satin.good(*plain, "-o", "value.pfm", "--focus", repr(float(value)), "--overwrite")
        report = json.loads(satin.good(*plain, "-o", "%s.pfm" % word, "--focus", word, "--json").stdout)
        assert report["steps"][0]["parameters"]["focus"] == word
        assert report["files"][0]["found"]["focus"] == pytest.approx(value)
        expected = (tmp_path / "value.pfm").read_bytes()
        assert (tmp_path / ("%s.pfm" % word)).read_bytes() == expected
        satin.good("run", "dof depth=disparity.pfm strength=12 focus=%s" % word, "in.pfm", "-o", "run.pfm", "--overwrite")
        assert (tmp_path / "run.pfm").read_bytes() == expected
        distance = satin.good("dof", *dof, "--depth", "distance.pfm", "--depth-kind", "depth", "--focus", word, "--json",
                              "-o", "distance_%s.pfm" % word)
        assert json.loads(distance.stdout)["files"][0]["found"]["focus"] == pytest.approx(1 / value)
    satin.good("dof", *dof, "--depth", "disparity.pfm", "--focus", "nearest,farthest", "-o", "end_{index}.pfm")
    for index, word in enumerate(values):
        assert (tmp_path / ("end_%d.pfm" % (index + 1))).read_bytes() == (tmp_path / ("%s.pfm" % word)).read_bytes()


def test_words_that_are_no_focus(satin, tmp_path, colours, disparity):
    pfm_file.write(tmp_path / "in.pfm", colours)
    dof = ("dof", "in.pfm", "--depth", pfm_file.write(tmp_path / "disparity.pfm", disparity), "-o", "out.pfm", "--focus")
    satin.bad(2, *dof, "nearst", says=["--focus 'nearst': a number, nearest or farthest", "Did you mean 'nearest'?"])
    satin.bad(2, *dof, "subject", says="--focus 'subject': a number, nearest or farthest is expected.")
    satin.bad(2, *dof, "0,5.1.2", "--fail-fast", says="--focus")
    satin.bad(2, *dof, "nearest", "--focus-at", "1,1", says="focus or focus-at, not both")


@pytest.mark.skipif(not FULL_CODECS, reason="this build has no OpenEXR")
def test_depth_is_a_channel_of_a_name(satin, render):
    by_plane = result_of(satin, "a.pfm", "colours.pfm", "--depth", "disparity.pfm")
    by_other = result_of(satin, "b.pfm", "colours.pfm", "--depth", "other.pfm")
    assert by_plane != by_other
    named = ("--depth", "render.exr", "--depth-channel", "depth.V")
    assert result_of(satin, "c.pfm", "colours.pfm", *named) == by_plane
    assert result_of(satin, "d.pfm", "colours.pfm", "--depth", "render.exr") == by_other  # Z
    own = ("--depth-from", "channel")
    assert result_of(satin, "e.pfm", "render.exr", *own) == by_other
    assert result_of(satin, "f.pfm", "render.exr", *own, "--depth-channel", "depth.V") == by_plane


@pytest.mark.skipif(not FULL_CODECS, reason="this build has no OpenEXR")
def test_every_render_of_a_folder_has_its_own_depth(satin, tmp_path, render):
    folder = tmp_path / "renders"
    folder.mkdir()
    for name in "one.exr", "two.exr":
        (folder / name).write_bytes(render.read_bytes())
    satin.good("dof", "renders", "-o", "out/{stem}.pfm", *LENS, "--depth-from", "channel", "--depth-channel", "depth.V")
    expected = result_of(satin, "a.pfm", "colours.pfm", "--depth", "disparity.pfm")
    assert (tmp_path / "out" / "one.pfm").read_bytes() == expected
    assert (tmp_path / "out" / "two.pfm").read_bytes() == expected


@pytest.mark.skipif(not FULL_CODECS, reason="this build has no OpenEXR")
def test_channels_that_are_not_there(satin, render):
    satin.bad(2, "dof", "colours.pfm", "-o", "out.pfm", "--depth", "render.exr", "--depth-channel", "depth.W",
              says=["depth.W", "Did you mean 'depth.V'?"])
    satin.bad(2, "dof", "render.exr", "-o", "out.pfm", "--depth-from", "channel", "--depth-channel", "depth.W",
              says=["depth.W", "depth.V"])
    satin.bad(2, "dof", "colours.pfm", "-o", "out.pfm", "--depth-from", "channel", says="'Z'")
    satin.bad(2, "dof", "render.exr", "-o", "out.pfm", "--depth-from", "channel", "--depth", "disparity.pfm",
              says="--depth")


def test_unknown_depth_is_counted_in_the_report(satin, tmp_path, colours, disparity):
    disparity[3:6, 10:17] = np.nan
    disparity[20, 33] = np.inf
    pfm_file.write(tmp_path / "colours.pfm", colours)
    pfm_file.write(tmp_path / "holes.pfm", disparity)
    arguments = ("dof", "colours.pfm", "--depth", "holes.pfm", *LENS)
    report = json.loads(satin.good(*arguments, "-o", "a.pfm", "--json", "--quiet").stdout)
    assert [warning for warning in report["files"][0]["warnings"] if warning.startswith("22 depth values")]
    assert "22 depth values" in satin.good(*arguments, "-o", "b.pfm").error
    disparity[:] = np.nan
    pfm_file.write(tmp_path / "holes.pfm", disparity)
    satin.bad(1, *arguments, "-o", "c.pfm", says="no known value")


def test_radii_are_shown(satin, tmp_path, noise, disparity):
    (tmp_path / "in.ppm").write_bytes(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + noise((HEIGHT, WIDTH, 3)).tobytes())
    pfm_file.write(tmp_path / "disparity.pfm", disparity)
    satin.good("dof", "in.ppm", "-o", "out.ppm", "--depth", "disparity.pfm", *LENS, "--max-radius", 8, "--debug", "coc")
    shown = read_ppm(tmp_path / "out.ppm")
    radii = 12 * (disparity.astype(float) - 0.5)
    side = np.where(np.abs(radii) <= 0.5, 0, np.sign(radii))
    outline = np.zeros(side.shape, bool)
    outline[:, :-1] |= side[:, 1:] != side[:, :-1]
    outline[:-1] |= side[1:] != side[:-1]
    radii = np.where(outline, 0, radii) / np.abs(radii).max()

    def encoded(linear):
        return 255 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)

    assert np.abs(shown[..., 0] - encoded(np.maximum(radii, 0))).max() <= 1
    assert np.abs(shown[..., 2] - encoded(np.maximum(-radii, 0))).max() <= 1
    assert outline.any() and (shown[..., 1] == np.where(outline, 255, 0)).all()
    satin.bad(2, "dof", "in.ppm", "-o", "x.ppm", "--depth", "disparity.pfm", "--debug", "cos", says=["debug", "coc"])


def found_strength(satin, *arguments):
    result = satin.good("dof", "in.ppm", "-o", "out.ppm", "--overwrite", "--json", "--quiet", *arguments)
    return json.loads(result.stdout)["files"][0]["found"]["strength"]


def test_a_strength_in_percent_is_of_the_range_of_the_depth(satin, tmp_path, noise):
    (tmp_path / "in.ppm").write_bytes(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + noise((HEIGHT, WIDTH, 3)).tobytes())
    values = np.random.default_rng(3).gamma(2, 30, (HEIGHT, WIDTH)).astype(np.float32)
    low, high = np.percentile(values, [0.5, 99.5], method="closest_observation")
    for unit in 1, 0.004:
        pfm_file.write(tmp_path / "map.pfm", values * np.float32(unit))
        depth = ("--depth", "map.pfm")
        assert found_strength(satin, *depth) == pytest.approx(0.01 * WIDTH / (high - low) / unit, rel=0.02)
        strength = found_strength(satin, *depth, "--strength", "20%")
        assert strength == pytest.approx(0.2 * WIDTH / (high - low) / unit, rel=0.02)
        picture = (tmp_path / "out.ppm").read_bytes()
        assert found_strength(satin, *depth, "--strength", repr(strength)) == strength
        assert (tmp_path / "out.ppm").read_bytes() == picture


def test_a_focus_outside_the_depth_tells_the_range(satin, tmp_path, noise):
    (tmp_path / "in.ppm").write_bytes(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + noise((HEIGHT, WIDTH, 3)).tobytes())
    codes = np.full((HEIGHT, WIDTH), 51, np.uint8)
    codes[:, 15:] = 204
    (tmp_path / "map.pgm").write_bytes(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + codes.tobytes())
    arguments = ("dof", "in.ppm", "-o", "out.ppm", "--depth", "map.pgm")
    satin.bad(1, *arguments, "--focus", 200, says=["in.ppm", "focus 200", "from 0.2 to 0.8", "200 is 0.7843"])
    satin.bad(1, *arguments, "--focus", 0.9, says=["from 0.2 to 0.8", "--focus-at"])
    assert not (tmp_path / "out.ppm").exists()
    strong = satin.good(*arguments, "--focus", 0.2, "--strength", "900%", "--max-radius", 64).error
    assert "--max-radius 64" in strong and "0.2 to 0.8" in strong and "--strength 160% fits, or --max-radius 360." in strong


def report_of(satin, *arguments):
    result = satin.good("dof", "in.ppm", "-o", "out.ppm", "--overwrite", "--json", "--quiet", *arguments)
    return json.loads(result.stdout)["files"][0]["found"]


def write_two_planes(folder, codes):
    (folder / "in.ppm").write_bytes(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + bytes(range(120)) * 30)
    (folder / "map.pgm").write_bytes(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + codes.astype(np.uint8).tobytes())


def test_the_report_tells_focus_radius_groups_and_soft_depth(satin, tmp_path):
    clean = np.full((HEIGHT, WIDTH), 51)
    clean[:, 15:] = 204
    write_two_planes(tmp_path, clean)
    arguments = ("--depth", "map.pgm", "--focus-at", "30,10", "--strength", 10)
    found = report_of(satin, *arguments)
    assert found["focus"] == pytest.approx(0.8)
    assert found["largest_radius"] == pytest.approx(6)
    assert (found["groups"], found["soft"]) == (2, 0)
    assert report_of(satin, *arguments, "--max-radius", 4)["largest_radius"] == 4
    assert report_of(satin, *arguments, "--invert-depth")["focus"] == pytest.approx(0.8)
    for i in range(4):
        clean[:, 13 + i] = 51 + 31 * (i + 1)
    write_two_planes(tmp_path, clean)
    assert report_of(satin, *arguments)["soft"] > 0.5


def test_a_depth_range_gives_codes_their_values(satin, tmp_path):
    codes = np.full((HEIGHT, WIDTH), 51)
    codes[:, 15:] = 204
    write_two_planes(tmp_path, codes)
    at = ("--depth", "map.pgm", "--strength", 3, "--focus-at", "30,10")
    near, far = 4, 0.5  # disparities
    found = report_of(satin, *at, "--depth-range", "4:0.5")
    assert found["focus"] == pytest.approx(far + (near - far) * 0.8)
    assert found["largest_radius"] == pytest.approx(3 * (near - far) * 0.6)
    assert report_of(satin, *at, "--depth-range", "4:0.5", "--invert-depth")["focus"] == pytest.approx(0.5 + 3.5 * 0.2)
    metres = ("--depth-kind", "depth", "--depth-range", "0.5:10")
    found = report_of(satin, *at, *metres)
    assert found["focus"] == pytest.approx(0.5 + 9.5 * 0.8)
    assert found["largest_radius"] == pytest.approx(3 * (1 / 2.4 - 1 / 8.1), abs=1e-3)
    assert report_of(satin, *at, *metres, "--invert-depth")["focus"] == pytest.approx(0.5 + 9.5 * 0.2)
    by_value = ("--depth", "map.pgm", "--strength", 3, "--focus", 2.4, *metres)
    assert report_of(satin, *by_value)["focus"] == 2.4
    # A map of the same values without a range.
    values = (0.5 + 9.5 * codes / 255).astype(np.float32)
    pfm_file.write(tmp_path / "map.pfm", values)
    assert report_of(satin, "--depth", "map.pfm", "--depth-kind", "depth", "--strength", 3, "--focus", 2.4)[
        "largest_radius"] == pytest.approx(report_of(satin, *by_value)["largest_radius"], rel=1e-5)


def test_depth_ranges_that_are_none(satin, tmp_path):
    write_two_planes(tmp_path, np.full((HEIGHT, WIDTH), 51))
    at = ("dof", "in.ppm", "-o", "out.ppm", "--depth", "map.pgm")
    satin.bad(2, *at, "--depth-range", "0.5:10", says=["depth-range 0.5:10", "--depth-kind depth"])
    satin.bad(2, *at, "--depth-range", "10:0.5", "--depth-kind", "depth", says="near comes first")
    satin.bad(2, *at, "--depth-range", "0:5", "--depth-kind", "depth", says="above 0")
    satin.bad(2, *at, "--depth-range", "5:1", "--depth-scale", 2, says="--depth-scale")
    for text in "5", "5:", "5:x", "1:1", "1:2:3", "inf:1":
        satin.bad(2, *at, "--depth-range", text, says=["--depth-range", "A:B"])


def test_a_picture_of_any_size_is_the_aperture(satin, tmp_path):
    pfm_file.write(tmp_path / "in.pfm", np.pad(np.ones((1, 1), np.float32), 40))
    depth = np.full((81, 81), 0.3, np.float32)
    depth[0, 0] = 0.5
    pfm_file.write(tmp_path / "map.pfm", depth)
    (tmp_path / "half.pgm").write_bytes(b"P5\n20 20\n255\n" + (b"\xff" * 10 + bytes(10)) * 20)
    arguments = ("dof", "in.pfm", "-o", "out.pfm", "--depth", "map.pfm", "--focus", 0.5, "--strength", 60)
    satin.good(*arguments, "--aperture", "half.pgm")
    content = (tmp_path / "out.pfm").read_bytes().split(b"\n", 3)[3]
    result = np.frombuffer(content, "<f4").reshape(81, 81)
    columns = result.sum(axis=0)  # half of the circle's 24 pixels, around the lamp
    assert columns.sum() == pytest.approx(1, abs=0.01) and not columns[:33].any() and not columns[48:].any()
    assert (columns * np.arange(81)).sum() / columns.sum() == pytest.approx(40, abs=0.05)
    satin.bad(1, *arguments, "--aperture", "none.pgm", "--overwrite", says=["--aperture", "none.pgm"])
