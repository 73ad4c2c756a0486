"""Connected components of masks: their places, sizes and values."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from satin import _native
from satin._arrays import DeviceLike, adopt, as_read, current_stream, device_for, picture
from satin._words import worded


class RegionValues(NamedTuple):
    """One channel of a picture under a region; values as stored."""

    mean: float
    minimum: float
    maximum: float
    deviation: float  #: of the population


class Region(NamedTuple):
    """One connected component. The centre of the first pixel is (0, 0)."""

    label: int  #: of its pixels in Regions.labels
    area: int  #: pixels
    bbox: tuple[int, int, int, int]  #: x, y, width, height
    centroid: tuple[float, float]  #: x, y
    touches_border: bool  #: a pixel lies in the first or last row or column
    values: tuple[RegionValues, ...]  #: one for each channel of the image; none without one


class Regions(NamedTuple):
    """What :func:`find_regions` finds."""

    regions: list[Region]
    labels: Any  #: uint32 (height, width): 0 outside; an array of the mask's library


def _region(label: int, area: int, bbox: Any, centroid: Any, touches_border: bool, values: Any) -> Region:
    return Region(label, area, bbox, centroid, touches_border, tuple(RegionValues(**each) for each in values))


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
    """The connected components of a mask (height, width) of uint8 or bool, in which all but 0 is inside.

    With an `image` of the mask's size (its axes may be told by `layout`), values under every region come too.
    `connectivity` is 4 or 8; `zeros` makes regions of the pixels that are 0. Regions outside the bounds are left
    away; `touches_border=False` leaves away those that touch it. They are numbered from 1 in the order of their
    first pixels, or by `sort_by`: area, x, y, width, height, or mean, minimum, maximum, deviation of a `channel`.

    The same on every device: areas, boxes and sums are exact, centroids are divided once. Raises ValueError for
    shapes that do not fit and for NaN or infinity in the image.

    >>> import numpy, satin
    >>> mask = numpy.zeros((8, 12), bool)
    >>> mask[2:5, 3:7] = True
    >>> region, = satin.find_regions(mask).regions
    >>> region.area, region.bbox, region.centroid
    (12, (3, 2, 4, 3), (4.5, 3.0))
    """
    view = picture(mask, "mask", booleans=True)
    values = None if image is None else picture(as_read(image), "image", layout)
    chosen = device_for(device, (view, values))
    found = _native.find_regions(chosen, view, connectivity, zeros, values, current_stream(mask))
    found.keep(min_area, max_area, min_width, max_width, min_height, max_height, touches_border)
    found.sort_by(sort_by, descending, channel)
    found.renumber()
    return Regions([_region(*each) for each in found.regions()], adopt(found.take_labels(), mask))
