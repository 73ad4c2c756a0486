#include "lens/fill_radii.h"

#include <algorithm>
#include <atomic>

#include "core/cpu/backend.h"
#include "lens/known_radii.h"

namespace satin::cpu {
namespace {

class FillRadii final : public FillRadiiOperation {
 public:
  FillRadii(CpuBackend& backend, const FillRadiiJob& job)
      : backend_(backend), job_(job), tables_(backend, job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return tables_.workspace_bytes(); }

  void run(const MutableImageView& radii, LensState* state, Stream stream) override {
    const std::uint64_t unknown = count_unknown(radii);
    if (unknown == 0) return;
    state->unknown += unknown;
    if (unknown == static_cast<std::uint64_t>(job_.width) * static_cast<std::uint64_t>(job_.height))
      state->problems |= nothing_known;
    split(radii);
    tables_.run(stream);
    const KnownRadii known = tables_.known(job_);
    for_rows([&](std::int64_t y) {
      auto* row = radii.row<SignedRadius256>(y);
      for (std::int64_t x = 0; x < job_.width; ++x)
        if (row[x] == unknown_radius) row[x] = filled_radius(x, y, known);
    });
  }

 private:
  std::uint64_t count_unknown(const MutableImageView& radii) {
    std::atomic<std::uint64_t> unknown = 0;
    for_rows([&](std::int64_t y) {
      const auto* row = radii.row<SignedRadius256>(y);
      unknown += static_cast<std::uint64_t>(std::count(row, row + job_.width, unknown_radius));
    });
    return unknown;
  }

  /// What is summed, of every pixel.
  void split(const MutableImageView& radii) {
    for_rows([&](std::int64_t y) {
      const auto* row = radii.row<SignedRadius256>(y);
      auto* known = tables_.counts.plane().row<std::uint8_t>(y);
      auto* raised = tables_.sums.plane().row<std::uint32_t>(y);
      for (std::int64_t x = 0; x < job_.width; ++x) {
        known[x] = row[x] == unknown_radius ? 0 : 1;
        raised[x] = known[x] == 0 ? 0U : static_cast<std::uint32_t>(row[x] + job_.largest);
      }
    });
  }

  template <class Row>
  void for_rows(const Row& row) {
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) row(y);
    });
  }

  CpuBackend& backend_;
  FillRadiiJob job_;
  KnownRadiiTables tables_;
};

}  // namespace

std::unique_ptr<FillRadiiOperation> prepare_fill_radii(Backend& backend, const FillRadiiJob& job) {
  return std::make_unique<FillRadii>(as_cpu(backend), job);
}

}  // namespace satin::cpu
