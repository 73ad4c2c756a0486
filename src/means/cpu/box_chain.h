#pragma once
// Successive boxes of one radius each, for integers without alpha or mask: what one box of the chain is, and
// one thread's tile, which windows of all of them slide down.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/cpu/backend.h"
#include "means/box_mean.h"
#include "means/cpu/store.h"

namespace satin::cpu {

/// One box, the same for every tile.
struct ChainBox {
  BoxMeanJob job;
  Type input = Type::u8;    ///< of the rows that it takes: u8, u16 or u32
  Type output = Type::u8;   ///< of its means before they are encoded
  bool direct = false;      ///< it reads rows of the picture as they are
  bool encodes = false;     ///< its means are linear light to be stored as codes
  bool fractional = false;  ///< along either axis, or whole with sums that need weighted ones' doubles
  bool words = false;       ///< means of whole boxes by integers of 32 bits
  bool wide = false;        ///< weighted sums in double, otherwise in 32 bits
  std::int64_t reach_x = 0;
  std::int64_t reach_y = 0;
  std::int64_t halo_x = 0;  ///< reach, and one more for a fractional radius
  std::int64_t halo_y = 0;
  std::int64_t margin_x = 0;  ///< halos of the boxes that follow
  std::int64_t margin_y = 0;
  std::vector<double> sizes;  ///< along x, of the halo_x first and last columns, an entry each channel

  [[nodiscard]] std::int64_t ring_rows() const noexcept { return reach_y + halo_y + 2; }
};

/// The boxes of the jobs; nothing if a job is not for tiles: sums or quotients that do not fit, alpha,
/// masks, floats, a border that is not near, a picture smaller than the windows.
[[nodiscard]] std::optional<std::vector<ChainBox>> chain_of(std::span<const BoxMeanJob> jobs);

/// Takes rows of the last box's means where they are not stored.
class MeanRows {
 public:
  MeanRows() = default;
  MeanRows(const MeanRows&) = delete;
  MeanRows& operator=(const MeanRows&) = delete;
  virtual ~MeanRows() = default;
  /// Columns [left, right) of row y, in the slot of a thread.
  virtual void take(std::int64_t y, std::int64_t left, std::int64_t right, const std::byte* means,
                    int slot) = 0;
};

struct Tile {
  std::int64_t left;
  std::int64_t right;
  std::int64_t top;
  std::int64_t bottom;
};

/// What one thread needs for a tile: windows of all boxes that slide down it.
class SlidingBoxes {
 public:
  SlidingBoxes() = default;
  SlidingBoxes(const SlidingBoxes&) = delete;
  SlidingBoxes& operator=(const SlidingBoxes&) = delete;
  virtual ~SlidingBoxes() = default;

  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// Fills the tile of the output, or has `means`, if there are any, take its rows.
  virtual void run(const MeanStore& store, const BoxMeanImages& images, Tile tile, MeanRows* means,
                   int slot) = 0;
};

/// For the SIMD target of this processor and tiles up to `width`; the boxes must live as long.
[[nodiscard]] std::unique_ptr<SlidingBoxes> make_sliding_boxes(std::span<const ChainBox> boxes,
                                                               std::int64_t width);

/// The tiles of a picture shared among the threads.
class ChainTiles {
 public:
  ChainTiles(CpuBackend& backend, std::vector<ChainBox> boxes);

  [[nodiscard]] std::size_t bytes() const noexcept { return tiles_.size() * tiles_[0]->bytes(); }
  /// Fills the output, or has `means`, if there are any, take its rows.
  void run(const BoxMeanImages& images, MeanRows* means);

 private:
  CpuBackend& backend_;
  std::vector<ChainBox> boxes_;
  std::int64_t across_ = 1;                           ///< tiles side by side
  std::int64_t down_ = 1;                             ///< and one below the other
  std::vector<std::unique_ptr<SlidingBoxes>> tiles_;  ///< one a thread
};

}  // namespace satin::cpu
