// The summed-area table on the CPU. The picture is cut into tiles of whole rows, one per thread.
//
//   1. Every tile but the last sums its columns.
//   2. Scans of these sums, tile after tile, give the table row above each tile.
//   3. Every tile scans its rows, each onto the table row above it.
//
// The source is read twice, the table is written once. Compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tables/cpu/table.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "core/cpu/backend.h"
#include "core/workspace.h"
#include "pixels/cpu/rows-inl.h"
#include "tables/cpu/scan-inl.h"
#include "tables/table.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

constexpr std::int64_t smallest_tile = 64;
constexpr std::int64_t smallest_share = 512;

template <class Sum>
class Table final : public TableOperation {
 public:
  Table(CpuBackend& backend, const TableJob& job)
      : backend_(backend),
        job_(job),
        tiles_(std::clamp<std::int64_t>(job.height / smallest_tile, 1, backend.threads.count())),
        shares_(std::clamp<std::int64_t>(job.width / smallest_share, 1, tiles_)),
        row_(static_cast<std::size_t>(job.width * job.read.channels)),
        above_(static_cast<std::size_t>(tiles_) * row_),
        values_(above_.size()) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return (above_.size() + values_.size()) * sizeof(Sum);
  }

  void run(const ImageView& picture, const Measured* measured, const MutableImageView& table,
           Stream) override {
    const RowReader reader = row_reader(job_.read, measured, job_.squared);
    std::fill(above_.begin(), above_.end(), Sum{0});
    parallel_rows(backend_, (tiles_ - 1) * shares_, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) sum_columns(reader, picture, i / shares_, i % shares_);
    });
    for (std::int64_t tile = 1; tile < tiles_; ++tile)
      Scan(above(tile), static_cast<std::size_t>(job_.width), job_.read.channels, above(tile - 1),
           above(tile));
    parallel_rows(backend_, tiles_, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t tile = first; tile < last; ++tile) scan_tile(reader, picture, tile, table);
    });
  }

  void to_double(const MutableImageView& table, const Measured* measured, Stream) override {
    const int exponent = row_reader(job_.read, measured, job_.squared).exponents.colour;
    const double scale = power_of_two(-exponent);
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        auto* row = table.row<std::uint64_t>(y);
        for (std::size_t i = 0; i < row_; ++i)
          row[i] = bits_of(static_cast<double>(static_cast<std::int64_t>(row[i])) * scale);
      }
    });
  }

 private:
  [[nodiscard]] std::int64_t tile_start(std::int64_t tile) const { return job_.height * tile / tiles_; }
  [[nodiscard]] Sum* above(std::int64_t tile) {
    return above_.data() + static_cast<std::size_t>(tile) * row_;
  }
  [[nodiscard]] Sum* values(std::int64_t tile) {
    return values_.data() + static_cast<std::size_t>(tile) * row_;
  }

  /// Sums one share of a tile's columns into the row above the next tile.
  void sum_columns(const RowReader& reader, const ImageView& picture, std::int64_t tile, std::int64_t share) {
    const std::int64_t left = job_.width * share / shares_;
    const auto pixels = static_cast<std::size_t>(job_.width * (share + 1) / shares_ - left);
    const std::int64_t first = left * job_.read.channels;
    for (std::int64_t y = tile_start(tile); y < tile_start(tile + 1); ++y)
      with_values(reader, picture.at(left, y), pixels, values(tile) + first, [&](const auto* row) {
        Add(row, pixels * static_cast<std::size_t>(job_.read.channels), above(tile + 1) + first);
      });
  }

  void scan_tile(const RowReader& reader, const ImageView& picture, std::int64_t tile,
                 const MutableImageView& table) {
    const auto pixels = static_cast<std::size_t>(job_.width);
    const Sum* previous = above(tile);
    for (std::int64_t y = tile_start(tile); y < tile_start(tile + 1); ++y) {
      Sum* sums = table.row<Sum>(y);
      with_values(reader, picture.at(0, y), pixels, values(tile),
                  [&](const auto* row) { Scan(row, pixels, job_.read.channels, previous, sums); });
      previous = sums;
    }
  }

  CpuBackend& backend_;
  TableJob job_;
  std::int64_t tiles_;
  std::int64_t shares_;          ///< shares of columns in step 1, which all threads work on
  std::size_t row_;              ///< entries per row
  WorkspaceVector<Sum> above_;   ///< table row above each tile
  WorkspaceVector<Sum> values_;  ///< working values of one row of each tile
};

inline Prepared<TableJob> PrepareTable(Backend& backend, const TableJob& job) {
  if (job.accumulator == Accumulator::u32)
    return std::make_unique<Table<std::uint32_t>>(as_cpu(backend), job);
  return std::make_unique<Table<std::uint64_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareTable);

Prepared<TableJob> prepare_table(Backend& backend, const TableJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareTable)(backend, job);
}

}  // namespace satin::cpu
#endif
