// The active-tiles operation on the CPU.

#include <algorithm>
#include <numeric>

#include "core/cpu/backend.h"
#include "core/plan_operations.h"
#include "core/workspace.h"

namespace satin::cpu {
namespace {

class ActiveTiles final : public ActiveTilesOperation {
 public:
  ActiveTiles(CpuBackend& backend, const ActiveTilesJob& job)
      : backend_(backend),
        job_(job),
        columns_((job.width + job.tile - 1) / job.tile),
        active_(static_cast<std::size_t>(columns_ * ((job.height + job.tile - 1) / job.tile))) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return active_.size(); }

  void find(const ImageView& mask, Stream) override {
    const std::int64_t rows = (job_.height + job_.tile - 1) / job_.tile;
    std::uint8_t* const active = active_.data();
    parallel_rows(backend_, rows, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        for (std::int64_t column = 0; column < columns_; ++column)
          active[row * columns_ + column] = is_active(mask, column, row) ? 1 : 0;
    });
  }

  void fetch(std::uint8_t* active, Stream) override { std::ranges::copy(active_, active); }

 private:
  /// Stops at the first row that is not all 0.
  [[nodiscard]] bool is_active(const ImageView& mask, std::int64_t column, std::int64_t row) const {
    const std::int64_t left = column * job_.tile;
    const std::int64_t bytes = std::min(job_.tile, job_.width - left) * mask.strides.pixel;
    const std::int64_t bottom = std::min((row + 1) * job_.tile, job_.height);
    for (std::int64_t y = row * job_.tile; y < bottom; ++y) {
      const std::byte* values = mask.at(left, y);
      if (std::accumulate(values, values + bytes, std::byte{0}, std::bit_or<>()) != std::byte{0}) return true;
    }
    return false;
  }

  CpuBackend& backend_;
  ActiveTilesJob job_;
  std::int64_t columns_;
  WorkspaceVector<std::uint8_t> active_;
};

}  // namespace

Prepared<ActiveTilesJob> prepare_active_tiles(Backend& backend, const ActiveTilesJob& job) {
  return std::make_unique<ActiveTiles>(as_cpu(backend), job);
}

}  // namespace satin::cpu
