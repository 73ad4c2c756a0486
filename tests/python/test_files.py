"""Files: pictures and metadata survive reading and writing."""
import io
import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageCms

import satin

PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
READS = {format["name"] for format in satin.formats() if format["reads"]}


def needs(format):
    return pytest.mark.skipif(format not in READS, reason=f"this build has no {format}")


@pytest.fixture
def image(random):
    return random.integers(0, 256, (37, 53, 3), np.uint8)


@pytest.fixture
def folder(tmp_path, random):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    for i in range(5):
        satin.write(tmp_path / "in" / ("sub" if i % 2 else ".") / f"{i}.png", random.integers(0, 256, (20, 30), np.uint8))
    return tmp_path


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")}  # fmt: skip


def test_pillow_sees_what_was_written(tmp_path, image):
    satin.write(tmp_path / "a.png", image)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), image)
    Image.fromarray(image).save(tmp_path / "b.png")
    np.testing.assert_array_equal(satin.read(tmp_path / "b.png"), image)
    np.testing.assert_array_equal(satin.read((tmp_path / "b.png").read_bytes()), image)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(satin.encode(image, ".png")))), image)


def test_files_and_bytes_are_read(tmp_path, image):
    satin.write(tmp_path / "a.png", image)
    data = (tmp_path / "a.png").read_bytes()
    with open(tmp_path / "a.png", "rb") as file:
        np.testing.assert_array_equal(satin.read(file), image)
    for source in (bytearray(data), memoryview(data), io.BytesIO(data)):
        np.testing.assert_array_equal(satin.read(source), image)
    with pytest.raises(TypeError, match="binary mode"):
        satin.read(io.StringIO("text"))


def test_errors_of_files_are_those_of_python(tmp_path, image):
    with pytest.raises(FileNotFoundError, match="there is no such file") as missing:
        satin.read(tmp_path / "a.png")
    satin.write(tmp_path / "a.png", image)
    with pytest.raises(FileExistsError, match="overwrite=True") as existing:
        satin.write(tmp_path / "a.png", image)
    satin.write(tmp_path / "out.png", image)
    with pytest.raises(FileExistsError):
        satin.batch("blur radius=1", tmp_path / "a.png", tmp_path / "out.png", progress=False)
    with pytest.raises(FileNotFoundError, match="No picture matches"):
        satin.batch("blur radius=1", tmp_path / "*.jpg", tmp_path / "out", progress=False)
    (tmp_path / "b.png").write_bytes(b"no picture")
    with pytest.raises(OSError) as damaged:
        satin.read(tmp_path / "b.png")
    assert not isinstance(damaged.value, FileNotFoundError)
    with pytest.raises(ValueError, match="radius") as invalid:
        satin.blur(image, -1)
    with pytest.raises(RuntimeError) as no_device:
        satin.Device("cuda:99")
    assert all(isinstance(each.value, satin.Error) for each in (missing, existing, damaged, invalid, no_device))


def test_floats_in_a_format_of_integers_name_the_conversion(tmp_path):
    floats = np.zeros((4, 5), np.float32)
    for write in (lambda: satin.write(tmp_path / "a.png", floats), lambda: satin.encode(floats, ".png")):
        with pytest.raises(ValueError, match="convert=True"):
            write()
    satin.write(tmp_path / "a.png", floats, convert=True)


@pytest.mark.parametrize("name,dtype", [("a.png", np.uint16), ("a.npy", np.float32), ("a.pfm", np.float32),
                                        pytest.param("a.tif", np.float32, marks=needs("TIFF")),
                                        pytest.param("a.exr", np.float32, marks=needs("OpenEXR"))])
def test_depth_is_kept(tmp_path, random, name, dtype):
    values = random.integers(0, 60000, (9, 8, 3)).astype(dtype)
    satin.write(tmp_path / name, values)
    found = satin.read(tmp_path / name)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, values)


def test_any_strides_are_written(tmp_path, image):
    satin.write(tmp_path / "a.png", image[::-1, ::2, ::-1])
    np.testing.assert_array_equal(satin.read(tmp_path / "a.png"), image[::-1, ::2, ::-1])


@needs("TIFF")
def test_metadata_travels(tmp_path, image):
    exif = Image.Exif()
    exif[0x010F] = "A camera"
    Image.fromarray(image).save(tmp_path / "a.jpg", exif=exif, icc_profile=PROFILE, quality=71)
    pixels, metadata = satin.read(tmp_path / "a.jpg", metadata=True)
    assert metadata.format == ".jpg" and metadata.icc == PROFILE and b"A camera" in metadata.exif
    satin.write(tmp_path / "b.tif", pixels, metadata=metadata)
    _, again = satin.read(tmp_path / "b.tif", metadata=True)
    assert again.icc == PROFILE and b"A camera" in again.exif
    # A JPEG is quantised as the file was.
    satin.write(tmp_path / "c.jpg", pixels, metadata=metadata)
    assert Image.open(tmp_path / "c.jpg").quantization == Image.open(tmp_path / "a.jpg").quantization
    metadata.icc = b""
    assert satin.read(satin.encode(pixels, ".png", metadata=metadata), metadata=True)[1].icc == b""


@needs("TIFF")  # as the codecs of SATIN_CODECS=FULL
def test_light_beyond_white_travels(tmp_path):
    y, x = np.mgrid[0:48, 0:64]
    light = np.stack([0.2 + x / 16, 0.1 + y / 24, 0.5 + 0 * x], axis=-1).astype(np.float32)
    satin.write(tmp_path / "a.jpg", light, gain_map=True, quality=100)
    assert satin.read(tmp_path / "a.jpg").dtype == np.uint8
    found = satin.read(tmp_path / "a.jpg", gain_map="use")
    assert found.dtype == np.float32 and found.max() > 3.5
    assert np.median(np.abs(found / light - 1)) < 0.02
    satin.write(tmp_path / "b.jpg", light[::-1, ::-1], gain_map=True, quality=100)
    assert np.median(np.abs(satin.read(tmp_path / "b.jpg", gain_map="use")[::-1, ::-1] / light - 1)) < 0.02
    # Without a map it is the light of the codes.
    satin.write(tmp_path / "c.png", np.full((4, 5, 3), 255, np.uint8))
    np.testing.assert_array_equal(satin.read(tmp_path / "c.png", gain_map="use"), np.ones((4, 5, 3), np.float32))
    for image, name, says in (light, "a.png", "holds no gain map"), (np.zeros((4, 4), np.uint8), "d.jpg", "float32"):
        with pytest.raises(ValueError, match=says):
            satin.write(tmp_path / name, image, gain_map=True)
    with pytest.raises(ValueError, match="'use' or 'drop'"):
        satin.read(tmp_path / "a.jpg", gain_map="keep")


def test_alpha(tmp_path, random):
    image = random.integers(0, 256, (6, 5, 4), np.uint8)
    satin.write(tmp_path / "a.png", image)
    pixels, metadata = satin.read(tmp_path / "a.png", metadata=True)
    np.testing.assert_array_equal(pixels, image)
    assert metadata.alpha == "straight"
    with pytest.raises(ValueError, match="a.png"):
        satin.write(tmp_path / "a.png", image, alpha="none", overwrite=True)


@needs("TIFF")
def test_pages(tmp_path, image):
    satin.write(tmp_path / "a.tif", [image, image[::-1], 255 - image])
    pages = satin.read(tmp_path / "a.tif", all_pages=True)
    assert len(pages) == 3
    np.testing.assert_array_equal(pages[2], 255 - image)
    np.testing.assert_array_equal(satin.read(tmp_path / "a.tif", page=2), image[::-1])
    with pytest.raises(OSError, match="3 pages"):
        satin.read(tmp_path / "a.tif")
    with pytest.raises(ValueError, match="page"):
        satin.read(tmp_path / "a.tif", page=4)
    with pytest.raises(ValueError, match="1 images, but 2 metadata"):
        satin.write(tmp_path / "b.tif", [image], metadata=[None, None])


@needs("OpenEXR")
def test_named_channels(tmp_path, random):
    depth = random.random((6, 5)).astype(np.float32)
    satin.write(tmp_path / "z.exr", depth)
    pixels, metadata = satin.read(tmp_path / "z.exr", metadata=True)
    np.testing.assert_array_equal(pixels, depth)
    assert metadata.channels == {}


def test_errors_say_what_and_where(tmp_path, image):
    with pytest.raises(OSError, match="no.png"):
        satin.read(tmp_path / "no.png")
    (tmp_path / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nand no more")
    with pytest.raises(OSError, match="bad.png"):
        satin.read(tmp_path / "bad.png")
    satin.write(tmp_path / "a.png", image)
    before = (tmp_path / "a.png").read_bytes()
    with pytest.raises(ValueError, match="exists"):
        satin.write(tmp_path / "a.png", 255 - image)
    with pytest.raises(ValueError, match="float32"):
        satin.write(tmp_path / "a.png", image.astype(np.float32), overwrite=True)
    assert (tmp_path / "a.png").read_bytes() == before
    with pytest.raises(OSError, match="pixels"):
        satin.read(tmp_path / "a.png", max_pixels=100)


def test_a_slim_build_says_what_is_missing(monkeypatch, tmp_path, image):
    from satin import _native

    monkeypatch.delattr(_native, "read_file")  # as a build with SATIN_CODECS=NONE has it
    for call in (lambda: satin.read("a.png"), lambda: satin.write("a.png", image), satin.formats,
                 lambda: satin.batch("blur radius=2", "in", "out")):  # fmt: skip
        with pytest.raises(RuntimeError, match="apt-get install .*libstb-dev.*pip install"):
            call()


@pytest.mark.skipif("TIFF" in READS and "OpenEXR" in READS and "HEIC" in READS, reason="this build has every format")
def test_a_format_that_was_left_out_says_how_to_get_it(tmp_path, image):
    name, extension = next(pair for pair in {"TIFF": ".tif", "OpenEXR": ".exr", "HEIC": ".heic"}.items() if pair[0] not in READS)
    with pytest.raises((ValueError, RuntimeError, OSError), match=f"has no {name}.*[\\s\\S]*apt-get install .*pip install"):
        satin.write(tmp_path / f"a{extension}", image)


def test_the_remedy_is_added_to_what_a_build_lacks():
    from satin import _files

    for text, added in (("This build of Satin has no TIFF.", True), ("The file is damaged.", False)):
        with pytest.raises(OSError) as raised, _files._remedied():
            raise OSError(text)
        assert ("apt-get install" in str(raised.value)) == added


# --- Batches. ---


def test_a_batch_is_the_filter_on_every_file(folder):
    rows = []
    result = satin.batch("blur radius=2", folder / "in", folder / "out", recursive=True, finished=rows.append)
    assert (result.total, result.done, result.failed, result.exit_code) == (5, 5, 0, 0)
    assert [row["status"] for row in rows] == ["done"] * 5
    for row in rows:
        expected = satin.blur(satin.read(row["input"]), radius=2)
        np.testing.assert_array_equal(satin.read(row["output"]), expected)
    assert sorted(files_in(folder / "out")) == sorted(files_in(folder / "in"))


def test_a_bad_file_is_a_row(folder):
    (folder / "in" / "bad.png").write_bytes(b"no picture")
    result = satin.batch("blur radius=2", folder / "in", folder / "out", recursive=True,
                         report=folder / "report.jsonl", gallery=folder / "page.html")  # fmt: skip
    assert (result.done, result.failed, result.exit_code) == (5, 1, 1)
    assert [row["input"] for row in result.failures] == [str(folder / "in" / "bad.png")]
    assert "not an image" in result.failures[0]["error"]["message"]
    lines = [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]
    assert [line["status"] for line in lines].count("done") == 5 and lines[-1]["summary"]["failed"] == 1
    assert "bad.png" in (folder / "page.html").read_text()


def test_names_and_settings_are_the_commands(folder):
    result = satin.batch("threshold method=otsu", [folder / "in" / "0.png"], folder / "{stem}_cut.{ext}", format="npy")
    assert result.done == 1 and (folder / "0_cut.npy").exists()
    with pytest.raises(ValueError, match="did you mean 'radius'|radius"):
        satin.batch("blur radis=2", folder / "in", folder / "out")
    with pytest.raises(ValueError, match="exists|same file"):
        satin.batch("blur radius=2", folder / "in" / "0.png", folder / "in" / "0.png")
    with pytest.raises(TypeError, match="overwrit"):
        satin.batch("blur radius=2", folder / "in", folder / "out", overwrit=True)
    with pytest.raises(ValueError, match="shard='auto': this is not a task"):
        satin.batch("blur radius=2", folder / "in", folder / "out", shard="auto")
    assert not (folder / "out").exists()


@needs("TIFF")
def test_a_batch_by_rows_gives_the_pixels_of_the_whole(tmp_path, random):
    satin.write(tmp_path / "wide.npy", random.integers(0, 256, (700, 900), np.uint8))
    for name, how in (("whole.tif", {}), ("rows.tif", {"stream": True, "pyramid": True})):
        assert satin.batch("blur radius=5 | median radius=2", tmp_path / "wide.npy", tmp_path / name, **how).done == 1
    np.testing.assert_array_equal(satin.read(tmp_path / "rows.tif"), satin.read(tmp_path / "whole.tif"))
    with Image.open(tmp_path / "rows.tif") as pages:
        assert pages.n_frames == 3 and 322 in pages.tag_v2  # a picture and two levels; TileWidth
    with pytest.raises(ValueError, match="stream"):
        satin.batch("blur", tmp_path / "wide.npy", tmp_path / "out.tif", stream=True, dither=True)


def test_resume(folder):
    first = satin.batch("blur radius=2", folder / "in", folder / "out", recursive=True, resume=True)
    assert first.done == 5
    made = files_in(folder / "out")
    (folder / "out" / "0.png").write_bytes(b"cut")
    rows = []
    again = satin.batch("blur radius=2", folder / "in", folder / "out", recursive=True, resume=True,
                        finished=rows.append)  # fmt: skip
    assert (again.done, again.skipped) == (1, 4)
    assert files_in(folder / "out") == made
    assert all(row["bytes"] == len((folder / row["output"]).read_bytes()) for row in rows)


def test_inputs_are_replaced_once_and_kept(folder):
    before, names = files_in(folder / "in"), sorted(files_in(folder / "in"))
    satin.batch("blur radius=2", folder / "in", folder / "out", recursive=True)
    result = satin.batch("blur radius=2", folder / "in", recursive=True, in_place=True, backup=".orig")
    assert (result.total, result.done, result.exit_code) == (5, 5, 0)
    now = files_in(folder / "in")
    assert sorted(now) == sorted(names + [name + ".orig" for name in names])
    assert {name: now[name] for name in names} == files_in(folder / "out")
    assert {name: now[name + ".orig"] for name in names} == before
    again = {"recursive": True, "in_place": True}
    assert satin.batch("blur radius=2", folder / "in", resume=True, backup=".orig", **again).skipped == 5
    with pytest.raises(ValueError, match="in place already. resume=True skips such files, overwrite=True filters"):
        satin.batch("blur radius=2", folder / "in", **again)
    with pytest.raises(ValueError, match="leave output out"):
        satin.batch("blur radius=2", folder / "in", folder / "out", **again)
    with pytest.raises(ValueError, match="or pass in_place=True"):
        satin.batch("blur radius=2", folder / "in")
    with pytest.raises(ValueError, match="backup keeps what in_place=True replaces"):
        satin.batch("blur radius=2", folder / "in", folder / "out", backup=".orig")
    with pytest.raises(ValueError, match="resume=True skips finished files"):
        satin.batch("blur radius=2", folder / "in", skip_existing=True, **again)
    assert files_in(folder / "in") == now


@needs("TIFF")  # as the codecs of SATIN_CODECS=FULL
def test_a_batch_uses_keeps_or_drops_gain_maps(tmp_path):
    # A lamp of eight times white: filtered in the restored light, it spreads far beyond what its white codes do.
    light = np.full((64, 64, 3), 0.1, np.float32)
    light[28:36, 28:36] = 8
    satin.write(tmp_path / "a.jpg", light, gain_map=True, quality=100)
    drawn = {}
    for use in None, "use", "keep", "drop":
        output = tmp_path / f"{use}.jpg"
        assert satin.batch("blur radius=8", tmp_path / "a.jpg", output, gain_map=use, quality=100).done == 1
        drawn[use] = satin.read(output, gain_map="use")
    expected = satin.blur(satin.read(tmp_path / "a.jpg", gain_map="use"), radius=8)
    np.testing.assert_allclose(drawn["use"][32, 32], expected[32, 32], rtol=0.05)
    np.testing.assert_array_equal(drawn[None], drawn["use"])
    # The codes alone lose the light that the lamp has beyond white.
    assert drawn["drop"].max() < 0.4 * expected.max() and drawn["keep"][32, 32, 0] > 2 * drawn["drop"][32, 32, 0]
    with pytest.raises(ValueError, match="gain_map 'yes': one of use, keep, drop"):
        satin.batch("blur radius=8", tmp_path / "a.jpg", tmp_path / "b.jpg", gain_map="yes")


def test_a_mask_is_inverted(tmp_path, image):
    satin.write(tmp_path / "a.png", image)
    mask = np.zeros(image.shape[:2], np.uint8)
    mask[:, :20] = 255
    satin.write(tmp_path / "mask.png", mask)
    text = f"blur radius=2 mask={tmp_path / 'mask.png'}"
    assert satin.batch(text, tmp_path / "a.png", tmp_path / "b.png", invert_mask=True).done == 1
    np.testing.assert_array_equal(satin.read(tmp_path / "b.png"), satin.blur(image, radius=2, mask=255 - mask))


def test_shards_are_all_of_it(folder):
    for shard in ("1/2", "2/2"):
        satin.batch("blur radius=2", folder / "in", folder / "out", recursive=True, shard=shard)
    assert sorted(files_in(folder / "out")) == sorted(files_in(folder / "in"))


def test_what_a_callback_raises_ends_the_batch(folder):
    def refuse(row):
        raise LookupError(row["output"])

    with pytest.raises(LookupError, match="out"):
        satin.batch("blur radius=2", folder / "in", folder / "out", finished=refuse)


def test_ctrl_c_ends_a_batch(folder):
    program = (
        "import os, signal, satin\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it\n"
        "def stop(row): os.kill(os.getpid(), signal.SIGINT)\n"
        f"satin.batch('blur radius=2', {str(folder / 'in')!r}, {str(folder / 'out')!r}, finished=stop)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert "KeyboardInterrupt" in ended.stderr, ended.stderr


def test_neither_ray_nor_dask_nor_a_bar_is_imported():
    program = "import sys, satin; print(sorted({'ray', 'dask', 'tqdm', 'pyarrow'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
