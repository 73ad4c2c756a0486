#pragma once
// Masks as run lengths in the format of the COCO data set (Mask API: Dollar and Lin, 2015). Pixels are in
// column order, each column from top to bottom. The counts are lengths of runs that alternate between outside
// and inside; the first is outside and may be 0. All functions run on one CPU thread, on pictures in host
// memory.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "satin/image.h"
#include "satin/pixel_box.h"

namespace [[gnu::visibility("default")]] satin {

/// A mask of fewer than 2^32 pixels.
struct RunLengths {
  std::int64_t height = 0;            ///< rows
  std::int64_t width = 0;             ///< columns
  std::vector<std::uint32_t> counts;  ///< lengths with the sum height * width; 0 is allowed anywhere

  friend bool operator==(const RunLengths&, const RunLengths&) = default;
};

/// Throws Error(input) unless height and width are at least 1 with fewer than 2^32 pixels in all, and there
/// are at most as many counts as pixels plus 1, with the number of pixels as their sum.
void validate(const RunLengths& runs);

/// Encodes the pixels of a mask that are not 0. The mask is u8, one channel, one frame, in host memory, with
/// any strides. Only the first length of the result may be 0. Memory: 4 bytes per run (up to 12 while the
/// result grows), and 8 per run of 64 columns. That is a few megabytes for 100 megapixels unless they are
/// noise, and 1.3 GB at worst (every pixel a run). Throws Error(usage) for another shape or 2^32 pixels.
[[nodiscard]] RunLengths encode_run_lengths(const ImageView& mask);

/// Encodes the pixels of each label in `wanted`, all in one pass over a picture of labels, which is u32, one
/// channel, one frame, in host memory, with any strides. Time and memory grow with the pixels and the runs,
/// not with labels times pixels. Beside the results it needs 4 bytes per label up to the largest wanted one.
/// Throws Error(usage) for another shape, a label above the number of pixels or a label that is wanted twice.
[[nodiscard]] std::vector<RunLengths> encode_run_lengths(const ImageView& labels,
                                                         std::span<const std::uint32_t> wanted);

/// Decodes a mask to u8, 255 inside and 0 outside. Throws as validate(). Allocates the mask and nothing else.
[[nodiscard]] Image decode_run_lengths(const RunLengths& runs);

/// Returns the union of masks, which may overlap. Throws Error(usage) for no masks or different sizes.
/// Memory: 16 bytes per two runs.
[[nodiscard]] RunLengths unite(std::span<const RunLengths> masks);

/// Returns the number of pixels inside.
[[nodiscard]] std::int64_t area(const RunLengths& runs);

/// Returns the smallest box around the pixels inside, all 0 if there are none. Throws as validate().
[[nodiscard]] PixelBox bounding_box(const RunLengths& runs);

/// Writes the counts as text of the characters '0' to 'o'. Each number is split into groups of 5 bits, the
/// lowest first; bit 5 says that another group follows, and 48 is added. The highest bit of the last group is
/// the sign. From the fourth count on, the number is the difference from the count two before.
[[nodiscard]] std::string compressed_counts(const RunLengths& runs);

/// Parses the text of compressed_counts(). Throws Error(input) for a character out of range, a number that is
/// cut off or has more than 7 groups, a negative count, and as validate(). A text of any length needs at most
/// 4 bytes of memory per pixel.
[[nodiscard]] RunLengths parse_compressed_counts(std::string_view text, std::int64_t height,
                                                 std::int64_t width);

}  // namespace satin
