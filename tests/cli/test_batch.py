"""Several files and folders."""
import json
import os

import numpy as np
import pytest

import png_file
from blurred_folder import BLUR, check, fill
from conftest import files_below


def test_several_files(satin, noise):
    arrays = fill(satin.folder, noise, ["a.png", "b.png", "c.png"])
    satin.good("blur", "a.png", "b.png", "c.png", "-o", "out", *BLUR)
    check(satin.folder / "out", arrays)


def test_folder(satin, noise):
    arrays = fill(satin.folder / "in", noise, ["b.png", "a.PNG", "sub/c.png"])
    (satin.folder / "in" / ".hidden.png").write_bytes(b"no picture")
    (satin.folder / "in" / "notes.txt").write_text("no picture")
    satin.good("blur", "in", "-o", "out", *BLUR)
    deep = arrays.pop("sub/c.png")
    check(satin.folder / "out", arrays)
    satin.good("blur", "in", "-o", "deep/out", "--recursive", *BLUR)
    check(satin.folder / "deep" / "out", {**arrays, "sub/c.png": deep})


def test_output_folder_below_the_input_folder(satin, noise):
    arrays = fill(satin.folder / "in", noise, ["a.png", "b.png"])
    for _ in range(2):
        satin.good("blur", "in", "-o", "in/out", "--recursive", "--overwrite", *BLUR)
        check(satin.folder / "in" / "out", arrays)


def test_one_file_into_a_folder(satin, noise):
    arrays = fill(satin.folder, noise, ["a.png"])
    satin.good("blur", "a.png", "-o", "new/folder/", *BLUR)
    check(satin.folder / "new" / "folder", arrays)
    (satin.folder / "there").mkdir()
    satin.good("blur", "a.png", "-o", "there", *BLUR)
    check(satin.folder / "there", arrays)


def test_pictures_of_many_shapes(satin, noise):
    shapes = [(5, 7, 3), (7, 5, 3), (5, 7), (1, 1, 4), (5, 7, 3), (30, 2), (7, 5, 3)]
    arrays = {}
    for i, shape in enumerate(shapes):
        arrays["%d.png" % i] = noise(shape, seed=i)
        if shape[-1] == 4:
            arrays["%d.png" % i][..., 3] = 255
        png_file.write(satin.folder / ("%d.png" % i), arrays["%d.png" % i])
    satin.good("blur", *sorted(arrays), "-o", "out", *BLUR)
    check(satin.folder / "out", arrays)


def test_one_bad_file_among_good_ones(satin, noise):
    arrays = fill(satin.folder, noise, ["a.png", "c.png"])
    (satin.folder / "b.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    result = satin("blur", "a.png", "b.png", "missing.png", "c.png", "-o", "out", *BLUR)
    assert result.returncode == 1
    assert "b.png" in result.error and "missing.png" in result.error and "2 of 4" in result.error
    check(satin.folder / "out", arrays)


def test_two_inputs_with_one_output(satin, noise):
    fill(satin.folder, noise, ["one/a.png", "two/a.png"])
    satin.bad(2, "blur", "one/a.png", "two/a.png", "-o", "out", says=["one/a.png", "two/a.png", "out/a.png"])
    satin.bad(2, "blur", "one", "two", "-o", "out", says="a.png")
    satin.bad(2, "blur", "one/a.png", "./one/a.png", "-o", "out", says="a.png")
    assert not (satin.folder / "out").exists()


def test_outputs_that_are_links_to_one_file(satin, noise):
    fill(satin.folder, noise, ["a.png", "b.png"])
    (satin.folder / "out").mkdir()
    (satin.folder / "out" / "b.png").write_bytes(b"precious")
    os.symlink("b.png", satin.folder / "out" / "a.png")
    satin.bad(2, "blur", "a.png", "b.png", "-o", "out", "--overwrite", says=["a.png", "b.png", "both"])
    assert (satin.folder / "out" / "b.png").read_bytes() == b"precious"


def test_other_format(satin, noise):
    fill(satin.folder, noise, ["a.png", "b.png"])
    satin.good("blur", "a.png", "b.png", "-o", "out", "--format", "bmp")
    assert files_below(satin.folder / "out") == ["a.bmp", "b.bmp"]
    satin.good("integral", "a.png", "b.png", "-o", "tables")
    assert files_below(satin.folder / "tables") == ["a.npy", "b.npy"]


def test_existing_outputs_are_refused_before_work(satin, noise):
    arrays = fill(satin.folder, noise, ["a.png", "b.png"])
    (satin.folder / "out").mkdir()
    (satin.folder / "out" / "b.png").write_bytes(b"precious")
    satin.bad(2, "blur", "a.png", "b.png", "-o", "out", *BLUR, says=["out/b.png", "--overwrite"])
    assert files_below(satin.folder / "out") == ["b.png"]
    assert (satin.folder / "out" / "b.png").read_bytes() == b"precious"
    satin.good("blur", "a.png", "b.png", "-o", "out", *BLUR, "--overwrite")
    check(satin.folder / "out", arrays)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_output_is_another_input(satin, noise, link):
    fill(satin.folder, noise, ["a.png", "b.png"])
    before = (satin.folder / "b.png").read_bytes()
    (satin.folder / "out").mkdir()
    link(satin.folder / "b.png", satin.folder / "out" / "a.png")
    satin.bad(2, "blur", "a.png", "b.png", "-o", "out", "--overwrite", says=["same file", "b.png"])
    satin.bad(2, "blur", "a.png", "b.png", "-o", ".", "--overwrite", says="same file")
    assert (satin.folder / "b.png").read_bytes() == before


def test_several_files_into_one_file(satin, noise):
    fill(satin.folder, noise, ["a.png", "b.png"])
    satin.bad(2, "blur", "a.png", "b.png", "-o", "out.png", says=["folder", "out.png"])
    satin.bad(2, "blur", "a.png", "b.png", "-o", "-", "--format", "png", says="tandard output")
    (satin.folder / "taken").write_bytes(b"precious")
    satin.bad(2, "blur", "a.png", "b.png", "-o", "taken", says="taken")
    assert (satin.folder / "taken").read_bytes() == b"precious"


def test_mask_of_another_size_for_some(satin, noise):
    fill(satin.folder, noise, ["a.png", "b.png"])
    fill(satin.folder, noise, ["c.png"], shape=(4, 5, 3))
    png_file.write(satin.folder / "mask.png", np.full((9, 14), 255, np.uint8))
    result = satin("blur", "a.png", "c.png", "b.png", "-o", "out", "--mask", "mask.png")
    assert result.returncode == 1
    assert "c.png" in result.error and "5 x 4" in result.error and "14 x 9" in result.error
    assert files_below(satin.folder / "out") == ["a.png", "b.png"]


def test_json(satin, noise):
    fill(satin.folder, noise, ["a.png", "b.png"])
    (satin.folder / "bad \"\n.png").write_bytes(b"broken")
    result = satin("blur", "a.png", "bad \"\n.png", "b.png", "-o", "out", "--json", "--radius", "3")
    assert result.returncode == 1
    report = json.loads(result.stdout)
    assert [entry["status"] for entry in report["files"]] == ["done", "failed", "done"]
    first, bad, _ = report["files"]
    assert (first["input"], first["output"]) == ("a.png", "out/a.png")
    assert (first["width"], first["height"], first["channels"], first["type"]) == (14, 9, 3, "u8")
    assert first["seconds"] >= 0
    assert bad["error"]["kind"] == "input" and bad["error"]["message"]
    summary = report["summary"]
    assert (summary["total"], summary["done"], summary["failed"], summary["not_started"]) == (3, 2, 1, 0)
    assert report["exit_code"] == 1 and report["device"]["id"]
    assert report["steps"][0]["filter"] == "blur" and report["steps"][0]["parameters"]["radius"] == "3"


def test_json_of_a_usage_error(satin):
    result = satin.bad(2, "blur", "a.png", "-o", "b.png", "--json", "--radius", "x", says="--radius")
    report = json.loads(result.stdout)
    assert report["exit_code"] == 2 and report["error"]["kind"] == "usage"


def test_names_that_are_not_text(satin, noise):
    name = os.fsdecode(b"caf\xe9 [1,2].png")
    png_file.write(satin.folder / name, noise((3, 4)))
    result = satin.good("blur", name, "-o", "out/", "--json")
    assert "\ufffd" in json.loads(result.stdout)["files"][0]["input"]
    assert files_below(satin.folder / "out") == [name]


def test_several_devices_share_the_files(satin, noise):
    arrays = fill(satin.folder / "in", noise, ["%d.png" % i for i in range(9)])
    result = satin.good("blur", "in", "-o", "out", *BLUR, "--device", "cpu,cpu", "--json")
    check(satin.folder / "out", arrays)
    assert json.loads(result.stdout)["other_devices"] == ["cpu"]
    satin.bad(2, "blur", "in", "-o", "new", "--device", "cpu,", says="cuda:N")
    satin.bad(2, "blur", "in", "-o", "new", "--device", "cpu,gpu", says="'gpu'")
    satin.bad(3, "blur", "in", "-o", "new", "--device", "cpu,cuda:99", says="cuda")
    assert not (satin.folder / "new").exists()


def no_pictures(folder):
    for name in ["IMG_1.DNG", "b.gif", "c.psd"]:
        (folder / name).write_bytes(b"no picture")


def test_what_a_folder_holds_beside_pictures_is_counted_and_named(satin, noise):
    arrays = fill(satin.folder / "in", noise, ["a.png"])
    no_pictures(satin.folder / "in")
    names = ["in/IMG_1.DNG", "in/b.gif", "in/c.psd"]
    result = satin.good("blur", "in", "-o", "out", "--report", "report", "--gallery", "page.html", "--json", *BLUR)
    check(satin.folder / "out", arrays)
    told = "3 files are not pictures that Satin reads: 'in/IMG_1.DNG', 'in/b.gif', 'in/c.psd'."
    assert told in result.stderr.decode()
    report = json.loads((satin.folder / "report").read_text().splitlines()[-1])
    for summary in report["summary"], json.loads(result.stdout)["summary"]:
        assert summary["unread"] == names and summary["total"] == 1
    page = (satin.folder / "page.html").read_text()
    assert "3 files are not pictures" in page and "IMG_1.DNG" in page
    assert told in satin.good("blur", "in", "-o", "x", "--dry-run", *BLUR).stderr.decode()
    foreseen = satin.good("blur", "in", "-o", "x", "--dry-run", "--json", *BLUR)
    assert json.loads(foreseen.stdout.splitlines()[-1]) == {"unread": names}
    for analysis in "stats", "regions":
        result = satin.good(analysis, "in", "--json")
        assert told in result.stderr.decode() and json.loads(result.stdout)["unread"] == names
    (satin.folder / "in" / "a.png").unlink()
    satin.bad(1, "blur", "in", "-o", "x", *BLUR, says=["no picture in", told])


@pytest.mark.parametrize("inputs", [["in/a.png", "in/IMG_1.DNG", "in/b.gif", "in/c.psd"], ["in/*"]],
                         ids=["named", "globbed"])
def test_pictures_among_files_that_are_none(satin, noise, inputs):
    arrays = fill(satin.folder / "in", noise, ["a.png"])
    no_pictures(satin.folder / "in")
    result = satin("blur", *inputs, "-o", "out", *BLUR)
    assert result.returncode == 1 and b"3 of 4 files failed." in result.stderr and b"IMG_1.DNG" in result.stderr
    check(satin.folder / "out", arrays)
