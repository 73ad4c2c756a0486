"""Depth of field from a picture and its depth.

    python depth_of_field.py FOLDER

FOLDER holds scene.png and scene_disparity.png, as satin_render_scene makes them. Pictures go to FOLDER/made.
"""
# %% A picture, and for every pixel how near it is.
import sys
from pathlib import Path

import numpy as np

import satin

folder = Path(sys.argv[1])
made = folder / "made"
made.mkdir(exist_ok=True)
image = satin.read(folder / "scene.png")
disparity = satin.read(folder / "scene_disparity.png")  # large is near
print(f"picture {image.shape} {image.dtype}, disparity {disparity.shape} {disparity.dtype}")

# %% In focus at a place: the white king stands at 62 % of the width and 60 % of the height.
# strength is the radius of the blur, in pixels, for a disparity that differs by 1 (white). Lamps that are clipped at white
# were four times as bright.
portrait = satin.dof(image, depth=disparity, focus_at=("62%", "60%"), strength=48, highlights=4)
satin.write(made / "portrait.png", portrait, overwrite=True)

# %% In focus by value, at the farthest point.
far = satin.dof(image, depth=disparity, focus=disparity.min() / 65535, strength=48)
satin.write(made / "far.png", far, overwrite=True)

# %% Both keep what they focus: the mean change of a pixel near the king's middle is far below that elsewhere.
height, width = disparity.shape
king = np.s_[int(0.55 * height) : int(0.65 * height), int(0.61 * width) : int(0.63 * width)]
for name, result in (("portrait", portrait), ("far", far)):
    change = np.abs(result.astype(int) - image).mean(axis=2)
    print(f"{name}: the king changes by {change[king].mean():.1f} grey levels, the picture by {change.mean():.1f}")

# %% What the filter saw: the radius of every pixel.
satin.write(made / "radii.png", satin.dof(image, depth=disparity, focus_at=("62%", "60%"), strength=48, debug="coc"),
            overwrite=True)  # fmt: skip

# %% Many frames of one size: plan once, which allocates, and run often, which does not.
plan = satin.Plan("dof depth=near focus-at=62%,60% strength=48 highlights=4", image, inputs={"near": disparity})
out = np.empty_like(image)
for _ in range(2):
    plan(image, inputs={"near": disparity}, out=out)
print(f"planned: {plan.workspace_bytes / 2**20:.0f} MiB of workspace, same bytes: {np.array_equal(out, portrait)}")
