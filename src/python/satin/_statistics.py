"""Statistics of pictures, and their pixels by tone. Pictures are in host memory."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Optional, Sequence

import numpy

from satin import _native
from satin._arrays import DeviceLike, adopt, as_read, device_for, picture
from satin._words import worded
from satin.scan import BinsLike, _bins_for


@dataclasses.dataclass(frozen=True)
class ChannelStatistics:
    """What is known about one channel. Numbers are values as stored; NaN where there is no value."""

    count: int  #: of the pixels that were looked at and are finite
    nan: int  #: of those that are NaN; they count nowhere else
    infinite: int  #: of those that are infinite; they count nowhere else
    minimum: float
    maximum: float
    mean: float
    deviation: float  #: of the population
    percentiles: tuple[float, ...]  #: one for each that was asked for
    lower: float  #: where the histogram begins
    upper: float  #: and where it ends
    histogram: Any  #: uint64; values beyond the ends are in the outer bins


class ToneZones(NamedTuple):
    """The pixels of a picture by tone."""

    zones: Any  #: uint16 (height, width): the bin of each pixel
    counts: tuple[int, ...]  #: pixels in each bin
    pixels: Any  #: (pixels, channels): bin after bin, each in raster order
    positions: Any  #: uint32 (pixels, 2): x and y of each of them


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
    """Statistics of each channel of a picture, of the pixels where `mask` (uint8 or bool) is not 0.

    The histogram has `bins` of equal width from `lower` (0, of floats the smallest value) to `upper` (256, 65536,
    of floats the largest value). Counts, minimum, maximum and percentiles are exact; mean and deviation are correct
    to about 1e-15 of the largest magnitude.

    >>> import numpy, satin
    >>> grey, = satin.statistics(numpy.array([[0, 10], [20, 30]], numpy.uint8), percents=[50])
    >>> grey.mean, grey.maximum, grey.percentiles
    (15.0, 30.0, (15.0,))
    """
    chosen = None if mask is None else picture(mask, "mask", booleans=True)
    view = picture(as_read(image), "image", layout)
    found = _native.statistics(device_for(device, (view, chosen)), view, chosen, list(percents), bins, lower, upper)
    return [_channel(**channel) for channel in found]


def _channel(percentiles: list[float], histogram: list[int], **numbers: Any) -> ChannelStatistics:
    return ChannelStatistics(
        percentiles=tuple(percentiles), histogram=numpy.array(histogram, numpy.uint64), **numbers
    )


@worded()
def tone_zones(
    image: Any,
    bins: BinsLike = 8,
    range: Optional[tuple[float, float]] = None,
    *,
    layout: Optional[str] = None,
    device: DeviceLike = None,
) -> ToneZones:
    """Sorts the pixels of a picture into bins by luminance (grey: by value), in stable order; NaN into the last.

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
    """0.2126 R + 0.7152 G + 0.0722 B of the values as stored, rounded for integers; of grey pictures the grey.

    >>> import numpy, satin
    >>> int(satin.luminance(numpy.array([[[255, 0, 0]]], numpy.uint8))[0, 0])
    54
    """
    return adopt(_native.luminance(picture(as_read(image), "image", layout)), image)
