// Squared distances: columns by two scans, rows by lower envelopes; outlines that move by a disc need no more
// than a scan along rows either way. Compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "masks/cpu/distance.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "core/cpu/backend.h"
#include "core/workspace.h"
#include "masks/cpu/distance_rows-inl.h"
#include "masks/cpu/lower_envelope.h"
#include "masks/distance.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

constexpr std::int64_t least_tile_height = 64;
constexpr std::uint32_t most_tabled = 1U << 16;

/// What one thread needs. Steps: u8 or u16, wide enough for the reach and one more.
template <class Steps>
struct DistanceSlot {
  WorkspaceVector<Steps> tile;  ///< distances down the columns of a tile
  WorkspaceVector<Steps> line;  ///< of the row that a scan has reached
  WorkspaceVector<std::uint32_t> squared;
  WorkspaceVector<std::uint16_t> near_squared;
  WorkspaceVector<std::uint16_t> near_space;
  LowerEnvelope envelope;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (tile.size() + line.size()) * sizeof(Steps) + squared.size() * sizeof squared[0] +
           (near_squared.size() + near_space.size()) * sizeof near_space[0] + envelope.bytes();
  }
};

template <class Steps>
class Distance final : public DistanceOperation {
 public:
  Distance(CpuBackend& backend, const DistanceJob& job)
      : backend_(backend),
        job_(job),
        width_(static_cast<std::size_t>(job.width)),
        reach_(reach_of(job)),
        none_(static_cast<Steps>(reach_ + 1)),
        way_(way_of(job.result)) {
    const std::int64_t threads = backend.threads.count();
    tile_height_ = std::min(std::max<std::int64_t>(least_tile_height, 2 * std::int64_t{reach_}),
                            (job.height + threads - 1) / threads);
    for (std::int64_t i = 0; i < threads; ++i) slots_.push_back(new_slot());
    if (way_ == Way::chords) fill_chords();
    if (job.result == DistanceResult::ramp && job.most <= most_tabled) fill_values();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = chords_.size() * sizeof(Steps) + values_[0].size() + values_[1].size();
    for (const DistanceSlot<Steps>& slot : slots_) bytes += slot.bytes();
    return bytes;
  }

  void run(const ImageView& mask, const MutableImageView& output, Stream) override {
    backend_.threads.for_rows(job_.height, tile_height_,
                              [&](std::int64_t first, std::int64_t last, int index) {
                                for (std::int64_t y = first; y < last; y += tile_height_)
                                  run_tile(mask, output, y, std::min(y + tile_height_, last),
                                           slots_[static_cast<std::size_t>(index)]);
                              });
  }

 private:
  /// How rows are done.
  enum class Way {
    chords,   ///< outlines that move
    search,   ///< short reaches
    envelope  ///< any
  };

  [[nodiscard]] Way way_of(DistanceResult result) const {
    if (result == DistanceResult::moved) return Way::chords;
    return reach_ <= NearRow::most_reach ? Way::search : Way::envelope;
  }

  [[nodiscard]] DistanceSlot<Steps> new_slot() const {
    DistanceSlot<Steps> slot{WorkspaceVector<Steps>(static_cast<std::size_t>(tile_height_) * width_),
                             WorkspaceVector<Steps>(width_),
                             {},
                             {},
                             {},
                             LowerEnvelope(way_ == Way::envelope ? job_.width : 0)};
    if (way_ == Way::envelope) slot.squared.resize(width_);
    if (way_ == Way::search) {
      slot.near_squared.resize(NearRow::space(width_));
      slot.near_space.resize(NearRow::space(width_));
    }
    return slot;
  }

  /// chords_[g] = 1 + how far along a row a pixel reaches that lies g rows away; 0 if not at all.
  void fill_chords() {
    for (std::uint32_t g = 0; g < none_; ++g)
      chords_.push_back(static_cast<Steps>(1 + whole_root(job_.most - 1 - g * g)));
    chords_.push_back(0);
    chords_.resize((chords_.size() + 15) / 16 * 16);
  }

  void fill_values() {
    for (std::uint32_t n = 0; n <= job_.most; ++n) {
      values_[0].push_back(value_outside(n));
      values_[1].push_back(value_inside(n));
    }
  }

  [[nodiscard]] std::uint8_t value_inside(std::uint32_t squared) const {
    const std::uint32_t value = ramp_value(job_.inside.first, squared);
    return static_cast<std::uint8_t>(job_.inverted ? 255 - value : value);
  }
  [[nodiscard]] std::uint8_t value_outside(std::uint32_t squared) const {
    const std::uint32_t value = ramp_value(job_.outside.first, squared);
    return static_cast<std::uint8_t>(job_.inverted ? value : 255 - value);
  }

  [[nodiscard]] bool on_side(std::uint8_t mask) const {
    return job_.side == MaskSide::both || (mask != 0) == (job_.side == MaskSide::inside);
  }

  /// Scans of the columns see `reach_` rows beyond the tile, which is all that counts.
  void run_tile(const ImageView& mask, const MutableImageView& output, std::int64_t first, std::int64_t last,
                DistanceSlot<Steps>& slot) {
    const auto mask_row = [&](std::int64_t y) { return mask.row<std::uint8_t>(y); };
    const auto tile_row = [&](std::int64_t y) {
      return slot.tile.data() + static_cast<std::size_t>(y - first) * width_;
    };
    Steps* line = slot.line.data();
    const auto step = [&](std::int64_t y, std::int64_t before, const Steps* from, Steps* to) {
      StepColumns(mask_row(y), mask_row(before), from, none_, width_, to);
    };

    std::fill_n(line, width_, none_);
    for (std::int64_t y = std::max<std::int64_t>(first - reach_, 1); y < first; ++y)
      step(y, y - 1, line, line);
    for (std::int64_t y = first; y < last; ++y) {
      if (y == 0) {
        std::fill_n(tile_row(y), width_, none_);
      } else {
        step(y, y - 1, y == first ? line : tile_row(y - 1), tile_row(y));
      }
    }

    std::fill_n(line, width_, none_);
    for (std::int64_t y = std::min(last - 1 + reach_, job_.height - 2); y >= first; --y) {
      step(y, y + 1, line, line);
      if (y < last) MeetColumns(line, width_, tile_row(y));
    }
    for (std::int64_t y = first; y < last; ++y) finish_row(mask_row(y), tile_row(y), output, y, slot);
  }

  void finish_row(const std::uint8_t* mask, Steps* columns, const MutableImageView& output, std::int64_t y,
                  DistanceSlot<Steps>& slot) {
    switch (way_) {
      case Way::chords:
        return move_row(mask, columns, output.row<std::uint8_t>(y));
      case Way::search:
        search_row(mask, columns, slot);
        return store_row(mask, slot.near_squared.data(), output, y);
      case Way::envelope:
        square_row(mask, columns, slot.envelope, slot.squared.data());
        return store_row(mask, slot.squared.data(), output, y);
    }
  }

  template <class Square>
  void store_row(const std::uint8_t* mask, const Square* squared, const MutableImageView& output,
                 std::int64_t y) const {
    if (job_.result == DistanceResult::squared) {
      std::copy_n(squared, width_, output.row<std::uint32_t>(y));
      return;
    }
    auto* out = output.row<std::uint8_t>(y);
    const std::size_t width = width_;  // copies: bytes that are written could be the members
    const std::uint8_t* values[2] = {values_[0].data(), values_[1].data()};
    if (values_[0].empty()) {
      for (std::size_t x = 0; x < width; ++x)
        out[x] = mask[x] != 0 ? value_inside(squared[x]) : value_outside(squared[x]);
    } else {
      for (std::size_t x = 0; x < width; ++x) out[x] = values[mask[x] & 1][squared[x]];
    }
  }

  /// Each pixel of the other side, and each one that has such a pixel above or below it, covers the pixels of
  /// its row within a chord of the disc.
  void move_row(const std::uint8_t* mask, Steps* columns, std::uint8_t* out) const {
    const std::uint8_t side = job_.side == MaskSide::inside ? 255 : 0;
    CoverRow(mask, side, chords_.data(), chords_.size(), width_, columns);
    SpreadRow(columns, width_);
    const auto other = static_cast<std::uint8_t>(side ^ (job_.inverted ? 0 : 255));
    MarkRow(columns, width_, other, static_cast<std::uint8_t>(other ^ 255), out);
  }

  void search_row(const std::uint8_t* mask, const Steps* columns, DistanceSlot<Steps>& slot) const {
    if constexpr (sizeof(Steps) == 1) {
      const NearRow row{mask, columns, width_, reach_, static_cast<std::uint16_t>(job_.most)};
      std::fill(slot.near_squared.begin(), slot.near_squared.end(), std::uint16_t{0});
      for (const std::uint8_t side : {std::uint8_t{0}, std::uint8_t{255}})
        if (on_side(side)) AddNearSquares(row, side, slot.near_space.data(), slot.near_squared.data());
    }
  }

  /// Every run of pixels on one side by itself: the pixels that end it are on the other side, and nearer than
  /// what lies beyond them.
  void square_row(const std::uint8_t* mask, const Steps* columns, LowerEnvelope& envelope,
                  std::uint32_t* squared) const {
    const std::int64_t width = job_.width;
    for (std::int64_t first = 0, end = 0; first < width; first = end) {
      end = std::find_if(mask + first, mask + width, [&](std::uint8_t m) { return m != mask[first]; }) - mask;
      if (!on_side(mask[first])) {
        std::fill(squared + first, squared + end, 0U);
        continue;
      }
      envelope.start(first, end);
      if (first > 0) envelope.add(first - 1, 0);
      for (std::int64_t x = first; x < end; ++x)
        if (columns[x] != none_) envelope.add(x, std::int64_t{columns[x]} * columns[x]);
      if (end < width) envelope.add(end, 0);
      envelope.write(job_.most, squared);
    }
  }

  CpuBackend& backend_;
  DistanceJob job_;
  std::size_t width_;
  std::int32_t reach_;
  Steps none_;  ///< no pixel of the other side within reach along the column
  Way way_;
  std::int64_t tile_height_ = 1;  ///< rows
  WorkspaceVector<Steps> chords_;
  WorkspaceVector<std::uint8_t>
      values_[2];  ///< of a ramp, for every squared distance; empty if these are too many
  WorkspaceVector<DistanceSlot<Steps>> slots_;  ///< one a thread
};

inline Prepared<DistanceJob> PrepareDistance(Backend& backend, const DistanceJob& job) {
  if (reach_of(job) < 0xFF) return std::make_unique<Distance<std::uint8_t>>(as_cpu(backend), job);
  return std::make_unique<Distance<std::uint16_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareDistance);

Prepared<DistanceJob> prepare_distance(Backend& backend, const DistanceJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareDistance)(backend, job);
}

}  // namespace satin::cpu
#endif
