"""Depth of field of the sample scene as Ultra HDR, against that of its true light: lamps keep their light."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "cli"))
import pfm_file  # noqa: E402

satin, render = os.environ["SATIN_BINARY"], os.environ["SATIN_RENDER_SCENE"]


def run(*arguments):
    result = subprocess.run([*map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def encoded(light):
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    run(render, "-o", folder, "--width", 960, "--height", 640)
    if not (folder / "scene_hdr.jpg").exists():
        print("Skipped: this build writes no gain maps")
        raise SystemExit(77)

    def filtered(source, output, *options):
        run(satin, "dof", folder / source, "-o", folder / output, "--depth", folder / "scene_disparity.png", "--strength", 24,
            "--focus-at", "40%,55%", "-q", *options)

    filtered("scene.pfm", "truth.pfm")
    filtered("scene_hdr.jpg", "out.jpg")
    filtered("scene_hdr.jpg", "sdr.pfm", "--gain-map", "drop")
    run(satin, "crop", folder / "out.jpg", "-o", folder / "out.pfm", "--box", "0,0,100%,100%", "-q")  # the light that it restores
    truth, found, sdr = (pfm_file.read(folder / each) for each in ("truth.pfm", "out.pfm", "sdr.pfm"))

lamps = truth.max(axis=2) > np.maximum(1.3 * sdr.max(axis=2), 0.05)  # where lamps add light
share = [light[lamps].mean() / truth[lamps].mean() for light in (found, sdr)]
psnr = [-10 * np.log10(((encoded(light) - encoded(truth)) ** 2).mean()) for light in (found, sdr)]
print("lamps have %.3f of their light (%.3f without the gain map); %.1f dB (%.1f)" % (share[0], share[1], psnr[0], psnr[1]))
assert lamps.mean() > 0.01 and share[0] >= 0.85 and psnr[0] >= 35
