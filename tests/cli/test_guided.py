"""satin guided: what the command adds to the filter, side inputs and bad input."""
import numpy as np
import pytest

import png_file


def test_a_guide_of_another_type_lends_its_edges(satin, tmp_path):
    """A noisy depth map follows the one edge of the photograph, and is flat on both sides."""
    noise = np.random.default_rng(5).integers(-12, 13, (60, 80))
    depth = np.where(np.arange(80) < 40, 80, 160)[None, :] + noise
    photo = np.zeros((60, 80, 3), np.uint16)
    photo[:, 40:] = (30000, 50000, 20000)
    png_file.write(tmp_path / "depth.png", depth.astype(np.uint8))
    png_file.write(tmp_path / "photo.png", photo)
    satin.good("guided", "depth.png", "-o", "clean.png", "--guide", "photo.png", "--radius", "8", "--eps", "0.0001")
    clean = png_file.read(tmp_path / "clean.png").squeeze().astype(int)
    assert np.abs(clean[:, :40] - 80).max() <= 4
    assert np.abs(clean[:, 40:] - 160).max() <= 4


def test_defaults(satin, tmp_path, noise):
    png_file.write(tmp_path / "a.png", noise((40, 50, 3)))
    satin.good("guided", "a.png", "-o", "default.png")
    satin.good("guided", "a.png", "-o", "told.png", "--radius", "8", "--eps", "0.01", "--border", "shrink")
    assert (tmp_path / "default.png").read_bytes() == (tmp_path / "told.png").read_bytes()


def test_a_pipeline_takes_its_guide_by_name(satin, tmp_path, noise):
    png_file.write(tmp_path / "a.png", noise((30, 20, 3)))
    png_file.write(tmp_path / "g.png", noise((30, 20)))
    satin.good("guided", "a.png", "-o", "one.png", "--guide", "g.png", "--radius", "3")
    satin.good("run", "guided radius=3 guide=g.png", "a.png", "-o", "two.png")
    assert np.array_equal(png_file.read(tmp_path / "one.png"), png_file.read(tmp_path / "two.png"))


@pytest.mark.parametrize("arguments, says", [
    (["--eps", "0"], ["eps", "1e-09"]),
    (["--eps", "nan"], "eps"),
    (["--radius", "2.5"], ["radius", "whole"]),
    (["--radius", "-1"], "radius"),
    (["--border", "constant"], "--border"),
    (["--guide", "missing.png"], "missing.png"),
])
def test_usage_errors(satin, picture, arguments, says):
    code = 1 if "missing.png" in arguments else 2
    satin.bad(code, "guided", "in.png", "-o", "out.png", *arguments, says=says)


def test_a_guide_of_another_size_is_refused(satin, picture, noise):
    png_file.write(satin.folder / "small.png", noise((3, 4)))
    satin.bad(2, "guided", "in.png", "-o", "out.png", "--guide", "small.png", says=["guide", "4 x 3"])


def test_nan_in_the_guide_is_refused(satin, picture):
    array = png_file.read(satin.folder / "in.png")
    guide = np.ones(array.shape[:2], np.float32)
    guide[1, 2] = np.nan
    header = "Pf\n%d %d\n-1.0\n" % (guide.shape[1], guide.shape[0])
    (satin.folder / "guide.pfm").write_bytes(header.encode() + guide[::-1].tobytes())
    satin.bad(1, "guided", "in.png", "-o", "out.png", "--guide", "guide.pfm", says=["guide", "NaN"])
