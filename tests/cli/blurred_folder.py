"""A folder of noise, and the same folder after a blur."""
import numpy as np

import png_file
from conftest import files_below
from oracle import box_blur

BLUR = ("--radius", "2", "--space", "encoded")


def fill(folder, noise, names, shape=(9, 14, 3)):
    arrays = {}
    for seed, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        arrays[name] = noise(shape, seed=seed)
        png_file.write(folder / name, arrays[name])
    return arrays


def check(folder, arrays):
    assert files_below(folder) == sorted(arrays)
    for name, array in arrays.items():
        assert np.array_equal(png_file.read(folder / name), box_blur(array, 2)), name
