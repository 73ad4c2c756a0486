#pragma once
// Masks as run lengths, as the COCO data set defines them (its Mask API: Dollar and Lin, 2015): the pixels
// column after column from the left, each from top to bottom, as the lengths of runs that are by turns
// outside and inside, the first one outside (perhaps 0). Host work on one thread, on pictures in host memory.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "satin/image.h"
#include "satin/pixel_box.h"

namespace [[gnu::visibility("default")]] satin {

/// One mask of fewer than 2^32 pixels.
struct RunLengths {
  std::int64_t height = 0;            ///< rows
  std::int64_t width = 0;             ///< columns
  std::vector<std::uint32_t> counts;  ///< sum = height * width; a length of 0 is allowed anywhere

  friend bool operator==(const RunLengths&, const RunLengths&) = default;
};

/// Throws Error(input) unless height and width are 1 or more with fewer than 2^32 pixels, and the counts are
/// no more than the pixels and 1, with the pixels as their sum.
void validate(const RunLengths& runs);

/// The pixels of a mask that are not 0: u8, one channel, one frame, host memory, any strides. No length of
/// the result but the first is 0. Memory: 4 bytes a run, while the result grows up to 12, and 8 for every run
/// of 64 columns: a few megabytes for 100 megapixels unless they are noise, 1.3 GB at worst (every pixel a
/// run). Throws Error(usage) for another shape or 2^32 pixels.
[[nodiscard]] RunLengths encode_run_lengths(const ImageView& mask);

/// For each of `wanted` the pixels that bear this label, all in one pass over a picture of labels: u32, one
/// channel, one frame, host memory, any strides. Work and memory grow with the pixels and the runs, not with
/// the number of labels times the pixels; beside the results 4 bytes for each label up to the largest wanted.
/// Throws Error(usage) for another shape, a wanted label above the number of pixels or one that is wanted
/// twice.
[[nodiscard]] std::vector<RunLengths> encode_run_lengths(const ImageView& labels,
                                                         std::span<const std::uint32_t> wanted);

/// A mask of u8, 255 inside and 0 outside. Throws as validate(); allocates the mask and nothing else.
[[nodiscard]] Image decode_run_lengths(const RunLengths& runs);

/// The pixels that are inside any of these masks, which may overlap and must have one size: Error(usage)
/// otherwise, and for none. Memory: 16 bytes for two runs.
[[nodiscard]] RunLengths unite(std::span<const RunLengths> masks);

/// Number of pixels inside.
[[nodiscard]] std::int64_t area(const RunLengths& runs);

/// The smallest box around the pixels inside, all 0 if there are none. Throws as validate().
[[nodiscard]] PixelBox bounding_box(const RunLengths& runs);

/// The counts as text of the characters '0' to 'o': each number in groups of 5 bits, the lowest first, bit 5
/// says that another group follows, and 48 is added; the last group's highest bit is the sign. From the
/// fourth count on, the number is the difference to the count two before.
[[nodiscard]] std::string compressed_counts(const RunLengths& runs);

/// The other way. Throws Error(input) for a character out of range, a number that is cut off or has more than
/// 7 groups, a negative count, and as validate(). A text of any length takes no more memory than 4 bytes a
/// pixel.
[[nodiscard]] RunLengths parse_compressed_counts(std::string_view text, std::int64_t height,
                                                 std::int64_t width);

}  // namespace satin
