"""satin run: several filters, one decode, one encode."""
import json

import numpy as np
import pytest

import png_file
from conftest import files_below


def test_the_same_as_two_commands(satin, picture):
    satin.good("blur", "in.png", "-o", "one.png", "--radius", "3", "--border", "wrap")
    satin.good("blur", "one.png", "-o", "two.png", "--sigma", "1.5")
    satin.good("run", "blur radius=3 border=wrap | blur sigma=1.5", "in.png", "-o", "both.png")
    assert (satin.folder / "both.png").read_bytes() == (satin.folder / "two.png").read_bytes()


def test_one_filter_and_any_spaces(satin, picture):
    satin.good("blur", "in.png", "-o", "one.png", "--radius", "3x2", "--space", "encoded")
    for i, text in enumerate(["blur radius=3x2 space=encoded", "  blur\tradius=\"3x2\"   space='encoded'\n "]):
        satin.good("run", text, "in.png", "-o", "%d.png" % i)
        assert (satin.folder / ("%d.png" % i)).read_bytes() == (satin.folder / "one.png").read_bytes()


def test_side_inputs(satin, picture):
    png_file.write(satin.folder / "my mask.png", np.zeros((12, 20), np.uint8))
    satin.good("run", "blur radius=3 mask='my mask.png'|blur radius=2 mask=\"my mask.png\"", "in.png", "-o", "out.png")
    assert np.array_equal(png_file.read(satin.folder / "out.png"), png_file.read(picture))
    satin.bad(1, "run", "blur mask=none.png", "in.png", "-o", "new.png", says="none.png")
    satin.bad(2, "run", "blur mask=in.png", "in.png", "-o", "in.png", "--overwrite", says="same file")


def test_a_table_comes_last(satin, picture):
    satin.good("run", "blur radius=0 | integral squared", "in.png", "-o", "a.npy")
    satin.good("integral", "in.png", "-o", "b.npy", "--squared=true")
    assert (satin.folder / "a.npy").read_bytes() == (satin.folder / "b.npy").read_bytes()
    satin.bad(2, "run", "blur | integral | blur", "in.png", "-o", "c.npy", lines=3,
              says=["olumn 8", "integral"])


def test_json_comes_last(satin, picture, noise):
    satin.good("blur", "in.png", "-o", "soft.png", "--radius", "2")
    satin.good("run", "blur radius=2 | stats bins=3 percentiles=50", "in.png", "-o", "a.json")
    command = json.loads(satin.good("stats", "soft.png", "--bins", "3", "--percentiles", "50", "--json").stdout)
    assert json.loads((satin.folder / "a.json").read_text()) == {"statistics": command["files"][0]["statistics"]}
    regions = json.loads(satin.good("regions", "in.png", "--level", "0.5", "--image", "soft.png").stdout)
    text = satin.good("run", "regions level=0.5 image=soft.png", "in.png", "-o", "-").stdout
    assert json.loads(text) == regions
    png_file.write(satin.folder / "b.png", noise((9, 7, 3)))
    satin.good("run", "bins bins=2", "in.png", "b.png", "-o", "out")
    assert files_below(satin.folder / "out") == ["b.json", "in.json"]
    pixels = [sum(each["count"] for each in json.loads((satin.folder / "out" / name).read_text())["bins"])
              for name in ("in.json", "b.json")]
    assert pixels == [20 * 12, 9 * 7]
    satin.bad(2, "run", "bins bins=2", "in.png", "b.png", "-o", "out", says=["exist", "--overwrite"])
    satin.bad(2, "run", "blur | stats | blur", "in.png", "-o", "c.json", lines=3, says=["olumn 8", "stats", "JSON"])


def test_batch_and_json(satin, noise):
    for name in "abc":
        png_file.write(satin.folder / (name + ".png"), noise((9, 7, 3)))
    result = satin.good("run", "blur radius=1 | blur radius=2", "a.png", "b.png", "c.png", "-o", "out", "--json")
    report = json.loads(result.stdout)
    assert [step["parameters"]["radius"] for step in report["steps"]] == ["1", "2"]
    assert files_below(satin.folder / "out") == ["a.png", "b.png", "c.png"]


@pytest.mark.parametrize("text, column, says", [
    ("", 1, "filter"),
    ("blur |", 7, "filter"),
    ("| blur", 1, "filter"),
    ("blurr radius=8", 1, "'blur'"),
    ("blur radus=8", 6, "'radius'"),
    ("blur msk=a.png", 6, "'mask'"),
    ("blur radius=3 | blur radius=-1", 22, "16384"),
    ("blur radius=3 kernel=gausian", 15, "gaussian"),
    ("blur radius", 6, "radius="),
    ("blur radius=", 6, "radius"),
    ("blur =3", 6, "setting"),
    ("blur mask='a.png", 11, "quote"),
    ("blur radius=8x", 6, "8x"),
])
def test_errors_tell_the_column(satin, picture, text, column, says):
    result = satin.bad(2, "run", text, "in.png", "-o", "out.png", lines=4, says=["olumn %d " % column, says])
    shown, caret = result.error.rstrip("\n").splitlines()[-2:]
    assert shown == "  " + text and caret == " " * (column + 1) + "^"
    assert files_below(satin.folder) == ["in.png"]


def test_missing_operands(satin, picture):
    satin.bad(2, "run", says="PIPELINE")
    satin.bad(2, "run", "blur", "-o", "out.png", says="input")
    satin.bad(2, "run", "blur", "in.png", says="-o")
