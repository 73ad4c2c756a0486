// Removes the steps of 8-bit depth by one table of the whole image.

#include "depth/smooth_steps.h"

#include <algorithm>
#include <cstdint>

#include "core/cpu/backend.h"
#include "tables/plane_table.h"

namespace satin::cpu {
namespace {

class SmoothSteps final : public SmoothStepsOperation {
 public:
  SmoothSteps(CpuBackend& backend, const SmoothStepsJob& job)
      : backend_(backend),
        job_(job),
        table_(backend, job.width, job.height, Type::u32, UINT32_MAX, Accumulator::u32) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return table_.workspace_bytes(); }

  void run(const ImageView& codes, const MutableImageView& smoothed, Stream stream) override {
    const std::int64_t channels = job_.channels;
    const std::int64_t width = job_.width;
    const int unknown = job_.unknown;
    const auto row_at = [&](std::int64_t y) {
      return codes.row<std::uint8_t>(std::clamp<std::int64_t>(y, 0, job_.height - 1)) + job_.channel;
    };
    for_rows([&](std::int64_t y) {
      auto* values = table_.plane().row<std::uint32_t>(y);
      const std::uint8_t* row = row_at(y);
      const std::uint8_t* above = row_at(y - 1);
      const std::uint8_t* below = row_at(y + 1);
      const auto store = [&](std::int64_t x, std::int64_t left, std::int64_t right) {
        const std::int64_t at = x * channels;
        values[x] =
            step_value(row[at], row[left * channels], row[right * channels], above[at], below[at], unknown);
      };
      store(0, 0, std::min<std::int64_t>(1, width - 1));
      for (std::int64_t x = 1; x + 1 < width; ++x) store(x, x - 1, x + 1);
      if (width > 1) store(width - 1, width - 2, width - 1);
    });
    table_.run(stream);
    const auto table = table_.table<std::uint32_t>();
    for_rows([&](std::int64_t y) {
      auto* out = smoothed.row<std::uint16_t>(y);
      const std::uint8_t* row = row_at(y);
      for (std::int64_t x = 0; x < width; ++x)
        out[x] = smoothed_code(row[x * channels], x, y, unknown, table);
    });
  }

 private:
  template <class Row>
  void for_rows(const Row& row) {
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) row(y);
    });
  }

  CpuBackend& backend_;
  SmoothStepsJob job_;
  PlaneTable table_;
};

}  // namespace

std::unique_ptr<SmoothStepsOperation> prepare_smooth_steps(Backend& backend, const SmoothStepsJob& job) {
  return std::make_unique<SmoothSteps>(as_cpu(backend), job);
}

}  // namespace satin::cpu
