"""Every command that the README, the command's reference and the page of tasks show, pasted in their order into one folder each."""
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import photo_file
import png_file
from conftest import BINARY, FULL_CODECS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "src/app/README.md", "src/app/TASKS.md"]
# A server, and commands about a checkout of the sources.
ELSEWHERE = re.compile(r"^(satin view|samples/run|cmake|sudo)\b")

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="this build lacks formats that the documents show")


def lines_of(document):
    """Indented lines of a document that are a command line of the shell."""
    return [line[4:] for line in (ROOT / document).read_text().splitlines()
            if re.match(r"    (satin|find|samples|cmake|sudo)\b", line)]


def outputs_of(line):
    """The files that it names for results; - is standard output."""
    names = re.findall(r"(?:-o|--report|--plot|--gallery|--overlay|--depth-out) '?([^\s']+)", line)
    return [name for name in names if name != "-"]


@pytest.fixture
def folder(satin, noise):
    """The files that the documents name."""
    image = pytest.importorskip("PIL.Image")
    y, x = np.mgrid[0:160, 0:240]
    photo = np.stack([x, y, noise((160, 240), np.uint8, 3)], axis=2).astype(np.uint8)
    depth = (x // 4 * 4 + 8).astype(np.uint8)
    image.fromarray(photo).save(satin.folder / "photo.jpg", quality=95)
    png_file.write(satin.folder / "depth.png", depth)
    png_file.write(satin.folder / "mask.png", np.where((x // 20 + y // 20) % 3 == 0, 255, 0).astype(np.uint8))
    image.fromarray(np.where(noise((160, 240), np.uint8, 4) > 200, 30, 220).astype(np.uint8)).save(satin.folder / "page.jpg")
    (satin.folder / "phone.jpg").write_bytes(
        photo_file.gdepth(photo_file.jpeg(photo), photo_file.png(depth), photo_file.jpeg(photo)))
    for name in ["holiday/IMG_1.jpg", "holiday/IMG_2.jpg", "holiday/lake/IMG_3.jpg", "renders/a.png", "renders/b.png", "scans/page.png"]:
        (satin.folder / name).parent.mkdir(parents=True, exist_ok=True)
        image.fromarray(photo).save(satin.folder / name)
    for name in ["a", "b"]:
        image.fromarray(depth).save(satin.folder / "renders" / (name + "_depth.tif"))
    image.fromarray(depth).save(satin.folder / "survey.tif")
    page = image.open(satin.folder / "page.jpg")
    page.save(satin.folder / "scan.tif", save_all=True, append_images=[page])
    (satin.folder / "sky.pfm").write_bytes(b"PF\n64 32\n-1.0\n" + (noise((32, 64, 3), np.uint8, 5).astype("<f4") / 255).tobytes())
    satin.good("blur", "sky.pfm", "-o", "sky.hdr", "--radius", "0")
    (satin.folder / "bin").mkdir()
    (satin.folder / "bin" / "satin").symlink_to(BINARY)
    return satin.folder


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_can_be_pasted(folder, document):
    environment = {**os.environ, "PATH": "%s:%s" % (folder / "bin", os.environ["PATH"])}
    lines = lines_of(document)
    commands = [line for line in lines if not ELSEWHERE.match(line)]
    assert len(commands) >= 8
    for line in commands:
        # An empty environment of devices: a command that asks for a GPU says that there is none.
        result = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)
        good = [0] if "cuda:" not in line else [0, 2, 3]
        assert result.returncode in good, (line, result.stderr)
    outputs = [name for line in lines for name in outputs_of(line)]
    assert len(outputs) == len(set(outputs)), "an output name occurs twice"
    assert not [line for line in lines if re.search(r"\w {3,}\w", line)], "words behind a command, without a #"
    plain = [name for line in commands if "cuda:" not in line for name in outputs_of(line) if "{" not in name]
    assert [name for name in plain if not (folder / name).exists()] == []


def test_links_lead_somewhere():
    documents = [path for part in ["", "src/**/", "kernels/", "tests/**/", "samples/**/"] for path in ROOT.glob(part + "*.md")]
    links = [(path, link) for path in documents for link in re.findall(r"\]\(([\w.-]*[./][\w./-]*)\)", path.read_text())]
    assert len(links) > 30
    assert [str(path) + ": " + link for path, link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("script", [["tests/core/topics", "--check"], ["tests/bench/results", "write", "--check"]])
def test_generated_pages_are_up_to_date(script):
    done = subprocess.run([str(ROOT / script[0]), *script[1:]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
