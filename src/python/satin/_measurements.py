"""Measurements of pictures: connected components of masks, statistics of channels, and pixels sorted by tone."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Optional, Sequence

import numpy

from satin import _native
from satin._arrays import DeviceLike, adopt, as_read, current_stream, device_for, picture
from satin._translation import worded
from satin.scan import BinsLike, _bins_for


class RegionValues(NamedTuple):
    """Statistics of one channel of a picture over a region, on stored values."""

    mean: float
    minimum: float
    maximum: float
    deviation: float  #: population standard deviation


class Region(NamedTuple):
    """A connected component. The centre of the first pixel is (0, 0)."""

    label: int  #: value of its pixels in Regions.labels
    area: int  #: number of pixels
    bbox: tuple[int, int, int, int]  #: x, y, width, height
    centroid: tuple[float, float]  #: x, y
    touches_border: bool  #: whether a pixel is in the first or last row or column
    values: tuple[RegionValues, ...]  #: one per channel of the image; empty without an image


class Regions(NamedTuple):
    """Result of :func:`find_regions`."""

    regions: list[Region]
    labels: Any  #: uint32 (height, width): 0 outside; an array of the mask's library


@worded()
def find_regions(
    mask: Any,
    image: Any = None,
    *,
    connectivity: int = 8,
    zeros: bool = False,
    min_area: int = 0,
    max_area: Optional[int] = None,
    min_width: int = 0,
    max_width: Optional[int] = None,
    min_height: int = 0,
    max_height: Optional[int] = None,
    touches_border: Optional[bool] = None,
    sort_by: str = "label",
    descending: bool = False,
    channel: int = 0,
    layout: Optional[str] = None,
    device: DeviceLike = None,
) -> Regions:
    """Finds the connected components of a mask (height, width) of uint8 or bool, where every value but 0 is inside.

    With an `image` of the mask's size (and axes as in `layout`), the result has its statistics over every region.
    `connectivity` is 4 or 8; `zeros` finds regions of pixels that are 0. Regions outside the bounds are dropped;
    `touches_border=False` drops regions at the border. They are numbered from 1 in the order of their first pixels, or
    by `sort_by`: area, x, y, width, height, or mean, minimum, maximum, deviation of a `channel`.

    Results are the same on every device: areas, boxes and sums are exact, and centroids are divided once. Raises
    ValueError for shapes that do not fit and for NaN or infinity in the image.

    >>> import numpy, satin
    >>> mask = numpy.zeros((8, 12), bool)
    >>> mask[2:5, 3:7] = True
    >>> region, = satin.find_regions(mask).regions
    >>> region.area, region.bbox, region.centroid
    (12, (3, 2, 4, 3), (4.5, 3.0))
    """
    view = picture(mask, "mask", booleans=True)
    values = None if image is None else picture(as_read(image), "image", layout)
    bounds = [min_area, max_area, min_width, max_width, min_height, max_height]
    found, labels = _native.find_regions(
        device_for(device, (view, values)), view, values, connectivity, zeros, bounds, touches_border,
        sort_by, descending, channel, current_stream(mask),
    )  # fmt: skip
    regions = [
        Region(label, area, bbox, centroid, at_border, tuple(RegionValues(*each) for each in measured))
        for label, area, bbox, centroid, at_border, measured in found
    ]
    return Regions(regions, adopt(labels, mask))


@dataclasses.dataclass(frozen=True)
class ChannelStatistics:
    """Statistics of one channel, on stored values; NaN if there is no value."""

    count: int  #: number of finite values
    nan: int  #: number of NaN, which are not in `count`
    infinite: int  #: number of infinite values, which are not in `count`
    minimum: float
    maximum: float
    mean: float
    deviation: float  #: population standard deviation
    percentiles: tuple[float, ...]  #: one per element of `percents`
    lower: float  #: lower end of the histogram
    upper: float  #: upper end of the histogram
    histogram: Any  #: counts (uint64); values beyond the ends are in the outer bins


class ToneZones(NamedTuple):
    """The pixels of a picture, sorted by tone."""

    zones: Any  #: bin of each pixel, uint16 (height, width)
    counts: tuple[int, ...]  #: number of pixels in each bin
    pixels: Any  #: pixels bin after bin, each in raster order: (pixels, channels)
    positions: Any  #: x and y of each of `pixels`, uint32 (pixels, 2)


@worded()
def statistics(
    image: Any,
    mask: Any = None,
    *,
    percents: Sequence[float] = (1, 5, 25, 50, 75, 95, 99),
    bins: int = 256,
    lower: Optional[float] = None,
    upper: Optional[float] = None,
    layout: Optional[str] = None,
    device: DeviceLike = None,
) -> list[ChannelStatistics]:
    """Computes statistics of each channel of a picture, over the pixels where `mask` (uint8 or bool) is not 0.

    The histogram has `bins` of equal width from `lower` (default 0, for floats the smallest value) to `upper` (default
    256 or 65536, for floats the largest value). Counts, minimum, maximum and percentiles are exact; mean and deviation
    are correct to about 1e-15 of the largest magnitude.

    >>> import numpy, satin
    >>> grey, = satin.statistics(numpy.array([[0, 10], [20, 30]], numpy.uint8), percents=[50])
    >>> grey.mean, grey.maximum, grey.percentiles
    (15.0, 30.0, (15.0,))
    """
    chosen = None if mask is None else picture(mask, "mask", booleans=True)
    view = picture(as_read(image), "image", layout)
    found = _native.statistics(device_for(device, (view, chosen)), view, chosen, list(percents), bins, lower, upper)
    return [
        ChannelStatistics(*each[:7], tuple(each[7]), *each[8:10], numpy.array(each[10], numpy.uint64)) for each in found
    ]


@worded()
def tone_zones(
    image: Any,
    bins: BinsLike = 8,
    range: Optional[tuple[float, float]] = None,
    *,
    layout: Optional[str] = None,
    device: DeviceLike = None,
) -> ToneZones:
    """Sorts the pixels of a picture into bins by luminance (grey: by value), stably. NaN falls into the last bin.

    `bins` is a number of even bins over `range` (0 to 256 or 65536 for integers), or their ascending edges.

    >>> import numpy, satin
    >>> satin.tone_zones(numpy.array([[0, 10], [200, 30]], numpy.uint8), bins=2).counts
    (3, 1)
    """
    view = picture(as_read(image), "image", layout)
    zones, counts, pixels, positions = _native.tone_zones(
        device_for(device, (view,)), view, _bins_for(bins, range, view.dtype)
    )
    return ToneZones(zones, tuple(counts), pixels, positions)


@worded()
def luminance(image: Any, *, layout: Optional[str] = None) -> Any:
    """Returns 0.2126 R + 0.7152 G + 0.0722 B of the stored values, rounded for integers; for grey pictures the grey.

    >>> import numpy, satin
    >>> int(satin.luminance(numpy.array([[[255, 0, 0]]], numpy.uint8))[0, 0])
    54
    """
    return adopt(_native.luminance(picture(as_read(image), "image", layout)), image)
