// Depth of 8 bits without its steps, by a table of the whole image.

#include "lens/smooth_steps.h"

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
    const auto code_at = [&](std::int64_t x, std::int64_t y) {
      return static_cast<int>(codes.row<std::uint8_t>(y)[x * job_.channels + job_.channel]);
    };
    for_rows([&](std::int64_t y) {
      auto* values = table_.plane().row<std::uint32_t>(y);
      for (std::int64_t x = 0; x < job_.width; ++x)
        values[x] = step_value(x, y, job_.width, job_.height, job_.unknown, code_at);
    });
    table_.run(stream);
    const auto table = table_.table<std::uint32_t>();
    for_rows([&](std::int64_t y) {
      auto* out = smoothed.row<std::uint16_t>(y);
      for (std::int64_t x = 0; x < job_.width; ++x)
        out[x] = smoothed_code(code_at(x, y), x, y, job_.unknown, table);
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
