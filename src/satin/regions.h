#pragma once
// Masks as regions: connected components, their places, sizes and values. The filter `regions` makes JSON of
// them.
//
// Rosenfeld and Pfaltz, Sequential operations in digital picture processing, 1966; He, Chao, Suzuki, A
// run-based two-scan labeling algorithm, 2008; Playne and Hawick, A new algorithm for parallel
// connected-component labelling on GPUs, 2018.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "satin/device.h"
#include "satin/filter.h"
#include "satin/image.h"
#include "satin/json.h"

namespace [[gnu::visibility("default")]] satin {

struct FilterRecord;

/// Which pixels are neighbours.
enum class Connectivity : std::uint8_t {
  four,  ///< those that share a side
  eight  ///< those that share a side or a corner
};

/// One channel of a picture under a region; values as stored.
struct RegionValues {
  double mean = 0;       ///< of the region's pixels
  double minimum = 0;    ///< smallest value
  double maximum = 0;    ///< largest value
  double deviation = 0;  ///< of the population: the root of the mean square of value - mean
};

/// One connected component. Pixel centres have integer coordinates, (0, 0) is the first pixel.
struct Region {
  std::uint32_t label = 0;           ///< its pixels in Regions::labels
  std::int64_t area = 0;             ///< pixels
  std::int64_t x = 0;                ///< bounding box: left column,
  std::int64_t y = 0;                ///< upper row,
  std::int64_t width = 0;            ///< columns,
  std::int64_t height = 0;           ///< rows
  double centroid_x = 0;             ///< mean of its pixels' x,
  double centroid_y = 0;             ///< and of their y
  bool touches_border = false;       ///< a pixel lies in the first or last row or column
  std::vector<RegionValues> values;  ///< one a channel of RegionsOptions::image; none without one
};

/// How regions are found.
struct RegionsOptions {
  Connectivity connectivity = Connectivity::eight;  ///< which pixels are neighbours
  bool zeros = false;  ///< the pixels that are 0 make regions instead of the others
  ImageView image{};   ///< u8, u16 or f32 of the mask's size: its values under every region
};

/// What was found.
struct Regions {
  std::vector<Region> regions;  ///< labels 1, 2 ... in the raster order of their first pixels
  Image labels;                 ///< u32, one channel: 0 outside, where the mask lives
  std::uint32_t largest = 0;    ///< label in the picture
  std::uint32_t found = 0;      ///< regions of the mask, with those that were left out since
};

/// The connected components of a mask: one channel of u8, one frame, any strides, every value but 0 is
/// inside; fewer than 2^32 pixels, where every row counts as the next multiple of 32. An image is one frame
/// in the memory where the mask is. Besides the labels a GPU needs 2.5 bytes a pixel; the CPU, which keeps
/// runs, 0.2 to 9, and 20 bytes a column and thread; both need 40 bytes a region (and 32 a channel of an
/// image) and the 96 of its Region.
///
/// The same bytes on every device: areas, boxes and sums are exact integers, centroids are divided once.
/// Means and deviations of u8 and u16 come from exact sums; floats are fixed-point numbers of 40 bits below
/// the largest magnitude of the picture (fewer from 2^23 pixels on), minimum and maximum are exact. Throws
/// Error(usage) for shapes that do not fit, Error(input) if the image holds NaN or infinity anywhere.
[[nodiscard]] Regions find_regions(const Device& device, const ImageView& mask,
                                   const RegionsOptions& options = {});

// --- Choosing among them. regions.regions is a plain vector: erase from it, or sort it, as you like; then
// renumber(). ---

/// Bounds that a region has to keep, the bounds themselves included.
struct RegionFilter {
  std::int64_t min_area = 0;                                           ///< pixels
  std::int64_t max_area = std::numeric_limits<std::int64_t>::max();    ///< pixels
  std::int64_t min_width = 0;                                          ///< columns of the bounding box
  std::int64_t max_width = std::numeric_limits<std::int64_t>::max();   ///< columns of the bounding box
  std::int64_t min_height = 0;                                         ///< rows of the bounding box
  std::int64_t max_height = std::numeric_limits<std::int64_t>::max();  ///< rows of the bounding box
  std::optional<bool> touches_border{};  ///< true: only those that do; false: only those that do not
};

/// True if the region keeps every bound.
[[nodiscard]] bool passes(const Region& region, const RegionFilter& filter) noexcept;

/// What regions are sorted by: members of Region, and of its values.
enum class RegionKey : std::uint8_t {
  label,     ///< raster order of the first pixels
  area,      ///< pixels
  x,         ///< left column
  y,         ///< upper row
  width,     ///< columns of the bounding box
  height,    ///< rows of the bounding box
  mean,      ///< of the values
  minimum,   ///< of the values
  maximum,   ///< of the values
  deviation  ///< of the values
};

/// Stable. The last four are those of one channel of the values. Throws Error(usage) for regions without that
/// channel.
void sort_by(std::vector<Region>& regions, RegionKey key, bool descending = false, int channel = 0);

/// Gives the regions that are left the labels 1, 2 ... in the vector's order, and the pixels of the label
/// picture theirs; pixels of regions that are gone become 0. On the device, in place: 8 bytes a pixel move.
/// Throws Error(usage) for labels that occur twice, are 0 or above regions.largest.
void renumber(const Device& device, Regions& regions);

// --- What the filter `regions` does. ---

/// Run lengths of a region in JSON (satin/rle.h).
enum class RunLengthText : std::uint8_t {
  compressed,    ///< COCO's text
  uncompressed,  ///< numbers
  none           ///< left out
};

/// What is a mask, which of its regions count, and how they are told.
struct RegionSearch {
  Connectivity connectivity = Connectivity::eight;  ///< which pixels are neighbours
  double level = 0;       ///< inside is what is above, as a fraction of white; colours by their luminance
  bool invert = false;    ///< inside is what is not above
  RegionFilter filter{};  ///< which are kept
  bool inner = false;     ///< those that touch the border are not
  RegionKey key = RegionKey::label;  ///< order of the list, by the first channel of the values
  bool descending = false;           ///< the largest first
  std::int64_t limit =
      std::numeric_limits<std::int64_t>::max();   ///< the first so many in this order are kept
  RunLengthText rle = RunLengthText::compressed;  ///< run lengths in JSON
};

/// Throws Error(usage) for bounds that no region keeps, and an order by values without an image.
void validate(const RegionSearch& search, bool with_image);

/// The regions of a picture, numbered in raster order and listed in that of the search. `image` may be empty.
/// Throws as find_regions() and validate().
[[nodiscard]] Regions search_regions(const Device& device, const ImageView& picture, const ImageView& image,
                                     const RegionSearch& search);

/// Writes the members "image" (what was looked at, and how) and "regions". `pictures` are the mask and the
/// image; names that are empty are left out. Labels are in host memory.
void add_regions(JsonWriter& json, std::span<const NamedView> pictures, const RegionSearch& search,
                 const Regions& regions);

/// What `regions` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& regions_record();

}  // namespace satin
