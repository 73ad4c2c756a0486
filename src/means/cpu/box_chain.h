#pragma once
// Successive boxes of one radius each, for integers without alpha or mask: what one box of the chain is, and
// one thread's strip of columns that marches down the picture with all of them.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/cpu/backend.h"
#include "means/box_mean.h"
#include "means/cpu/store.h"

namespace satin::cpu {

/// One box, the same for every strip.
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

/// The boxes of the jobs; nothing if a job is not for strips: sums or quotients that do not fit, alpha,
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

/// What one thread needs for a strip, and its march.
class ChainStrip {
 public:
  /// `width`: of the widest tile.
  ChainStrip(std::span<const ChainBox> boxes, std::int64_t width);

  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Fills the tile of the output, or has `means`, if there are any, take its rows.
  void march(const MeanStore& store, const BoxMeanImages& images, Tile tile, MeanRows* means, int slot);

 private:
  /// Where one box of the chain stands.
  struct State {
    std::vector<std::byte> ring;  ///< rows of its input
    std::vector<std::uint32_t> sums;
    std::vector<std::byte> line;    ///< (weighted) column sums, and the border's on either side
    std::vector<std::byte> prefix;  ///< of `line`, behind one pixel of zeros
    std::int64_t filled = 0;        ///< rows before this one are in the ring, or were
    std::int64_t next = 0;          ///< row of its output
    bool started = false;
    std::int64_t in_first = 0;  ///< columns of its input
    std::int64_t in_last = 0;
    std::int64_t out_first = 0;  ///< columns of its output
    std::int64_t out_last = 0;
  };

  void place(Tile tile);
  [[nodiscard]] std::byte* ring_row(std::size_t box, std::int64_t y);
  [[nodiscard]] const std::byte* input_row(std::size_t box, std::int64_t y);
  void fill_to(std::size_t box, std::int64_t y);
  void decode_to_ring(std::int64_t y);
  void mean_row(std::size_t box, std::int64_t y, std::byte* out);
  void fetch_ahead(std::int64_t y, std::int64_t left) const;
  void finish_row(std::int64_t y, std::int64_t left);
  [[nodiscard]] const std::byte* working_row(std::int64_t y);

  template <class Value>
  void sum_whole(std::size_t box, std::int64_t y);
  template <class Value, class Sum>
  void sum_covered(std::size_t box, std::int64_t y);
  template <class Value>
  void start(std::size_t box, std::int64_t y, std::uint32_t* sums);
  template <class Sum>
  void extend_and_scan(std::size_t box);
  template <class Sum, class Mean>
  void divide_row(std::size_t box, std::int64_t y, Mean* out);
  template <class Sum, class Mean>
  void divide_part(std::size_t box, std::uint64_t size_y, std::int64_t first, std::int64_t last, Mean* out);

  std::span<const ChainBox> boxes_;
  std::size_t channels_;
  std::vector<State> states_;
  std::vector<std::byte> nothing_;  ///< a row of zeros of any type
  std::vector<std::byte> working_;  ///< means before they are encoded
  const MeanStore* store_ = nullptr;
  const BoxMeanImages* images_ = nullptr;
};

/// The strips of a picture shared among the threads.
class ChainStrips {
 public:
  ChainStrips(CpuBackend& backend, std::vector<ChainBox> boxes);

  [[nodiscard]] std::size_t bytes() const noexcept { return strips_.size() * strips_[0].bytes(); }
  /// Fills the output, or has `means`, if there are any, take its rows.
  void run(const BoxMeanImages& images, MeanRows* means);

 private:
  CpuBackend& backend_;
  std::vector<ChainBox> boxes_;
  std::int64_t across_ = 1;         ///< strips
  std::int64_t down_ = 1;           ///< bands of each
  std::vector<ChainStrip> strips_;  ///< one a thread
};

}  // namespace satin::cpu
