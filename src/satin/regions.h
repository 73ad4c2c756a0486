#pragma once
// Connected components of masks: their positions, sizes and values. The filter `regions` prints them as JSON.
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

/// Definition of neighbouring pixels.
enum class Connectivity : std::uint8_t {
  four,  ///< those that share a side
  eight  ///< those that share a side or a corner
};

/// Statistics of one channel of a picture over a region, on stored values.
struct RegionValues {
  double mean = 0;       ///< mean value
  double minimum = 0;    ///< smallest value
  double maximum = 0;    ///< largest value
  double deviation = 0;  ///< population standard deviation
};

/// A connected component. Pixel centres have integer coordinates, (0, 0) is the first pixel.
struct Region {
  std::uint32_t label = 0;      ///< value of its pixels in Regions::labels
  std::int64_t area = 0;        ///< number of pixels
  std::int64_t x = 0;           ///< left column of the bounding box
  std::int64_t y = 0;           ///< upper row of the bounding box
  std::int64_t width = 0;       ///< columns of the bounding box
  std::int64_t height = 0;      ///< rows of the bounding box
  double centroid_x = 0;        ///< mean of its pixels' x
  double centroid_y = 0;        ///< mean of its pixels' y
  bool touches_border = false;  ///< whether a pixel is in the first or last row or column
  std::vector<RegionValues>
      values;  ///< statistics per channel of RegionsOptions::image, empty without an image
};

/// Options of find_regions().
struct RegionsOptions {
  Connectivity connectivity = Connectivity::eight;  ///< definition of neighbouring pixels
  bool zeros = false;                               ///< finds regions of pixels that are 0 instead
  ImageView image{};  ///< picture to measure under every region: u8, u16 or f32, of the mask's size
};

/// Result of find_regions().
struct Regions {
  std::vector<Region> regions;  ///< labels 1, 2 ... in the raster order of their first pixels
  Image labels;                 ///< u32, one channel, in the mask's memory; 0 outside
  std::uint32_t largest = 0;    ///< largest label in `labels`
  std::uint32_t found = 0;      ///< number of regions in the mask, including regions removed since
};

/// Finds the connected components of a mask: u8, one channel, one frame, any strides, with every value but 0
/// inside. It must have fewer than 2^32 pixels when rows are rounded up to multiples of 32. The image, if
/// any, is one frame in the mask's memory. Beside the labels, a GPU needs 2.5 bytes per pixel. The CPU, which
/// stores runs, needs 0.2 to 9 bytes per pixel, and 20 per column and thread. Both need 40 bytes per region
/// (32 more per channel of an image) and the 96 of its Region.
///
/// Results are the same on every device, byte for byte. Areas, boxes and sums are exact integers; centroids
/// are divided once. Means and deviations of u8 and u16 come from exact sums; floats are fixed-point
/// numbers of 40 bits below the largest magnitude of the picture (fewer from 2^23 pixels on), minimum and
/// maximum are exact. Throws Error(usage) for shapes that do not fit, Error(input) if the image holds NaN or
/// infinity anywhere.
[[nodiscard]] Regions find_regions(const Device& device, const ImageView& mask,
                                   const RegionsOptions& options = {});

// --- Selecting regions: erase from or sort the vector Regions::regions, then call renumber(). ---

/// Inclusive bounds for regions.
struct RegionFilter {
  std::int64_t min_area = 0;                                          ///< smallest area in pixels
  std::int64_t max_area = std::numeric_limits<std::int64_t>::max();   ///< largest area in pixels
  std::int64_t min_width = 0;                                         ///< smallest width of the bounding box
  std::int64_t max_width = std::numeric_limits<std::int64_t>::max();  ///< largest width of the bounding box
  std::int64_t min_height = 0;                                        ///< smallest height of the bounding box
  std::int64_t max_height = std::numeric_limits<std::int64_t>::max();  ///< largest height of the bounding box
  std::optional<bool>
      touches_border{};  ///< true: only regions at the border; false: only regions away from it; unset: all
};

/// Whether the region is within all bounds.
[[nodiscard]] bool passes(const Region& region, const RegionFilter& filter) noexcept;

/// Sort key of regions: a member of Region or of its values.
enum class RegionKey : std::uint8_t {
  label,     ///< raster order of the first pixels
  area,      ///< pixels
  x,         ///< left column
  y,         ///< upper row
  width,     ///< columns of the bounding box
  height,    ///< rows of the bounding box
  mean,      ///< mean value
  minimum,   ///< smallest value
  maximum,   ///< largest value
  deviation  ///< standard deviation of the values
};

/// Sorts regions, stably. `channel` selects the values for the last four keys. Throws Error(usage) for
/// regions without that channel.
void sort_by(std::vector<Region>& regions, RegionKey key, bool descending = false, int channel = 0);

/// Renumbers the remaining regions as 1, 2 ... in the vector's order, in the label picture too; pixels of
/// removed regions become 0. Works on the device in place and moves 8 bytes per pixel. Throws Error(usage)
/// for labels that occur twice, are 0 or exceed `regions.largest`.
void renumber(const Device& device, Regions& regions);

// --- The filter `regions` ---

/// Format of a region's run lengths in JSON (satin/rle.h).
enum class RunLengthText : std::uint8_t {
  compressed,    ///< COCO's text form
  uncompressed,  ///< an array of numbers
  none           ///< omitted
};

/// Parameters of the filter `regions`.
struct RegionSearch {
  Connectivity connectivity = Connectivity::eight;  ///< definition of neighbouring pixels
  double level = 0;       ///< pixels above this fraction of white are inside; colours count by luminance
  bool invert = false;    ///< makes the other pixels the inside
  RegionFilter filter{};  ///< bounds for the regions that are kept
  bool inner = false;     ///< drops regions that touch the border
  RegionKey key = RegionKey::label;  ///< order of the list, by the first channel of the values
  bool descending = false;           ///< sorts the largest first
  std::int64_t limit =
      std::numeric_limits<std::int64_t>::max();   ///< largest number of regions to keep, in this order
  RunLengthText rle = RunLengthText::compressed;  ///< format of run lengths in JSON
};

/// Throws Error(usage) for contradictory bounds, and for an order by values without an image.
void validate(const RegionSearch& search, bool with_image);

/// Finds the regions of a picture, numbered in raster order and listed in the order of the search. `image`
/// may be empty. Throws as find_regions() and validate().
[[nodiscard]] Regions search_regions(const Device& device, const ImageView& picture, const ImageView& image,
                                     const RegionSearch& search);

/// Writes the members "image" (inputs and parameters) and "regions". `pictures` are the mask and the image;
/// empty names are omitted. The labels must be in host memory.
void add_regions(JsonWriter& json, std::span<const NamedView> pictures, const RegionSearch& search,
                 const Regions& regions);

/// Returns the record of the filter `regions`.
[[nodiscard]] const FilterRecord& regions_record();

}  // namespace satin
