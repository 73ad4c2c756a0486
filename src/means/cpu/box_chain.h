#pragma once
// Successive boxes of one radius each: what one box of the chain is, and one thread's tile, which windows of
// all of them slide down.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/cpu/backend.h"
#include "core/workspace.h"
#include "means/box_mean.h"
#include "means/cpu/store.h"

namespace satin::cpu {

/// Largest window whose means of 8-bit values single precision divides exactly.
inline constexpr std::uint64_t largest_float32_box = 4000;
/// Bounds on weighted sums plus half a divisor of whole boxes, and on the divisor of means of 16 bits, that
/// integers of 32 bits divide.
inline constexpr std::uint64_t word_divide_limit = std::uint64_t{1} << 31;
inline constexpr std::uint64_t largest_word_divisor = std::uint64_t{1} << 30;
/// Bound on weighted sums, (largest mean * divisor), up to which doubles divide them exactly.
inline constexpr std::uint64_t divide_limit = std::uint64_t{1} << 50;
/// Bound on weighted sums that pairs of doubles divide exactly: differences are then below 2^47, weights up
/// to 2^24, means below 2^28 and divisors below 2^52.
inline constexpr std::uint64_t long_divide_limit = std::uint64_t{1} << 62;

/// Type of the prefix sums along a row.
enum class Sums : std::uint8_t {
  integer32,  ///< column sums are weighted by how much of every row the window covers
  float64,    ///< integers that doubles represent exactly; column sums are weighted likewise
  integer64   ///< column sums of whole rows, for one or two windows, whose boxes are weighted
};

/// Arithmetic that turns the sum of a window into its mean. All variants round to nearest, ties up, and give
/// the same bytes; `chain_of()` chooses the cheapest one that is exact for the largest sum of the job.
enum class Division : std::uint8_t {
  float32,        ///< 8-bit values, at most largest_float32_box pixels: multiply by a float reciprocal
  integer32,      ///< whole boxes with sums below 2^31, or means of 16 bits; same divisor for a whole row
  float64,        ///< sums below divide_limit, and sums of floats
  float64_pairs,  ///< sums of 64 bits below long_divide_limit
  integer64       ///< all other sums, one pixel at a time
};

/// The source of the rows of a box.
enum class RowSource : std::uint8_t { picture_in_place, decoded_ring, previous_box };

/// The destination of the means of a box.
enum class RowSink : std::uint8_t { next_box, output_as_is, blend_or_encode };

/// One box, the same for every tile.
struct ChainBox {
  BoxMeanJob job;
  Type input = Type::u8;   ///< u8, u16, u32 or u64
  Type output = Type::u8;  ///< of the means, before they are blended or encoded
  RowSource source = RowSource::picture_in_place;
  RowSink sink = RowSink::output_as_is;
  Sums sums = Sums::integer32;
  Division division = Division::float64;
  std::int64_t reach_x = 0;
  std::int64_t reach_y = 0;
  std::int64_t halo_x = 0;  ///< reach, and one more for a fractional radius
  std::int64_t halo_y = 0;
  std::int64_t margin_x = 0;  ///< halos of the boxes that follow
  std::int64_t margin_y = 0;
  /// Number of pixels in the window of each column, per channel. Smaller at the left and right border. Used
  /// with Border::shrink; Division::float32 uses the reciprocals instead.
  WorkspaceVector<double> window_pixels;
  WorkspaceVector<float> reciprocals;

  /// Rows of its input that are kept: those of the largest window, and one that has left it.
  [[nodiscard]] std::int64_t ring_rows() const noexcept {
    const std::int64_t rows = 2 * halo_y + 2;
    return job.border == Border::wrap ? rows : std::min(rows, job.height);
  }
  /// Columns of its input that a tile of so many columns sees, and what the border adds.
  [[nodiscard]] std::int64_t columns(std::int64_t width) const noexcept {
    return std::min(width + 2 * margin_x, job.width) + 2 * halo_x;
  }
  /// Channels of the picture: the job of pixels that do not all count has one more, 1 where they count.
  [[nodiscard]] int stored_channels() const noexcept { return job.read.channels - (job.excludes ? 1 : 0); }
  [[nodiscard]] bool unweights() const noexcept { return job.read.weighted && !job.write.working; }
  /// Column sums are weighted: in 1/256.
  [[nodiscard]] bool covers_rows() const noexcept { return sums != Sums::integer64 && halo_y != reach_y; }
  /// Working value of a channel outside the picture; floats have theirs added to the sums.
  [[nodiscard]] std::uint64_t outside(std::size_t channel) const noexcept {
    return job.border == Border::constant && !job.read.fixed_point ? job.border_value[channel] : 0;
  }
  /// What column sums add up: the size along y of what a window of rows covers.
  [[nodiscard]] std::uint64_t rows(std::size_t window) const noexcept {
    const auto whole = 2 * static_cast<std::uint64_t>(reach_y) + 1;
    if (!covers_rows()) return whole + 2 * window;
    return whole * radius_one + 2 * static_cast<std::uint64_t>(job.radius.y % radius_one);
  }
  /// What a column counts in the inner whole window along x (outer 0) or in the larger one (outer 1).
  [[nodiscard]] int column_weight(std::int64_t outer) const noexcept {
    return weight_of(job.radius.x, outer);
  }
  [[nodiscard]] int row_weight(std::int64_t outer) const noexcept { return weight_of(job.radius.y, outer); }
  /// Windows of rows.
  [[nodiscard]] int windows() const noexcept { return sums == Sums::integer64 && halo_y != reach_y ? 2 : 1; }

 private:
  [[nodiscard]] static int weight_of(Radius256 radius, std::int64_t outer) noexcept {
    const int part = radius % radius_one;
    return outer != 0 ? part : part == 0 ? 1 : radius_one - part;
  }
};

/// Whether sums over whole boxes fit the signed words that SIMD converts and divides.
[[nodiscard]] bool narrow_sums(const BoxMeanJob& job);

/// The boxes of the jobs; nothing if a job is not for tiles: a radius map, radius 0, windows far larger than
/// the picture, pixels that do not count beside alpha or in sums of 64 bits.
[[nodiscard]] std::optional<std::vector<ChainBox>> chain_of(std::span<const BoxMeanJob> jobs);

/// Takes columns [left, right) of row y of the last box's means where they are not stored, in the slot of a
/// thread; `means` begin with the first of them.
using TakeMeans = std::function<void(std::int64_t y, std::int64_t left, std::int64_t right,
                                     const std::byte* means, int slot)>;

struct Tile {
  std::int64_t left;
  std::int64_t right;
  std::int64_t top;
  std::int64_t bottom;
};

/// What one thread needs for a tile: windows of all boxes that slide down it.
struct SlidingBoxes : Operation {
  /// Fills the tile of the output, or has its rows taken. A store for each box.
  virtual void run(std::span<const MeanStore> stores, const BoxMeanImages& images, Tile tile,
                   const TakeMeans& take, int slot) = 0;
};

/// Boxes for the SIMD target of this processor and tiles up to `width`; `boxes` must live as long.
[[nodiscard]] std::unique_ptr<SlidingBoxes> make_sliding_boxes(std::span<const ChainBox> boxes,
                                                               std::int64_t width);

/// The tiles of a picture shared among the threads.
class BoxChain final : public BoxMeanOperation {
 public:
  BoxChain(CpuBackend& backend, std::vector<ChainBox> boxes);

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return tiles_.size() * tiles_[0]->workspace_bytes();
  }
  void run(const BoxMeanImages& images, Stream) override { slide(images, {}); }
  [[nodiscard]] bool selects_by_mask() const noexcept override { return boxes_[0].job.excludes; }
  /// Fills the output, or has its rows taken.
  void slide(const BoxMeanImages& images, const TakeMeans& take);

 private:
  CpuBackend& backend_;
  std::vector<ChainBox> boxes_;
  std::vector<MeanStore> stores_;                     ///< of the run, one a box
  std::int64_t across_ = 1;                           ///< tiles side by side
  std::int64_t down_ = 1;                             ///< and one below the other
  std::vector<std::unique_ptr<SlidingBoxes>> tiles_;  ///< one a thread, or a tile if these are fewer
};

}  // namespace satin::cpu
