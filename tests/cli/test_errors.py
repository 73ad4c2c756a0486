"""Exit codes and messages of everything that can be wrong with a command line or a file."""
import os
import struct
import subprocess

import numpy as np
import pytest

import exr_file
import png_file
import tiff_file
from conftest import BINARY, FULL_CODECS, files_below

BLUR = ("blur", "in.png", "-o", "out.png")


def test_missing_input(satin):
    satin.bad(1, "blur", "none.png", "-o", "out.png", says=["none.png", "not exist"])
    assert files_below(satin.folder) == []


def test_empty_folder(satin):
    (satin.folder / "pictures").mkdir()
    satin.bad(1, "blur", "pictures", "-o", "results/", says="pictures")
    assert not (satin.folder / "results").exists()


def test_folder_into_a_file(satin, picture):
    satin.bad(2, "blur", ".", "-o", "out.png", says=["folder", "out.png"])
    (satin.folder / "taken").write_bytes(b"x")
    satin.bad(2, "blur", ".", "-o", "taken", says="taken")


def test_folder_as_map(satin, picture):
    (satin.folder / "map").mkdir()
    satin.bad(1, *BLUR, "--radius-map", "map", "--radius-max", "8", says=["radius-map", "folder"])


@pytest.mark.parametrize("content", [b"", b"no picture at all", b"\x89PNG\r\n\x1a\nbroken"])
def test_unreadable_content(satin, content):
    (satin.folder / "bad.png").write_bytes(content)
    satin.bad(1, "blur", "bad.png", "-o", "out.png", says="bad.png")
    assert files_below(satin.folder) == ["bad.png"]


def test_truncated_png(satin, noise):
    data = png_file.encode(noise((64, 64, 3)))
    (satin.folder / "cut.png").write_bytes(data[: len(data) // 2])
    satin.bad(1, "blur", "cut.png", "-o", "out.png", says="cut.png")
    assert files_below(satin.folder) == ["cut.png"]


@pytest.mark.skipif(not FULL_CODECS, reason="TIFF is read by libtiff")
@pytest.mark.parametrize("name", ["x.npy", "x.tif"])
@pytest.mark.parametrize("dtype", ["u4", "u8", "f8"])
def test_types_that_no_filter_takes(satin, picture, name, dtype):
    values = np.ones((12, 20), dtype)
    np.save(satin.folder / "x.npy", values)
    tiff_file.write(satin.folder / "x.tif", values)
    text = {"u4": "u32", "u8": "u64", "f8": "f64"}[dtype]
    says = [name, "pixels of type %s are not read, because" % text]
    satin.bad(1, "blur", name, "-o", "out.tif", "--radius", "1", says=says)
    satin.bad(1, "median", name, "-o", "out.tif", "--radius", "1", "--stream", says=says)
    satin.bad(1, "blur", "in.png", "-o", "out.png", "--radius", "1", "--mask", name, says=says)
    satin.bad(1, "blur", "in.png", "-o", "out.png", "--radius-max", "2", "--radius-map", name, says=says)
    for line in ["stats"], ["regions"], ["bins", "-o", "zones"]:
        satin.bad(1, line[0], name, *line[1:], says=says)
    assert text in satin.good("info", name).stdout.decode()


@pytest.mark.skipif(not FULL_CODECS, reason="OpenEXR is read by its library")
def test_integers_of_openexr(satin, picture):
    exr = exr_file.write(satin.folder / "x.exr", {"Y": np.ones((12, 20)), "Z": np.ones((12, 20))})
    data = exr.read_bytes()
    number = b"\0" + struct.pack("<i", 2)
    for name in b"Z", b"Y":
        exr.write_bytes(data.replace(name + number, name + b"\0" + struct.pack("<i", 0), 1))
        line = ["dof", "in.png", "-o", "out.png", "--depth", "x.exr", "--focus", "1", "--strength", "1"]
        satin.bad(1, *line, says=["x.exr", "integer", "not read"])
    exr.write_bytes(data.replace(b"Z" + number, b"Z\0" + struct.pack("<i", 0), 1))
    satin.good("blur", "x.exr", "-o", "out.exr", "--radius", "1")  # beside the colours they stay


def test_missing_map(satin, picture):
    satin.bad(1, *BLUR, "--radius-map", "none.png", "--radius-max", "8", says=["radius-map", "none.png"])


@pytest.mark.parametrize("option", ["--radius-map", "--mask"])
def test_wrong_size_of_side_input(satin, picture, option):
    png_file.write(satin.folder / "side.png", np.zeros((7, 9), np.uint8))
    extra = ("--radius-max", "8") if option == "--radius-map" else ()
    satin.bad(2, *BLUR, option, "side.png", *extra, says=["9 x 7", "20 x 12", "side.png"])
    assert files_below(satin.folder) == ["in.png", "side.png"]


@pytest.mark.parametrize("radius", ["-1", "NaN", "nan", "inf", "1e9", "8x", "", "3,", "3,4", "3x4x5", "%", "x10"])
def test_bad_radius(satin, picture, radius):
    satin.bad(2, *BLUR, "--radius", radius, says="--radius")
    satin.bad(2, *BLUR, "--radius=" + radius, says="--radius")
    assert files_below(satin.folder) == ["in.png"]


def test_range_is_named(satin, picture):
    satin.bad(2, *BLUR, "--radius", "1e9", says=["0", "16384"])
    satin.bad(2, *BLUR, "--threads", "0", says=["--threads", "1"])
    satin.bad(2, *BLUR, "--threads", "two", says="--threads")


def test_mistyped_option(satin, picture):
    satin.bad(2, *BLUR, "--radus", "8", says=["--radus", "--radius"])
    satin.bad(2, *BLUR, "--radus=8", says=["--radus", "--radius"])
    satin.bad(2, *BLUR, "-x", says="-x")
    satin.bad(2, "--versoin", says="--version")


def test_mistyped_filter(satin):
    satin.bad(2, "blurr", "in.png", "-o", "out.png", says=["blurr", "'blur'"])
    satin.bad(2, "integrall", says="'integral'")
    satin.bad(2, says="--help")


def test_mistyped_choice(satin, picture):
    satin.bad(2, *BLUR, "--kernel", "gausian", says=["gausian", "gaussian"])
    satin.bad(2, *BLUR, "--border", "shrnk", says="shrink")
    satin.bad(2, *BLUR, "--space", "Linear", says="linear")
    satin.bad(2, *BLUR, "--format", "pgn", says="png")


def test_options_need_values_once(satin, picture):
    satin.bad(2, *BLUR, "--radius", says=["--radius", "value"])
    satin.bad(2, *BLUR, "--radius", "3", "--radius", "4", says=["--radius", "twice"])
    satin.bad(2, *BLUR, "--overwrite=maybe", says="--overwrite")


def test_missing_operands(satin, picture):
    satin.bad(2, "blur", "-o", "out.png", says="input")
    satin.bad(2, "blur", "in.png", says="-o")
    satin.bad(2, "blur", "", "-o", "out.png", says="empty")


def test_contradicting_options(satin, picture):
    png_file.write(satin.folder / "map.png", np.zeros((12, 20), np.uint8))
    satin.bad(2, *BLUR, "--radius-map", "map.png", says="radius-max")
    satin.bad(2, *BLUR, "--radius-max", "8", says="radius-max")
    png_file.write(satin.folder / "other.png", np.zeros((12, 20, 3), np.uint8))
    satin.bad(2, "blur", "in.png", "other.png", "-o", "out/", "--radius-max", "8", says="radius-max")
    assert not (satin.folder / "out").exists()


def test_missing_parent_folder(satin, picture):
    satin.bad(2, "blur", "in.png", "-o", "none/out.png", says="none")
    assert not (satin.folder / "none").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to read-only folders")
def test_read_only_folder(satin, picture):
    folder = satin.folder / "locked"
    folder.mkdir(mode=0o555)
    satin.bad(1, "blur", "in.png", "-o", "locked/out.png", says="locked")
    assert files_below(folder) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_disk(satin, picture):
    with open("/dev/full", "wb") as full:
        satin.bad(3, "blur", "in.png", "-o", "-", stdout=full, says="tandard output")
        satin.bad(3, "blur", "in.png", "-o", "/dev/full", "--format", "png", says="/dev/full")
        satin.bad(3, "list", stdout=full, says="tandard output")
        satin.bad(3, "--help", stdout=full, says="tandard output")
        satin.bad(3, "blur", "in.png", "-o", "out.png", "--json", stdout=full, says="tandard output")


def test_closed_pipe(satin, picture):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        for line in ("list",), ("--help",), ("blur", "in.png", "-o", "-"), ("info", "in.png", "in.png"), ("stats", "in.png", "--json"):
            assert satin.good(*line, stdout=pipe).error == "", line
        satin.good("blur", "in.png", "-o", "out.png", "--json", stdout=pipe)
        assert png_file.read(satin.folder / "out.png").shape == (12, 20, 3)
        satin.bad(1, "info", "none.png", stdout=pipe, says="none.png")
        satin.bad(1, "blur", "none.png", "-o", "none_out.png", "--json", stdout=pipe, says="none.png")


def test_info_ends_with_its_reader(satin, picture):
    for i in range(200):
        os.link(picture, satin.folder / ("%03d.png" % i))
    script = 'set -o pipefail; "$0" info *.png | head -1; echo "$?"'
    result = subprocess.run(["bash", "-c", script, BINARY], cwd=satin.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert result.stdout.decode().splitlines() == ["000.png", "0"] and result.stderr == b""


def test_absent_gpu(satin, picture):
    satin.bad(3, *BLUR, "--device", "cuda:99", says="cuda")
    satin.bad(2, *BLUR, "--device", "gpu", says="cuda:N")
    satin.bad(2, *BLUR, "--device", "cuda:x", says="cuda:x")
    assert files_below(satin.folder) == ["in.png"]


def test_refused_overwrite(satin, picture):
    (satin.folder / "out.png").write_bytes(b"precious")
    satin.bad(2, *BLUR, says=["out.png", "--overwrite"])
    assert (satin.folder / "out.png").read_bytes() == b"precious"
    satin.good(*BLUR, "--overwrite")
    assert png_file.read(satin.folder / "out.png").shape == (12, 20, 3)


def test_failure_keeps_the_old_file(satin):
    (satin.folder / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    (satin.folder / "out.png").write_bytes(b"precious")
    satin.bad(1, "blur", "bad.png", "-o", "out.png", "--overwrite", says="bad.png")
    assert (satin.folder / "out.png").read_bytes() == b"precious"


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
def test_output_is_input(satin, picture, link):
    before = picture.read_bytes()
    target = satin.folder / ("in.png" if link is None else "link.png")
    if link is not None:
        link(picture, target)
    for options in ((), ("--overwrite",)):
        satin.bad(2, "blur", "in.png", "-o", target.name, *options, says="same file")
        satin.bad(2, "blur", target.name, "-o", "./in.png", *options, says="same file")
    assert picture.read_bytes() == before


def test_output_is_side_input(satin, picture):
    mask = png_file.write(satin.folder / "mask.png", np.zeros((12, 20), np.uint8))
    before = mask.read_bytes()
    satin.bad(2, "blur", "in.png", "-o", "mask.png", "--mask", "mask.png", "--overwrite", says="same file")
    assert mask.read_bytes() == before


def test_unknown_output_format(satin, picture):
    satin.bad(2, "blur", "in.png", "-o", "out.xyz", says=[".xyz", ".png"])
    satin.bad(2, "blur", "in.png", "-o", "noextension", says=["noextension", "--format"])


def test_type_that_the_format_does_not_hold(satin, picture):
    satin.bad(2, "integral", "in.png", "-o", "out.png", says="out.png")
    assert files_below(satin.folder) == ["in.png"]


@pytest.mark.parametrize("line, says", [
    (["blur", "--radius", "1,5"], ["1.5", "1x5"]),
    (["blur", "--sigma", "1,5"], ["did you mean '1.5'"]),
    (["blur", "--radius", "5", "--sigma", "3"], ["radius or sigma", "leave one"]),
    (["dof", "--depth", "in.png", "--f-number", "2", "--strength", "3"], ["strength or f-number", "leave one"]),
    (["dof", "--depth", "in.png", "--focus", "0.5", "--focus-at", "1,2"], ["focus or focus-at", "leave one"]),
    (["dof", "--depth", "in.png", "--focus-at", "0.4,0.5"], ["focus-at", "40%,50%"]),
    (["tilt-shift", "--place", "0.25,1"], ["place", "25%,100%"]),
])
def test_what_could_mean_something_else_is_refused(satin, picture, line, says):
    satin.bad(2, line[0], "in.png", "-o", "out.png", *line[1:], says=says)
    assert files_below(satin.folder) == ["in.png"]


@pytest.mark.parametrize("text", ["blur radius=5 sigma=3", "blur sigma=3 radius=5"])
def test_a_pipeline_sets_one_of_two_that_stand_for_each_other(satin, picture, text):
    result = satin("run", text, "in.png", "-o", "out.png")
    assert result.returncode == 2 and "not both: leave one of them out" in result.error


def test_a_list_of_files_that_is_a_folder(satin):
    (satin.folder / "list").mkdir()
    satin.bad(1, "blur", "--files-from", "list", "-o", "out/", says=["'list'", "folder", "without --files-from"])


def test_a_choice_of_numbers_has_no_nearest_one(satin, picture):
    error = satin.bad(2, "regions", "in.png", "--connectivity", "6", says=["4, 8"]).error
    assert "did you mean" not in error
    error = satin.bad(2, "blur", "in.png", "-o", "out.png", "--border", "wrapp", says=["did you mean 'wrap'?"]).error
    assert "?." not in error


def test_an_array_of_many_channels_tells_its_shape(satin):
    np.save(satin.folder / "in.npy", np.zeros((3, 40, 1000), np.uint8))
    satin.bad(1, "blur", "in.npy", "-o", "out.npy", says=["in.npy", "(3, 40, 1000)", "(h, w, c)", "1 to 4"])


def test_floats_that_would_become_infinite(satin):
    np.save(satin.folder / "in.npy", np.random.default_rng(1).random((30, 40), np.float32) * np.float32(3e38))
    satin.bad(1, "unsharp", "in.npy", "-o", "out.npy", "--amount", "5", says=["in.npy", "e+38", "Divide"])
    assert not (satin.folder / "out.npy").exists()
    np.save(satin.folder / "in.npy", np.load(satin.folder / "in.npy") / np.float32(12))
    satin.good("unsharp", "in.npy", "-o", "out.npy", "--amount", "5")
    assert np.isfinite(np.load(satin.folder / "out.npy")).all()


@pytest.mark.parametrize("line, says", [
    (["blur", "in.png", "-r", "12", "-o", "out.png"], ["'12'", "--recursive", "--radius 12"]),
    (["guided", "in.png", "-r", "1.5%", "-o", "out.png"], ["--recursive", "--radius 1.5%"]),
    (["run", "blur", "radius=8", "in.png", "-o", "out.png"], ["'radius=8'", "quotes", 'satin run "blur radius=8"']),
    (["run", "blur", "|", "unsharp", "in.png", "-o", "out.png"], ['satin run "blur | unsharp"']),
])
def test_the_real_mistake_is_named(satin, picture, line, says):
    satin.bad(2, *line, says=says)
    assert files_below(satin.folder) == ["in.png"]


def test_names_like_pieces_of_a_pipeline_may_be_files(satin, picture):
    (satin.folder / "radius=8").write_bytes(picture.read_bytes())
    satin.good("run", "blur", "radius=8", "-o", "out.png")
    (satin.folder / "12").write_bytes(picture.read_bytes())
    satin.good("blur", "-r", "12", "-o", "two.png")


def test_a_batch_that_was_begun_without_resume(satin, picture):
    (satin.folder / "b.png").write_bytes(picture.read_bytes())
    line = ("blur", "in.png", "b.png", "-o", "out")
    satin.good(*line)
    for option in (), ("--resume",):
        satin.bad(2, *line, *option, says=["1 more exist already", "--skip-existing", "--overwrite"])
    satin.good(*line, "--skip-existing")


CONTROLS = "a\x1b[31mb\nc\x7f\x9b.png"


@pytest.mark.parametrize("line, code", [
    (["blur", CONTROLS, "-o", "out.png"], 1),  # not there
    (["blur", "bad" + CONTROLS, "-o", "out.png"], 1),
    (["blur", "bad" + CONTROLS, "in.png", "-o", "out"], 1),
    (["blur", "in.png", "-o", "out.png", "--mask", "bad" + CONTROLS], 1),
    (["blur", "in.png", "-o", CONTROLS + "/x.png"], 2),
    (["blur", "in.png", "-o", "out.png", "--border", CONTROLS], 2),
    (["blur", "in.png", "-o", "out.png", "--" + CONTROLS, "3"], 2),
    ([CONTROLS], 2),
    (["stats", "good" + CONTROLS], 0),
    (["blur", "good" + CONTROLS, "-o", "out.png", "--dry-run"], 0),
])
def test_terminals_see_no_control_characters(satin, picture, line, code):
    (satin.folder / ("bad" + CONTROLS)).write_bytes(b"no picture")
    (satin.folder / ("good" + CONTROLS)).write_bytes(picture.read_bytes())
    result = satin(*line)
    assert result.returncode == code
    printed = (result.stdout + result.stderr).decode()
    assert r"a\x1b[31mb" in printed
    assert not [c for c in printed if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]
