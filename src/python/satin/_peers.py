"""Names of Satin's functions in SciPy, scikit-image and OpenCV: for messages about unknown names."""

from __future__ import annotations

import difflib

#: Satin's calls for an array `a`, and the functions of other libraries that do the same. The table in this package's README
#: has those of SciPy, scikit-image and OpenCV with their defaults.
_CALLS = {
    "satin.blur(a, R)": "uniform_filter mean blur boxFilter box_blur mean_filter average",
    "satin.blur(a, sigma=S)": "gaussian_filter gaussian GaussianBlur",
    "satin.median(a, R)": "median_filter median medianBlur despeckle denoise",
    "satin.median(a, R, percent=P)": "percentile_filter rank_filter percentile",
    "satin.erode(a, R)": "minimum_filter grey_erosion binary_erosion erosion erode",
    "satin.dilate(a, R)": "maximum_filter grey_dilation binary_dilation dilation dilate",
    "satin.opening(a, R)": "grey_opening binary_opening opening morphologyEx",
    "satin.closing(a, R)": "grey_closing binary_closing closing",
    "satin.mask(a, fill_all_holes=True)": "binary_fill_holes remove_small_holes",
    "satin.mask(a, min_area=N)": "remove_small_objects",
    "satin.threshold(a, 'sauvola', window=31, k=0.2)": "threshold_sauvola threshold_niblack threshold_local "
    "adaptiveThreshold binarize sauvola niblack",
    "satin.threshold(a, 'otsu')": "threshold_otsu threshold",
    "satin.find_regions(a, connectivity=8)": "label find_objects regionprops connectedComponentsWithStats "
    "connected_components regionprops_table",
    "satin.edge_smooth(a, sigma_s=30, sigma_r=0.2)": "denoise_bilateral bilateralFilter edgePreservingFilter bilateral",
    "satin.guided(a, R, guide=g)": "guidedFilter",
    "satin.unsharp(a, 1, sigma=1)": "unsharp_mask sharpen unsharp_masking",
    "satin.integral(a)": "integral_image integral",
    "satin.stretch(a, 101)": "equalize_adapthist createCLAHE",
    "satin.local_deviation(a, 31)": "generic_filter",
    "satin.statistics(a)": "histogram calcHist meanStdDev",
    "satin.luminance(a)": "rgb2gray cvtColor",
    "satin.read(path)": "imread open load",
    "satin.write(path, a)": "imsave imwrite save",
    "satin.dof(a, depth=d)": "bokeh lens_blur depth_of_field",
    "satin.resize(a, N)": "resize zoom rescale thumbnail imresize",
    "satin.redact(a, 'mosaic', box=(x, y, w, h))": "pixelate mosaic",
}

_EDGES = "canny sobel scharr laplacian laplace prewitt"
_OF_SIZE = "rotate flip pad warp"

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


def _normal(name: str) -> str:
    return name.lower().replace("_", "")


def advice_for(name: str, known: list[str]) -> str:
    """Returns the message for an unknown `name`; `known` are the names of this package."""
    text = f"satin has no '{name}'"
    call = next((call for call, names in _CALLS.items() if _normal(name) in map(_normal, names.split())), None)
    if call is not None:
        return f"{text}: {call} does that. The table in satin's README has the names beside scipy.ndimage, skimage and cv2."
    if _normal(name) in _OF_SIZE.split():
        return f"{text}: it filters, resizes and crops. skimage.transform and cv2 do that."
    if _normal(name) in _EDGES.split():
        return f"{text}: it finds no edges. cv2 and skimage.filters do."
    near = difflib.get_close_matches(name, known, 1)
    return f"{text}. Did you mean '{near[0]}'?" if near else f"{text}; dir(satin) lists what there is."
