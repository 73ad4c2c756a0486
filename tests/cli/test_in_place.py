"""--in-place: inputs are replaced whole or not at all, once, and originals are kept where that is wanted."""
import json
import os
import resource
import signal
import stat
import subprocess
import time

import numpy as np
import pytest

import png_file
from conftest import BINARY, FULL_CODECS, files_below
from oracle import box_blur

BLUR = ("--radius", "2", "--space", "encoded")


@pytest.fixture
def three(satin, noise):
    (satin.folder / "in" / "deep").mkdir(parents=True)
    arrays = {}
    for i, name in enumerate(("a.png", "b.png", "deep/c.png")):
        arrays[name] = noise((9, 14, 3), seed=i)
        png_file.write(satin.folder / "in" / name, arrays[name])
    return arrays


def pictures(satin, names):
    return {name: png_file.read(satin.folder / "in" / name) for name in names}


def same(got, wanted):
    return all(np.array_equal(got[name], wanted[name]) for name in wanted)


def once(arrays):
    return {name: box_blur(array, 2) for name, array in arrays.items()}


def run(satin, *arguments, blur=BLUR):
    return satin("blur", "in", "-r", "--in-place", *blur, *arguments)


def statuses(satin, *arguments):
    result = run(satin, "--json", *arguments)
    assert result.returncode == 0, result.error
    return [entry["status"] for entry in json.loads(result.stdout)["files"]]


def bytes_of(satin):
    return {name: (satin.folder / name).read_bytes() for name in files_below(satin.folder)}


def test_inputs_are_replaced_once(satin, three):
    assert statuses(satin) == ["done"] * 3
    assert same(pictures(satin, three), once(three))
    assert files_below(satin.folder / "in") == [".satin-manifest", "a.png", "b.png", "deep/.satin-manifest", "deep/c.png"]
    before = bytes_of(satin)
    # Whatever leads to the files
    for inputs in ("in", "-r"), ("in/b.png",), ("in/deep",), ("in/deep/../a.png",), (satin.folder / "in/deep/c.png",):
        satin.bad(2, "blur", *inputs, "--in-place", *BLUR, says=["filtered in place already", "--resume", "--overwrite"])
    satin.bad(2, "median", "in/a.png", "--in-place", says="filtered in place already")
    assert bytes_of(satin) == before
    assert statuses(satin, "--resume") == ["unchanged"] * 3
    assert bytes_of(satin).keys() == before.keys()
    satin.bad(2, "median", "in", "--in-place", "--resume", says=["with other settings", "--overwrite"])
    assert same(pictures(satin, three), once(three))
    assert statuses(satin, "--overwrite") == ["done"] * 3
    assert same(pictures(satin, three), once(once(three)))
    assert statuses(satin, "--resume") == ["unchanged"] * 3


def test_other_pictures_under_the_same_names_are_new(satin, three, noise):
    assert statuses(satin) == ["done"] * 3
    new = noise((9, 14, 3), seed=9)
    png_file.write(satin.folder / "in" / "b.png", new)
    png_file.write(satin.folder / "in" / "d.png", new)
    assert statuses(satin, "--resume") == ["unchanged", "done", "done", "unchanged"]
    assert same(pictures(satin, ["b.png", "d.png"]), {"b.png": box_blur(new, 2), "d.png": box_blur(new, 2)})


def test_outputs_and_replaced_inputs_are_told_apart(satin, three):
    satin.good("blur", "in", "-o", "out", "--resume", *BLUR)
    satin.good("blur", "out", "--in-place", *BLUR)  # they were made there, not replaced
    assert np.array_equal(png_file.read(satin.folder / "out" / "a.png"), box_blur(once(three)["a.png"], 2))
    assert statuses(satin) == ["done"] * 3
    before = bytes_of(satin)
    satin.bad(2, "blur", "out", "-o", "in", "--resume", *BLUR, says=["in/a.png", "manifest", "--overwrite"])
    assert bytes_of(satin) == before


def test_one_file_and_a_pipeline(satin, picture, noise):
    os.chmod(picture, 0o640)
    os.utime(picture, ns=(10**18, 10**18))
    satin.good("run", "blur radius=2 space=encoded | crop box=1,1,5,4", "in.png", "--in-place")
    assert np.array_equal(png_file.read(picture), box_blur(noise((12, 20, 3)), 2)[1:5, 1:6])
    assert stat.S_IMODE(picture.stat().st_mode) == 0o640 and picture.stat().st_mtime_ns == 10**18
    assert files_below(satin.folder) == [".satin-manifest", "in.png"]


def test_backups_keep_the_originals(satin, three):
    originals = bytes_of(satin)
    assert run(satin, "--backup", ".orig").returncode == 0
    assert same(pictures(satin, three), once(three))
    for name, data in originals.items():
        assert (satin.folder / (name + ".orig")).read_bytes() == data
    # Not even --overwrite replaces a backup
    before = bytes_of(satin)
    result = run(satin, "--backup", ".orig", "--overwrite")
    assert result.returncode == 2 and "in/a.png.orig' exists already" in result.error and bytes_of(satin) == before
    assert run(satin, "--backup", ".orig", "--resume", "--quiet").returncode == 0 and bytes_of(satin) == before
    assert run(satin, "--backup", "~", "--overwrite").returncode == 0
    assert (satin.folder / "in/a.png~").read_bytes() == before["in/a.png"]
    assert (satin.folder / "in/a.png.orig").read_bytes() == originals["in/a.png"]


def test_a_backup_that_exists_stops_everything(satin, three):
    (satin.folder / "in" / "b.png.orig").write_bytes(b"precious")
    before = bytes_of(satin)
    result = run(satin, "--backup", ".orig")
    assert result.returncode == 2 and "b.png.orig" in result.error and bytes_of(satin) == before
    os.remove(satin.folder / "in" / "b.png.orig")
    (satin.folder / "in" / "b.png.orig").symlink_to("nowhere")
    result = run(satin, "--backup", ".orig")
    assert result.returncode == 2 and os.readlink(satin.folder / "in" / "b.png.orig") == "nowhere"
    assert same(pictures(satin, three), three)


@pytest.mark.parametrize("options, says", [
    (["-o", "out.png"], "-o"),
    (["--format", "jpg"], "--format"),
    (["--skip-existing"], "--skip-existing"),
    (["--page", "1"], "--page"),
    (["--allow-partial"], "--allow-partial"),
    (["--backup", ""], "--backup"),
    (["--backup", "/x"], "--backup"),
    (["--backup", "_old.png"], "filter the backups"),
])
def test_options_that_contradict(satin, picture, options, says):
    before = bytes_of(satin)
    satin.bad(2, "blur", "in.png", "--in-place", *options, says=says)
    assert bytes_of(satin) == before


def test_what_cannot_be_replaced(satin, picture, three):
    before = bytes_of(satin)
    satin.bad(2, "blur", "-", "--in-place", stdin=picture.read_bytes(), says="standard input")
    satin.bad(2, "run", "blur | stats", "in.png", "--in-place", says="'stats' makes no picture")
    satin.bad(2, "integral", "in.png", "--in-place", says="'integral' makes no picture")
    satin.bad(2, "crop", "in.png", "--in-place", "--aspect", "1:1,3:2", says="one result")
    satin.bad(2, "blur", "in.png", "--backup", ".orig", "-o", "out.png", says="--in-place")
    satin.bad(2, "blur", "in.png", "--in-place", "--mask", "in.png", says="same file")
    satin.bad(2, "blur", "in.png", "--in-place", "--report", "in.png", says="report")
    satin.bad(2, "blur", "in.png", "in.png", "--in-place", says="in.png")
    satin.bad(2, "regions", "in.png", "--in-place", says="--in-place")
    satin.bad(1, "blur", "none.png", "--in-place", says="does not exist")
    if FULL_CODECS:
        (satin.folder / "photo.heic").write_bytes(b"any")
        satin.bad(2, "blur", "in", "photo.heic", "--in-place", says=["photo.heic", "read and not written", "--format jpg"])
        os.remove(satin.folder / "photo.heic")
    assert bytes_of(satin) == before
    satin.bad(2, "blur", "in.png", "-o", "in.png", says="--in-place")


def test_links_are_left_alone(satin, three):
    target = satin.folder / "elsewhere.png"
    target.write_bytes((satin.folder / "in" / "a.png").read_bytes())
    (satin.folder / "in" / "link.png").symlink_to(target)
    before = bytes_of(satin)
    result = run(satin)
    assert result.returncode == 2 and "in/link.png' is a symbolic link" in result.error
    assert bytes_of(satin) == before and (satin.folder / "in" / "link.png").is_symlink()
    # A second name of the same file keeps the original
    os.remove(satin.folder / "in" / "link.png")
    os.link(satin.folder / "in" / "a.png", satin.folder / "second.png")
    satin.good("blur", "in/a.png", "--in-place", *BLUR)
    assert (satin.folder / "second.png").read_bytes() == before["in/a.png"]


def test_a_bad_file_stays_as_it_is(satin, three):
    (satin.folder / "in" / "b.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    result = run(satin)
    assert result.returncode == 1 and "b.png" in result.error
    assert (satin.folder / "in" / "b.png").read_bytes() == b"\x89PNG\r\n\x1a\nbroken"
    assert same(pictures(satin, ["a.png", "deep/c.png"]), {name: once(three)[name] for name in ("a.png", "deep/c.png")})


def test_a_full_disk_harms_nothing(satin, picture):
    before = picture.read_bytes()
    limited = subprocess.run([BINARY, "blur", "in.png", "--in-place", "--backup", ".orig"], cwd=satin.folder,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)), stderr=subprocess.PIPE)
    assert limited.returncode == 3, limited.stderr
    assert picture.read_bytes() == before
    assert [name for name in files_below(satin.folder) if name != ".satin-manifest"] == ["in.png"]
    satin.good("blur", "in.png", "--in-place", *BLUR)  # nothing was recorded


def test_a_dry_run_changes_nothing(satin, three):
    before = bytes_of(satin)
    lines = run(satin, "--dry-run").stdout.decode().splitlines()
    assert lines[1:] == ["write     in/%s -> in/%s" % (name, name) for name in three] and bytes_of(satin) == before
    assert statuses(satin) == ["done"] * 3
    lines = run(satin, "--dry-run", "--resume").stdout.decode().splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["unchanged"] * 3


def test_killed_runs_filter_every_file_once(satin, noise):
    folder = satin.folder / "in"
    folder.mkdir()
    arrays = {"%02d.png" % i: noise((300, 400), seed=i) for i in range(24)}
    for name, array in arrays.items():
        png_file.write(folder / name, array)
    wanted = once(arrays)
    for attempt in range(6):
        process = satin.start("blur", "in", "--in-place", "--resume", "--backup", ".orig", *BLUR)
        time.sleep(0.05 + 0.03 * attempt)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for name, array in arrays.items():
            found = png_file.read(folder / name)
            assert np.array_equal(found, array) or np.array_equal(found, wanted[name])
    satin.good("blur", "in", "--in-place", "--resume", "--backup", ".orig", *BLUR)
    assert same(pictures(satin, wanted), wanted)
    for name, array in arrays.items():
        assert np.array_equal(png_file.read(folder / (name + ".orig")), array)
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_a_record_of_what_did_not_come_is_not_believed(satin, picture):
    """The manifest is written before the file is replaced: the hash says whether that has happened."""
    before = picture.read_bytes()
    satin.good("blur", "in.png", "--in-place", *BLUR)
    after = picture.read_bytes()
    times = picture.stat().st_mtime_ns
    picture.write_bytes(before)
    os.utime(picture, ns=(times, times))
    satin.good("blur", "in.png", "--in-place", "--resume", *BLUR)
    assert picture.read_bytes() == after


@pytest.mark.skipif(not FULL_CODECS, reason="rows of TIFF are read by libtiff")
def test_rows_are_replaced_too(satin, picture, noise):
    satin.good("convert", "in.png", "-o", "in.tif")
    before = (satin.folder / "in.tif").read_bytes()
    satin.good("blur", "in.tif", "--in-place", "--stream", "--backup", ".orig", *BLUR)
    satin.good("convert", "in.tif", "-o", "check.png")
    assert np.array_equal(png_file.read(satin.folder / "check.png"), box_blur(noise((12, 20, 3)), 2))
    assert (satin.folder / "in.tif.orig").read_bytes() == before
    satin.bad(2, "blur", "in.tif", "--in-place", "--stream", *BLUR, says="in place already")
