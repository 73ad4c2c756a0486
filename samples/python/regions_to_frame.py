"""Areas of a picture, measured, in a data frame of pandas.

    python regions_to_frame.py FOLDER

FOLDER holds scene.png, as satin_render_scene makes it. A table goes to FOLDER/made.
"""
# %% Lamps are what is brighter than 90 % of white.
import sys
from pathlib import Path

import pandas as pd

import satin

folder = Path(sys.argv[1])
made = folder / "made"
made.mkdir(exist_ok=True)
image = satin.read(folder / "scene.png")
lamps = satin.threshold(image, "fixed", level=0.9)

# %% Connected areas of two pixels or more, with the picture's values under each.
found = satin.find_regions(lamps, image, min_area=2, sort_by="area", descending=True)
frame = pd.DataFrame(
    {
        "label": region.label,
        "area": region.area,
        **dict(zip(("x", "y", "width", "height"), region.bbox)),
        **dict(zip(("centre_x", "centre_y"), region.centroid)),
        **{colour: values.mean for colour, values in zip(("red", "green", "blue"), region.values)},
    }
    for region in found.regions
).set_index("label")
print(frame.head().round(1).to_string())

# %% From there on it is pandas: bulbs, and what glints of them.
frame["kind"] = (frame.area >= 20).map({True: "bulb", False: "glint"})
print(frame.groupby("kind").agg(areas=("area", "size"), pixels=("area", "sum")).to_string())
frame.to_csv(made / "lamps.csv")

# %% Labels say which area a pixel belongs to, so the table and the picture stay together.
assert all((found.labels == label).sum() == area for label, area in frame.area.head().items())
