"""satin mask: small masks against results drawn by hand."""
import numpy as np
import pytest

import png_file


def masked(satin, rows, *options):
    """Rows of '#' inside and '.' outside, in and out; other greys come out as they are."""
    array = np.array([[255 if c == "#" else 0 for c in row] for row in rows], np.uint8)
    png_file.write(satin.folder / "in.png", array)
    satin.good("mask", "in.png", "-o", "out.png", "--overwrite", *options)
    return png_file.read(satin.folder / "out.png").squeeze()


def drawn(array):
    return ["".join("#" if value else "." for value in row) for row in array]


POINT = [".......", ".......", ".......", "...#...", ".......", ".......", "......."]


@pytest.mark.parametrize("options, expected", [
    (["--grow", "1"], [".......", ".......", "...#...", "..###..", "...#...", ".......", "......."]),
    (["--grow", "1.5"], [".......", ".......", "..###..", "..###..", "..###..", ".......", "......."]),
    (["--grow", "2", "--shape", "disc"],
     [".......", "...#...", "..###..", ".#####.", "..###..", "...#...", "......."]),
    (["--grow", "2", "--shape", "box"],
     [".......", ".#####.", ".#####.", ".#####.", ".#####.", ".#####.", "......."]),
    (["--grow", "2", "--shrink", "2"], POINT),
    (["--shrink", "1"], ["......."] * 7),
    (["--grow", "10"], ["#######"] * 7),
    (["--grow", "10", "--invert"], ["......."] * 7),
])
def test_shapes(satin, options, expected):
    assert drawn(masked(satin, POINT, *options)) == expected


HOLES = ["#####...",
         "#.#.#.#.",
         "###.###.",
         "#..##.#.",
         "#######."]


@pytest.mark.parametrize("options, expected", [
    (["--fill-holes", "1"],
     ["#####...", "###.#.#.", "###.###.", "#..####.", "#######."]),
    (["--fill-all-holes"],
     ["#####...", "#####.#.", "#######.", "#######.", "#######."]),
    (["--fill-all-holes", "--connectivity", "4"],
     ["#####...", "#####.#.", "#######.", "#######.", "#######."]),
    (["--min-area", "50"], ["........"] * 5),
])
def test_holes_and_specks(satin, options, expected):
    assert drawn(masked(satin, HOLES, *options)) == expected


def test_specks_by_sides_or_by_corners(satin):
    rows = ["#....", ".#...", "...#.", "....."]
    assert drawn(masked(satin, rows, "--min-area", "2")) == ["#....", ".#...", ".....", "....."]
    assert drawn(masked(satin, rows, "--min-area", "2", "--connectivity", "4")) == ["....."] * 4


def test_feather(satin):
    rows = ["....####"]
    assert masked(satin, rows, "--feather", "4").tolist() == [0, 0, 32, 96, 159, 223, 255, 255]
    assert masked(satin, rows, "--feather", "4", "--feather-side", "inward").tolist() == [
        0, 0, 0, 0, 32, 96, 159, 223]
    assert masked(satin, rows, "--feather", "4", "--feather-side", "outward", "--invert").tolist() == [
        223, 159, 96, 32, 0, 0, 0, 0]


def test_pictures_become_masks(satin, tmp_path, noise):
    array = noise((20, 30, 3), np.uint16)
    png_file.write(tmp_path / "a.png", array)
    satin.good("mask", "a.png", "-o", "out.png", "--level", "0.25")
    luminance = (array.astype(np.int64) @ np.array([2126, 7152, 722]) + 5000) // 10000
    assert np.array_equal(png_file.read(tmp_path / "out.png").squeeze(),
                          np.where(luminance > 0.25 * 65535, 255, 0))


def test_in_a_pipeline(satin, tmp_path, noise):
    png_file.write(tmp_path / "a.png", noise((20, 30)))
    satin.good("run", "mask min-area=3 | mask grow=2 feather=3", "a.png", "-o", "piped.png")
    satin.good("mask", "a.png", "-o", "one.png", "--min-area", "3", "--grow", "2", "--feather", "3")
    assert (tmp_path / "piped.png").read_bytes() == (tmp_path / "one.png").read_bytes()


@pytest.mark.parametrize("arguments, says", [
    (["--grow", "-1"], "--grow"),
    (["--grow", "nan"], "--grow"),
    (["--shrink", "16385"], ["--shrink", "16384"]),
    (["--open", "2.5", "--shape", "box"], ["open 2.5", "whole"]),
    (["--shape", "disk"], "disc"),
    (["--fill-holes", "all"], "--fill-holes"),
    (["--connectivity", "6"], ["--connectivity", "4, 8"]),
    (["--fether", "2"], "feather"),
])
def test_usage_errors(satin, picture, arguments, says):
    satin.bad(2, "mask", "in.png", "-o", "out.png", *arguments, says=says)
