"""satin dof with several values of focus or strength: a series of pictures from one depth."""
import json
import os

import numpy as np
import pytest

import png_file
from conftest import files_below

WIDTH, HEIGHT = 48, 36


@pytest.fixture
def scene(tmp_path, noise):
    """in.png and depth.pgm: codes 40 to 220 from the left to the right."""
    png_file.write(tmp_path / "in.png", noise((HEIGHT, WIDTH, 3)))
    codes = np.tile(np.linspace(40, 220, WIDTH).astype(np.uint8), (HEIGHT, 1))
    (tmp_path / "depth.pgm").write_bytes(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + codes.tobytes())
    return tmp_path


def dof(*arguments):
    return ("dof", "in.png", "--depth", "depth.pgm", *arguments)


def single(satin, *arguments):
    satin.good(*dof("-o", "single.png", "--overwrite", *arguments))
    return (satin.folder / "single.png").read_bytes()


@pytest.mark.parametrize("median", [0, 2])
def test_a_series_makes_what_single_runs_make(satin, scene, median):
    more = ("--depth-despeckle", median)
    satin.good(*dof("-o", "out_{index}.png", "--focus", "0.3,0.5,0.8", "--strength", "10,0.5,12", *more))
    for index, focus, strength in (1, 0.3, 10), (2, 0.5, 0.5), (3, 0.8, 12):
        expected = single(satin, "--focus", focus, "--strength", strength, *more)
        assert (scene / ("out_%d.png" % index)).read_bytes() == expected


def test_a_range_has_steps_and_numbers_of_one_width(satin, scene):
    result = satin.good(*dof("-o", "out_{index}.png", "--focus", "0.2..0.8/11", "--strength", 9, "--json", "--quiet"))
    rows = json.loads(result.stdout)["files"]
    assert [row["output"] for row in rows] == ["out_%02d.png" % index for index in range(1, 12)]
    assert [row["index"] for row in rows] == list(range(1, 12))
    assert [row["found"]["focus"] for row in rows] == pytest.approx(np.linspace(0.2, 0.8, 11))
    assert "focus=0.26" in rows[1]["pipeline"] and "strength=9" in rows[1]["pipeline"]
    assert (scene / "out_04.png").read_bytes() == single(satin, "--focus", 0.38, "--strength", 9)
    assert (scene / "out_01.png").read_bytes() != (scene / "out_11.png").read_bytes()


def test_strengths_in_percent(satin, scene):
    satin.good(*dof("-o", "s{index}.png", "--strength", "5%..25%/3"))
    for index, strength in enumerate(("5%", "15%", "25%"), 1):
        assert (scene / ("s%d.png" % index)).read_bytes() == single(satin, "--strength", strength)


def test_every_picture_of_a_folder_has_its_series(satin, scene, noise):
    (scene / "photos").mkdir()
    for seed, name in enumerate(("a", "b")):
        png_file.write(scene / "photos" / (name + ".png"), noise((HEIGHT, WIDTH, 3), seed=seed + 5))
        codes = np.tile(np.linspace(40 + 50 * seed, 220, WIDTH).astype(np.uint8), (HEIGHT, 1))
        (scene / "photos" / (name + "_z.pgm")).write_bytes(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + codes.tobytes())
    inputs = ("dof", "photos/a.png", "photos/b.png", "--depth", "{dir}/{stem}_z.pgm", "--strength", 14)
    satin.good(*inputs, "-o", "out/{stem}_{index}.png", "--focus", "0.4,0.7")
    assert files_below(scene / "out") == ["a_1.png", "a_2.png", "b_1.png", "b_2.png"]
    for index, focus in (1, 0.4), (2, 0.7):
        satin.good(*inputs, "-o", "one%d/" % index, "--focus", focus)
        for name in "a", "b":
            expected = (scene / ("one%d" % index) / (name + ".png")).read_bytes()
            assert (scene / "out" / ("%s_%d.png" % (name, index))).read_bytes() == expected


def test_the_input_and_the_depth_are_read_once(satin, scene):
    """A second read of a named pipe would wait for ever."""
    os.mkfifo(scene / "pipe.png")
    content = (scene / "in.png").read_bytes()
    process = satin.start("dof", "pipe.png", "--depth", "depth.pgm", "-o", "out_{index}.png", "--focus", "0.3,0.5,0.7")
    (scene / "pipe.png").write_bytes(content)
    assert process.wait(60) == 0, process.stderr.read()
    assert (scene / "out_3.png").read_bytes() == single(satin, "--focus", 0.7)


def test_existing_outputs_and_those_that_are_made_already(satin, scene):
    series = dof("-o", "out/{index}.png", "--focus", "0.3,0.5,0.7")
    satin.good(*series, "--resume")
    satin.bad(2, *series, says="2 more exist")
    (scene / "out" / "2.png").unlink()
    rows = json.loads(satin.good(*series, "--resume", "--json", "--quiet").stdout)["files"]
    assert [row["status"] for row in rows] == ["unchanged", "done", "unchanged"]
    changed = dof("-o", "out/{index}.png", "--focus", "0.3,0.6,0.7")
    rows = json.loads(satin.good(*changed, "--resume", "--json", "--quiet").stdout)["files"]
    assert [row["status"] for row in rows] == ["unchanged", "done", "unchanged"]
    assert "out/3.png" in satin.good(*series, "--overwrite", "--dry-run").stdout.decode()


@pytest.mark.parametrize("output", ["out.png", "out/", "{stem}_soft.png"])
def test_one_name_for_a_series_is_refused(satin, scene, output):
    satin.bad(2, *dof("-o", output, "--focus", "0.2,0.4"), says=["{index}", output.rstrip("/")])
    assert not (scene / "out.png").exists()


def test_what_is_no_series(satin, scene):
    satin.bad(2, *dof("-o", "{index}.png", "--focus", "0.2,0.4", "--strength", "1,2,3"), says=["2 values", "strength 3"])
    satin.bad(2, *dof("-o", "{index}.png", "--focus", "0.2..0.4"), says=["--focus", "/5"])
    satin.bad(2, *dof("-o", "{index}.png", "--focus", "0.2..0.4/1"), says=["--focus", "2 to 9999"])
    satin.bad(2, *dof("-o", "{index}.png", "--strength", "1%..4/3"), says=["--strength", "%"])
    satin.bad(2, *dof("-o", "{index}.png", "--focus", "0.2,x"), says=["--focus", "x"])
    satin.bad(2, *dof("-o", "{index}.png", "--focus", "0.2"), says=["{index}", "--focus 0.2,0.4"])
    satin.bad(2, *dof("-o", "out.png", "--max-radius", "8,9"), says="max-radius")
