"""Names of Satin's functions in SciPy, scikit-image and OpenCV: for messages about unknown names, and for a table."""

from __future__ import annotations

import difflib
import re

#: What is done; how scipy.ndimage, skimage and cv2 call it, with their defaults; Satin's call for an array `a`.
ROWS = (
    ("mean of a window", "uniform_filter(size=3)", "filters.rank.mean(footprint)", "blur(ksize), boxFilter(ksize)",
     "satin.blur(a, R)"),
    ("gaussian", "gaussian_filter(sigma)", "filters.gaussian(sigma=1)", "GaussianBlur(ksize, sigmaX)",
     "satin.blur(a, sigma=S)"),
    ("median", "median_filter(size=None)", "filters.median(footprint=None)", "medianBlur(ksize)", "satin.median(a, R)"),
    ("percentile", "percentile_filter(percentile), rank_filter(rank)", "filters.rank.percentile(p0=0)", "",
     "satin.median(a, R, percent=P)"),
    ("minimum", "minimum_filter(size=None), grey_erosion, binary_erosion", "morphology.erosion", "erode(kernel)",
     "satin.erode(a, R)"),
    ("maximum", "maximum_filter(size=None), grey_dilation, binary_dilation", "morphology.dilation", "dilate(kernel)",
     "satin.dilate(a, R)"),
    ("opening", "grey_opening, binary_opening", "morphology.opening", "morphologyEx(MORPH_OPEN)", "satin.mask(a, open=R)"),
    ("closing", "grey_closing, binary_closing", "morphology.closing", "", "satin.mask(a, close=R)"),
    ("fill holes", "binary_fill_holes", "morphology.remove_small_holes", "", "satin.mask(a, fill_all_holes=True)"),
    ("remove specks", "", "morphology.remove_small_objects", "", "satin.mask(a, min_area=N)"),
    ("local threshold", "", "filters.threshold_sauvola(window_size=15, k=0.2), filters.threshold_niblack, "
     "filters.threshold_local", "adaptiveThreshold(blockSize, C)", "satin.threshold(a, 'sauvola', window=31, k=0.2)"),
    ("one threshold", "", "filters.threshold_otsu", "threshold(THRESH_OTSU)", "satin.threshold(a, 'otsu')"),
    ("regions", "label(structure: 4), find_objects", "measure.label(connectivity: 8), measure.regionprops",
     "connectedComponentsWithStats(connectivity=8)", "satin.find_regions(a, connectivity=8)"),
    ("smooth, keep edges", "", "restoration.denoise_bilateral", "bilateralFilter(d, sigmaColor, sigmaSpace), "
     "edgePreservingFilter", "satin.edge_smooth(a, sigma_s=30, sigma_r=0.2)"),
    ("guided filter", "", "", "ximgproc.guidedFilter(guide, radius, eps)", "satin.guided(a, R, guide=g)"),
    ("sharpen", "", "filters.unsharp_mask(radius=1, amount=1)", "", "satin.unsharp(a, 1, sigma=1)"),
    ("summed-area table", "", "transform.integral_image", "integral (one row and column more)", "satin.integral(a)"),
    ("local contrast", "", "exposure.equalize_adapthist", "createCLAHE", "satin.stretch(a, 101)"),
    ("local deviation", "generic_filter(numpy.std)", "", "", "satin.local_deviation(a, 31)"),
    ("histogram", "histogram", "exposure.histogram", "calcHist, meanStdDev", "satin.statistics(a)"),
    ("grey of colours", "", "color.rgb2gray (0.2125, 0.7154, 0.0721)", "cvtColor(COLOR_RGB2GRAY) (0.299, 0.587, 0.114)",
     "satin.luminance(a)"),
    ("read, write", "", "io.imread, io.imsave", "imread, imwrite (blue first)", "satin.read(path)"),
    ("borders", "mode='reflect'", "mode='nearest' or 'reflect'", "BORDER_DEFAULT: mirror", "satin.blur(a, R, border='shrink')"),
)  # fmt: skip

_OTHER_WORDS = {
    "satin.blur(a, R)": "box_filter box_blur mean_filter average",
    "satin.blur(a, sigma=S)": "gaussian_blur gaussianblur",
    "satin.edge_smooth(a, sigma_s=30, sigma_r=0.2)": "bilateral",
    "satin.dof(a, depth=d)": "bokeh lens_blur depth_of_field",
    "satin.threshold(a, 'sauvola', window=31, k=0.2)": "binarize sauvola niblack adaptive_threshold",
    "satin.redact(a, 'mosaic', box=(x, y, w, h))": "pixelate mosaic",
    "satin.find_regions(a, connectivity=8)": "connected_components regionprops_table",
    "satin.unsharp(a, 1, sigma=1)": "sharpen unsharp_masking",
    "satin.median(a, R)": "despeckle denoise",
    "satin.read(path)": "open load",
    "satin.write(path, a)": "save imwrite imsave",
}

_OF_SIZE = "resize rescale rotate crop flip pad zoom warp"

#: Parameters of other libraries, and Satin's for the same; a filter has the first of several or the next.
_PARAMETERS = {
    "border": "mode border_type boundary",
    "border_value": "cval",
    "sigma": "sigma_x std",
    "radius window": "size ksize kernel_size window_size block_size footprint diameter",
    "percent": "percentile rank q",
}


def parameter_for(name: str, known: list[str]) -> str:
    """Returns the end of a message that names the `known` parameter for another library's `name`; empty if there is
    none."""
    for ours, theirs in _PARAMETERS.items():
        if _normal(name) in map(_normal, theirs.split()):
            for each in filter(known.__contains__, ours.split()):
                return f" Did you mean '{each}'?" + (" A radius of 2 is a window of 5 x 5." if each == "radius" else "")
    return ""


def names_of(cell: str) -> list[str]:
    """Returns the names of functions in a cell of the table."""
    plain = re.sub(r"\([^)]*\)", "", cell)
    return [] if "=" in plain or ":" in plain else [each.strip() for each in plain.split(",") if each.strip()]


def _normal(name: str) -> str:
    return name.lower().replace("_", "")


def _calls() -> dict[str, str]:
    calls: dict[str, str] = {}
    for _, *cells, call in ROWS:
        calls.update((_normal(name.rpartition(".")[2]), call) for cell in cells for name in names_of(cell))
    for call, words in _OTHER_WORDS.items():
        calls.update((_normal(word), call) for word in words.split())
    return calls


def advice_for(name: str, known: list[str]) -> str:
    """Returns the message for an unknown `name`; `known` are the names of this package."""
    text = f"satin has no '{name}'"
    call = _calls().get(_normal(name))
    if call is not None:
        return f"{text}: {call} does that. The table in satin's README has the names beside scipy.ndimage, skimage and cv2."
    if _normal(name) in _OF_SIZE.split():
        return f"{text}: it filters and leaves the size alone. skimage.transform and cv2 change it."
    near = difflib.get_close_matches(name, known, 1)
    return f"{text}. Did you mean '{near[0]}'?" if near else f"{text}; dir(satin) lists what there is."


def table() -> str:
    """Returns the table in Markdown."""
    rows: list[tuple[str, ...]] = [("", "scipy.ndimage", "skimage", "cv2", "satin"), ("---",) * 5]
    rows += [(task, *(f"`{cell}`" if cell else "" for cell in cells)) for task, *cells in ROWS]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
