"""Satin's filters in a pipeline of libvips, which reads and writes files in rows.

    python vips_pipeline.py FOLDER

FOLDER holds scene.png and scene_disparity.png, as satin_render_scene makes them. Pictures go to FOLDER/made. libvips must find
Satin's module: it is in the package vips-satin, and in a build tree VIPSHOME=BUILD/hosts/vips names it.
"""
# %% Every filter is an operation, and so a method of pictures. help(pyvips.Image.satin_blur) explains it.
import sys
from pathlib import Path

import pyvips

folder = Path(sys.argv[1])
made = folder / "made"
made.mkdir(exist_ok=True)
print(pyvips.Image.satin_blur.__doc__.strip().splitlines()[0])

# %% A blur of any radius, sharpened at half the size. Rows are decoded, filtered and encoded as they come.
scene = pyvips.Image.new_from_file(str(folder / "scene.png"), access="sequential")
soft = scene.satin_blur(sigma=20).resize(0.5).satin_unsharp(amount=0.6, radius=2)
soft.write_to_file(str(made / "soft.jpg"), Q=90)
print(f"soft: {soft.width} x {soft.height} pixels")

# %% Side inputs are pictures too: depth of field with the scene's disparity, in focus where the white king stands.
scene = pyvips.Image.new_from_file(str(folder / "scene.png"))
disparity = pyvips.Image.new_from_file(str(folder / "scene_disparity.png"))
portrait = scene.satin_dof(depth=disparity, focus_at="62%,60%", strength=48, highlights=4)
portrait.write_to_file(str(made / "portrait_by_vips.png"))

# %% What libvips makes can be a mask: only what is far is softened.
far = (disparity < 20000).ifthenelse(255, 0).cast("uchar")
scene.satin_blur(radius=12, mask=far).write_to_file(str(made / "far_soft.png"))
print(f"far: {100 * far.avg() / 255:.0f} % of the picture")
