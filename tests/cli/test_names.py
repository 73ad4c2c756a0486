"""The files that a batch finds, and the names of its results."""
import json
import os

import numpy as np
import pytest

import png_file
from blurred_folder import BLUR, check, fill
from conftest import files_below
from oracle import box_blur

PHOTOS = ["photos/a.png", "photos/b.PNG", "photos/2024/c.png", "photos/2024/may/d.png", "photos/.hidden/e.png",
          "photos/2024/.f.png"]


@pytest.mark.parametrize("pattern, expected", [
    ("photos/*.png", ["a.png"]),
    ("photos/?.[pP][nN][gG]", ["a.png", "b.PNG"]),
    ("photos/**/*.png", ["a.png", "2024/c.png", "2024/may/d.png"]),
    ("photos/**", ["a.png", "b.PNG", "2024/c.png", "2024/may/d.png"]),
    ("photos/**/**/c*", ["2024/c.png"]),
    ("photos/2*/*/*.png", ["2024/may/d.png"]),
    ("photos/.hidden/*.png", ["e.png"]),
    ("photos/**/may/*", ["2024/may/d.png"]),
])
def test_patterns_are_expanded(satin, noise, pattern, expected):
    arrays = fill(satin.folder, noise, PHOTOS)
    (satin.folder / "photos" / "notes.txt").write_text("no picture")
    satin.good("blur", pattern, "-o", "out", *BLUR)
    fixed = pattern.split("*")[0].split("?")[0].rsplit("/", 1)[0]
    below = {name[len(fixed) + 1:]: array for name, array in arrays.items() if name.startswith(fixed + "/")}
    if fixed == "photos":
        check(satin.folder / "out", {name: below[name] for name in expected})
    else:
        assert len(files_below(satin.folder / "out")) == len(expected)


def test_pattern_that_matches_nothing(satin, noise):
    fill(satin.folder, noise, PHOTOS)
    satin.bad(1, "blur", "photos/*.jpg", "-o", "out", says="photos/*.jpg")
    assert not (satin.folder / "out").exists()


def test_a_file_whose_name_looks_like_a_pattern(satin, noise):
    arrays = fill(satin.folder, noise, ["[a]*.png", "a.png"])
    del arrays["a.png"]
    satin.good("blur", "[a]*.png", "-o", "out/", *BLUR)
    check(satin.folder / "out", arrays)


def test_loops_of_links_end(satin, noise):
    arrays = fill(satin.folder, noise, ["in/a.png", "in/deep/b.png"])
    os.symlink("..", satin.folder / "in" / "deep" / "up")
    os.symlink("loop.png", satin.folder / "in" / "loop.png")
    expected = {name[3:]: array for name, array in arrays.items()}
    satin.good("blur", "in", "-r", "-o", "one", *BLUR)
    check(satin.folder / "one", expected)
    satin.good("blur", "in/**/*.png", "-o", "two", *BLUR)
    check(satin.folder / "two", expected)
    satin.bad(1, "blur", "in/loop.png", "-o", "three.png", says="loop.png")


@pytest.mark.parametrize("source", ["-", "list"])
@pytest.mark.parametrize("zero", [False, True])
def test_list_of_files(satin, noise, source, zero):
    arrays = fill(satin.folder, noise, ["a.png", "with space.png", "b.png"] + (["new\nline.png"] if zero else []))
    text = "".join(name + ("\0" if zero else "\n") for name in arrays).encode()
    (satin.folder / "list").write_bytes(text)
    satin.good("blur", "--files-from", source, "-o", "out", *BLUR, *(["-0"] if zero else []),
               stdin=text if source == "-" else b"")
    check(satin.folder / "out", arrays)


def test_list_beside_arguments_and_without_a_last_end(satin, noise):
    arrays = fill(satin.folder, noise, ["a.png", "b.png", "c.png"])
    satin.good("blur", "c.png", "--files-from", "-", "-o", "out", *BLUR, stdin=b"a.png\r\n\nb.png")
    check(satin.folder / "out", arrays)


def test_lists_that_are_wrong(satin, picture):
    satin.bad(1, "blur", "--files-from", "none", "-o", "out", says="none")
    satin.bad(2, "blur", "--files-from", "-", "-o", "out", says="names no file")
    satin.bad(2, "blur", "in.png", "-0", "-o", "out/", says="--files-from")
    satin.bad(2, "blur", "-", "--files-from", "-", "-o", "out", says="tandard input")


def test_output_patterns(satin, noise):
    arrays = fill(satin.folder, noise, ["x/a.png", "x/y/b.png"])
    satin.good("blur", "x", "-r", "-o", "{dir}/{stem}_soft.{ext}", *BLUR)
    for name in arrays:
        assert np.array_equal(png_file.read(satin.folder / (name[:-4] + "_soft.png")), box_blur(arrays[name], 2))
    satin.good("blur", "x/a.png", "x/y/b.png", "-o", "new/{dir}/{{1}}-{name}", *BLUR)
    assert files_below(satin.folder / "new") == ["x/y/{1}-b.png", "x/{1}-a.png"]
    satin.good("blur", "x/**/?.png", "-o", "tree/{sub}/{stem}.bmp", *BLUR)
    assert files_below(satin.folder / "tree") == ["a.bmp", "y/b.bmp"]
    assert (satin.folder / "tree" / "a.bmp").read_bytes()[:2] == b"BM"
    satin.good("blur", "x/a.png", "-o", "one/{stem}.{ext}", "--format", "bmp", *BLUR)
    assert files_below(satin.folder / "one") == ["a.bmp"]


@pytest.mark.parametrize("output, says", [
    ("{stm}.png", "{stem}"), ("{stem.png", "brace"), ("stem}.png", "brace"), ("{stem}", "extension"),
    ("out/one.{ext}", "out/one.png"), ("{dir}/{name}", "same file")])
def test_output_patterns_that_are_wrong(satin, noise, output, says):
    fill(satin.folder, noise, ["a.png", "b.png"])
    satin.bad(2, "blur", "a.png", "b.png", "-o", output, "--overwrite", says=says)
    assert files_below(satin.folder) == ["a.png", "b.png"]


def test_a_jpg_and_a_png_to_one_name(satin, noise):
    fill(satin.folder, noise, ["a.png"])
    satin.good("blur", "a.png", "-o", "a.jpg")
    before = (satin.folder / "a.png").read_bytes()
    satin.bad(2, "blur", "a.jpg", "a.png", "-o", "out", "--format", "png", says=["a.jpg", "a.png", "both"])
    satin.bad(2, "blur", "a.jpg", "a.png", "-o", "out/{stem}.png", says=["a.jpg", "a.png", "both"])
    satin.bad(2, "blur", "a.jpg", "-o", "{stem}.png", says=["a.png", "--overwrite"])
    assert files_below(satin.folder) == ["a.jpg", "a.png"]
    assert (satin.folder / "a.png").read_bytes() == before


def test_outputs_in_folders_that_are_one_through_links(satin, noise):
    fill(satin.folder, noise, ["x/a.png", "y/a.png"])
    (satin.folder / "out" / "x").mkdir(parents=True)
    os.symlink("x", satin.folder / "out" / "y")
    satin.bad(2, "blur", "x/a.png", "y/a.png", "-o", "out/{dir}/{name}", says=["x/a.png", "y/a.png", "both"])
    assert files_below(satin.folder / "out") == []


def test_side_inputs_by_pattern(satin, noise):
    arrays = fill(satin.folder, noise, ["in/a.png", "in/b.png"], (5, 7, 3))
    png_file.write(satin.folder / "in" / "a_mask.png", np.zeros((5, 7), np.uint8))
    png_file.write(satin.folder / "in" / "b_mask.png", np.full((5, 7), 255, np.uint8))
    satin.good("blur", "in/?.png", "-o", "out", "--mask", "{dir}/{stem}_mask.png", *BLUR)
    assert np.array_equal(png_file.read(satin.folder / "out" / "a.png"), arrays["in/a.png"])
    assert np.array_equal(png_file.read(satin.folder / "out" / "b.png"), box_blur(arrays["in/b.png"], 2))
    satin.good("run", "blur radius=2 space=encoded mask={dir}/{stem}_mask.png", "in/?.png", "-o", "run")
    for name in files_below(satin.folder / "out"):
        assert (satin.folder / "out" / name).read_bytes() == (satin.folder / "run" / name).read_bytes()
    os.remove(satin.folder / "in" / "b_mask.png")
    result = satin("blur", "in/?.png", "-o", "new", "--mask", "{dir}/{stem}_mask.png", *BLUR)
    assert result.returncode == 1 and "b_mask.png" in result.error
    assert files_below(satin.folder / "new") == ["a.png"]
    satin.bad(2, "blur", "in/?.png", "-o", "new2", "--mask", "{folder}/x.png", says="{folder}")
    satin.bad(2, "blur", "in/a.png", "-o", "{dir}/{stem}_mask.{ext}", "--overwrite",
              "--mask", "{dir}/{stem}_mask.png", says="side input")


@pytest.mark.parametrize("parts", [2, 5])
def test_shards_are_disjoint_complete_and_stable(satin, noise, parts):
    arrays = fill(satin.folder / "in", noise, ["%02d.png" % i for i in range(23)])
    owner = {}
    for part in range(1, parts + 1):
        satin.good("blur", "in", "-o", "out%d" % part, "--shard", "%d/%d" % (part, parts), *BLUR)
        out = satin.folder / ("out%d" % part)
        for name in files_below(out) if out.exists() else []:
            assert name not in owner
            owner[name] = part
            assert np.array_equal(png_file.read(out / name), box_blur(arrays[name], 2))
    assert sorted(owner) == sorted(arrays) and len(set(owner.values())) > 1
    for name in list(arrays)[::2]:
        os.remove(satin.folder / "in" / name)
    result = satin.good("blur", "in", "-o", "new", "--shard", "1/%d" % parts, "--dry-run", "--json")
    seen = {json.loads(line)["input"][3:] for line in result.stdout.splitlines()}
    assert seen == {name for name in list(arrays)[1::2] if owner[name] == 1}


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2"])
def test_shards_that_are_wrong(satin, picture, text):
    satin.bad(2, "blur", "in.png", "-o", "out.png", "--shard", text, says="--shard")


def test_a_collision_between_shards_is_found(satin, noise):
    fill(satin.folder, noise, ["x/a.png", "y/a.png"])
    for part in "12":
        satin.bad(2, "blur", "x", "y", "-o", "out", "--shard", part + "/2", says="both")


def test_names_of_any_bytes_come_back_in_the_report(satin, noise):
    name = b"caf\xe9\n.png"
    png_file.write(satin.folder / os.fsdecode(name), noise((3, 4)))
    satin.good("blur", os.fsdecode(name), "-o", "out/", "--report", "report.jsonl")
    first, _ = (satin.folder / "report.jsonl").read_text().splitlines()
    assert bytes.fromhex(json.loads(first)["input_bytes"]) == name
    result = satin("blur", os.fsdecode(b"no\n\x1b[31m.png"), "-o", "new.png")
    assert result.returncode == 1 and "\x1b" not in result.error and "no\\n\\x1b[31m.png" in result.error


def test_commands_that_only_look_take_lists_and_patterns(satin, noise):
    fill(satin.folder, noise, ["x/a.png", "x/y/b.png"], shape=(5, 7))
    for command in ("stats", "regions"):
        for arguments, stdin in ([("x/**/*.png",), b""], [("--files-from", "-"), b"x/a.png\nx/y/b.png\n"]):
            report = json.loads(satin.good(command, *arguments, "--json", stdin=stdin).stdout)
            assert len(report["files"]) == 2
