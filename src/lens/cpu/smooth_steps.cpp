// Depth of 8 bits without its steps, by a table of the whole image; compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lens/cpu/smooth_steps.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "core/cpu/backend.h"
#include "lens/cpu/depth_rows-inl.h"
#include "lens/smooth_steps.h"
#include "tables/plane_table.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

class SmoothSteps final : public SmoothStepsOperation {
 public:
  SmoothSteps(CpuBackend& backend, const SmoothStepsJob& job)
      : backend_(backend),
        job_(job),
        table_(backend, job.width, job.height, Type::u32, UINT32_MAX, Accumulator::u32) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return table_.workspace_bytes(); }

  void run(const ImageView& codes, const MutableImageView& smoothed, Stream stream) override {
    const bool packed = job_.channels == 1;
    const auto code_at = [&](std::int64_t x, std::int64_t y) {
      return static_cast<int>(codes.row<std::uint8_t>(y)[x * job_.channels + job_.channel]);
    };
    for_rows([&](std::int64_t y) {
      auto* values = table_.plane().row<std::uint32_t>(y);
      if (packed) return FindSteps(rows_around(codes, y), values);
      for (std::int64_t x = 0; x < job_.width; ++x)
        values[x] = step_value(x, y, job_.width, job_.height, job_.unknown, code_at);
    });
    table_.run(stream);
    const auto table = table_.table<std::uint32_t>();
    for_rows([&](std::int64_t y) {
      auto* out = smoothed.row<std::uint16_t>(y);
      if (packed) return SmoothCodes(codes.row<std::uint8_t>(y), y, job_.unknown, table, out);
      for (std::int64_t x = 0; x < job_.width; ++x)
        out[x] = smoothed_code(code_at(x, y), x, y, job_.unknown, table);
    });
  }

 private:
  [[nodiscard]] CodeRows rows_around(const ImageView& codes, std::int64_t y) const {
    const auto row = [&](std::int64_t at) { return codes.row<std::uint8_t>(at); };
    return {row(std::max<std::int64_t>(y - 1, 0)), row(y), row(std::min(y + 1, job_.height - 1)), job_.width,
            job_.unknown};
  }

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

inline std::unique_ptr<SmoothStepsOperation> PrepareSmoothSteps(Backend& backend, const SmoothStepsJob& job) {
  return std::make_unique<SmoothSteps>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareSmoothSteps);

std::unique_ptr<SmoothStepsOperation> prepare_smooth_steps(Backend& backend, const SmoothStepsJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareSmoothSteps)(backend, job);
}

}  // namespace satin::cpu
#endif
