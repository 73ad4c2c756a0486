"""--gallery: a page of small pictures, from the outside."""
import base64
import hashlib
import os
import re
import signal
import subprocess
import time
from html.parser import HTMLParser
from urllib.parse import unquote_to_bytes

import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS, files_below

BLUR = ("--radius", "2")


class Page(HTMLParser):
    """Reads a page as a browser would: entries with texts, links and pictures; scripts and handlers."""

    def __init__(self, path):
        super().__init__()
        self.path, self.entries, self.scripts, self.policy, self.open = path, [], [], "", None
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert not any(name.startswith("on") for name in attributes), attributes
        if tag == "figure":
            self.entries.append({"failed": attributes.get("class") == "failed", "text": "", "links": [], "pictures": []})
        if tag == "a":
            self.entries[-1]["links"].append(self.target(attributes["href"]))
        if tag == "img":
            assert attributes["loading"] == "lazy"
            self.entries[-1]["pictures"].append(self.target(attributes["src"]))
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag == "script":
            assert not attributes
            self.scripts.append("")
        self.open = tag

    def handle_endtag(self, tag):
        self.open = None if tag == "script" else self.open

    def handle_data(self, data):
        if self.open == "script":
            self.scripts[-1] += data
        elif self.entries:
            self.entries[-1]["text"] += data

    def target(self, reference):
        assert re.fullmatch(r"[-A-Za-z0-9._/%]+", reference), reference
        return os.path.join(os.fsencode(self.path.parent), unquote_to_bytes(reference))


def fill(folder, noise, names):
    folder.mkdir()
    for seed, name in enumerate(names):
        png_file.write(folder / name, noise((9, 14, 3), seed=seed))


def test_pictures_and_failures_on_one_page(satin, noise):
    fill(satin.folder / "in", noise, ["a.png", "c.png"])
    (satin.folder / "in" / "b.png").write_bytes(b"broken")
    result = satin("blur", "in", "-o", "out", *BLUR, "--gallery", "page.html")
    assert result.returncode == 1
    page = Page(satin.folder / "page.html")
    assert [entry["failed"] for entry in page.entries] == [False, True, False]
    good, bad, _ = page.entries
    assert "in/a.png" in good["text"] and "14 x 9" in good["text"]
    assert [os.path.realpath(link) for link in good["links"]] == [
        os.fsencode(str(satin.folder / name)) for name in ("in/a.png", "out/a.png")]
    assert "in/b.png" in bad["text"] and "PNG" in bad["text"] and not bad["pictures"]
    pictures = [name for entry in page.entries for name in entry["pictures"]]
    assert len(set(pictures)) == 4 and all(os.path.getsize(name) > 100 for name in pictures)
    assert len(files_below(satin.folder / "page_files")) == 4
    assert "2 done" in (satin.folder / "page.html").read_text()


def test_pictures_show_what_the_files_hold(satin):
    image = pytest.importorskip("PIL.Image")
    columns = np.zeros((40, 1000, 3), np.uint8)
    columns[:, ::2] = 255  # half of the light: not half of the code
    png_file.write(satin.folder / "in.png", columns)
    satin.good("blur", "in.png", "-o", "out.png", "--radius", "0", "--gallery", "page.html")
    (entry,) = Page(satin.folder / "page.html").entries
    half = round(255 * (1.055 * 0.5 ** (1 / 2.4) - 0.055))
    for name in entry["pictures"]:
        with image.open(os.fsdecode(name)) as picture:
            assert picture.size == (256, 10)
            assert abs(np.asarray(picture).astype(int) - half).mean() < 6
    png_file.write(satin.folder / "small.png", np.full((6, 8), 90, np.uint8))
    satin.good("threshold", "small.png", "-o", "mask.png", "--method", "otsu", "--gallery", "masks.html")
    before, after = Page(satin.folder / "masks.html").entries[0]["pictures"]
    with image.open(os.fsdecode(before)) as picture:
        assert picture.size == (8, 6) and abs(np.asarray(picture).astype(int) - 90).max() <= 2
    with image.open(os.fsdecode(after)) as picture:
        assert picture.size == (8, 6)


def test_transparent_pictures_lie_on_squares(satin):
    image = pytest.importorskip("PIL.Image")
    pixels = np.zeros((64, 64, 4), np.uint8)
    pixels[:, :32] = (255, 0, 0, 255)
    png_file.write(satin.folder / "in.png", pixels)
    satin.good("blur", "in.png", "-o", "out.png", "--radius", "0", "--gallery", "page.html")
    with image.open(os.fsdecode(Page(satin.folder / "page.html").entries[0]["pictures"][0])) as picture:
        seen = np.asarray(picture.convert("RGB")).astype(int)
    assert seen[20, 8, 0] > 240 and seen[20, 8, 1] < 15
    assert abs(seen[4, 44] - seen[4, 52]).min() > 20 and np.ptp(seen[4, 44]) < 10  # grey, in two shades


@pytest.mark.skipif(not FULL_CODECS, reason="this build has few formats")
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_other_formats(satin, noise, dtype):
    png_file.write(satin.folder / "in.png", noise((9, 14), dtype))
    satin.good("blur", "in.png", "-o", "out.tif", "--gallery", "one.html")
    satin.good("integral", "in.png", "-o", "out.npy", "--gallery", "two.html")
    assert [len(Page(satin.folder / name).entries[0]["pictures"]) for name in ("one.html", "two.html")] == [2, 1]


def test_names_are_text_and_nothing_else(satin, noise):
    names = [b"<script>alert(1)<\\script>.png", b"\" onerror='alert(1)' x=.png", b"javascript:alert(1).png",
             b"caf\xe9 &amp; #1?x=%41.png", b"new\nline.png", "\u202egnp.png".encode()]
    (satin.folder / "in").mkdir()
    for seed, name in enumerate(names):
        png_file.write(satin.folder / "in" / os.fsdecode(name), noise((3, 4, 3), seed=seed))
    (satin.folder / "in" / "<img src=x onerror=alert(1)>.png").write_bytes(b"broken")
    satin("blur", "in", "-o", "out <b>", *BLUR, "--gallery", "the page.html")
    page = Page(satin.folder / "the page.html")
    assert len(page.entries) == len(names) + 1 and len(page.scripts) == 1
    expected = sorted(os.path.join(os.fsencode(satin.folder), b"in", name) for name in names)
    assert sorted(entry["links"][0] for entry in page.entries if entry["links"]) == expected
    for entry in page.entries:
        assert all(os.path.exists(name) for name in entry["links"] + entry["pictures"])
    assert any("<img src=x onerror=alert(1)>.png" in entry["text"] for entry in page.entries)
    assert any("caf\ufffd &amp;" in entry["text"] for entry in page.entries)
    digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    assert "'sha256-%s'" % digest in page.policy and "default-src 'none'" in page.policy


def test_page_in_another_folder(satin, noise):
    fill(satin.folder / "in", noise, ["a.png"])
    (satin.folder / "web").mkdir()
    satin.good("blur", "in", "-o", "out", *BLUR, "--gallery", "web/page.html")
    (entry,) = Page(satin.folder / "web" / "page.html").entries
    assert all(os.path.exists(name) for name in entry["links"] + entry["pictures"])


def test_existing_pages(satin, noise):
    fill(satin.folder / "in", noise, ["a.png"])
    page = satin.folder / "page.html"
    page.write_text("precious")
    satin.bad(2, "blur", "in", "-o", "out", "--gallery", "page.html", says=["page.html", "--overwrite"])
    assert page.read_text() == "precious" and not (satin.folder / "out").exists()
    satin.good("blur", "in", "-o", "out", "--gallery", "page.html", "--overwrite")
    assert len(Page(page).entries) == 1
    os.remove(page)
    satin.bad(2, "blur", "in", "-o", "new", "--gallery", "page.html", says=["page_files", "--overwrite"])
    (satin.folder / "x_files").write_text("precious")
    satin.bad(2, "blur", "in", "-o", "new", "--gallery", "x.html", "--overwrite", says="x_files")
    satin.bad(2, "blur", "in", "-o", "new", "--gallery", "none/x.html", says="none")
    satin.bad(2, "blur", "in", "-o", "new", "--gallery", "-", says="gallery")
    satin.bad(2, "blur", "in/a.png", "-o", "x.png", "--gallery", "./x.png", says="x.png")
    satin.bad(2, "blur", "in/a.png", "-o", "x.png", "--gallery", "in/a.png", "--overwrite", says="same file")
    satin.bad(2, "blur", "in", "-o", "new", "--gallery", "y.html", "--report", "y.html", says="y.html")
    assert not (satin.folder / "new").exists()


def test_pictures_of_the_page_are_no_inputs(satin, noise):
    fill(satin.folder / "in", noise, ["a.png"])
    for _ in range(2):
        satin.good("blur", "in", "-r", "-o", "out", "--gallery", "in/page.html", "--overwrite")
    assert files_below(satin.folder / "out") == ["a.png"]


def test_a_resumed_run_shows_what_earlier_ones_made(satin, noise):
    fill(satin.folder / "in", noise, ["a.png", "b.png"])
    command = ("blur", "in", "-o", "out", *BLUR, "--resume", "--gallery", "page.html")
    satin.good(*command)
    png_file.write(satin.folder / "in" / "0.png", noise((9, 14, 3), seed=9))
    satin.good(*command)
    entries = Page(satin.folder / "page.html").entries
    assert [len(entry["pictures"]) for entry in entries] == [2, 2, 2]
    assert ["earlier" in entry["text"] for entry in entries] == [False, True, True]


@pytest.mark.parametrize("option", ["--resume", "--skip-existing"])
def test_a_gallery_shows_what_runs_without_one_made(satin, noise, option):
    fill(satin.folder / "in", noise, ["a.png", "b.png"])
    satin.good("blur", "in", "-o", "out", *BLUR, *(["--resume"] if option == "--resume" else []))
    satin.good("blur", "in", "-o", "out", *BLUR, option, "--gallery", "page.html")
    entries = Page(satin.folder / "page.html").entries
    assert [len(entry["pictures"]) for entry in entries] == [2, 2]
    assert len(files_below(satin.folder / "page_files")) == 4


def test_a_gallery_of_redacted_pictures_never_shows_them_before(satin, noise):
    fill(satin.folder / "in", noise, ["a.png"])
    command = ("redact", "in", "-o", "out", "--box", "1,1,3,3", "--resume")
    satin.good(*command)
    for _ in range(2):
        satin.good(*command, "--gallery", "page.html")
        assert [len(entry["pictures"]) for entry in Page(satin.folder / "page.html").entries] == [1]


def test_nothing_is_left_of_a_run_that_did_not_come_about(satin, noise):
    fill(satin.folder / "in", noise, ["a.png", "b.png"])
    satin.bad(2, "blur", "in", "-o", "out", "--gallery", "/dev/null/x.html", says="/dev/null")
    satin.good("blur", "in", "-o", "out", "--dry-run", "--gallery", "page.html")
    satin.bad(2, "blur", "in/a.png", "in/a.png", "-o", "out/{name}", "--gallery", "page.html", says="both")
    satin.bad(2, "blur", "in", "-r", "-o", "out", "--radius-max", "8", "--gallery", "page.html", says="radius-max")
    assert sorted(os.listdir(satin.folder)) == ["in"]


def test_signal_leaves_a_page_of_what_is_done_or_none(satin, noise):
    fill(satin.folder / "in", noise, ["%03d.png" % i for i in range(150)])
    process = satin.start("blur", "in", "-o", "out", "--radius", "20", "--gallery", "page.html")
    end = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < end:
        if (satin.folder / "page_files").exists():
            process.send_signal(signal.SIGINT)
            break
        time.sleep(0.005)
    process.communicate(timeout=60)
    assert process.returncode == 130
    page = satin.folder / "page.html"
    done = [name for name in files_below(satin.folder / "out")]
    assert "interrupted" in page.read_text()
    assert len(Page(page).entries) == len(done) < 150
    assert not [name for name in files_below(satin.folder) if ".tmp" in name or ".satin" in name]


def test_a_page_on_a_full_disk(satin, noise, tmp_path):
    fill(satin.folder / "in", noise, ["%02d.png" % i for i in range(40)])
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(small)],
                      stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("a small tmpfs cannot be mounted here")
    try:
        (small / "page.html").write_text("precious")
        satin.bad(3, "blur", "in", "-o", "out", "--gallery", "small/page.html", "--overwrite", says=["page.html", "No space"],
                  lines=3)
        assert (small / "page.html").read_text() == "precious"
        assert not [name for name in os.listdir(small) if name.startswith(".")]
    finally:
        subprocess.run(["umount", str(small)], check=True)
