"""A page in uneven light as black letters on white.

    python clean_page.py FOLDER

FOLDER holds scene.png, as satin_render_scene makes it: a sheet of notes lies at its lower right. Pictures go to FOLDER/made.
"""
# %% The sheet, as grey. For a photograph of a page take all of it.
import sys
from pathlib import Path

import numpy as np

import satin

folder = Path(sys.argv[1])
made = folder / "made"
made.mkdir(exist_ok=True)
scene = satin.read(folder / "scene.png")
height, width = scene.shape[:2]
page = satin.luminance(scene[int(0.9 * height) :, int(0.68 * width) : int(0.98 * width)])

# %% The light falls off along the sheet. A threshold for all of it loses letters in the dark; one for each window does not.
# The window is about three lines of writing.
window = 2 * (page.shape[0] // 6) + 1
ink = satin.threshold(page, "sauvola", window=window, k=0.1, invert=True)

# %% Specks are areas of a few pixels. White on black is what counts as inside.
letters = satin.mask(ink, min_area=3)
satin.write(made / "page.png", 255 - letters, overwrite=True)

# %% The same in one pass, as text that the command takes too: satin run '...' page.png -o clean.png
text = f"threshold method=sauvola window={window} k=0.1 invert=true | mask min-area=3"
assert np.array_equal(satin.run(text, page), letters)

# %% How much was ink, and how many specks went.
before, after = (len(satin.find_regions(each).regions) for each in (ink, letters))
print(f"{np.mean(letters > 0):.1%} of the page is ink; {before - after} of {before} areas were specks")
