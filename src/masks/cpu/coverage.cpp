// Boxes and masks as weights.

#include <algorithm>

#include "core/cpu/backend.h"
#include "masks/coverage.h"

namespace satin::cpu {
namespace {

constexpr std::uint8_t covered = 0xFF;

template <class T>
void cover_by_mask(const ImageView& mask, std::int64_t y, std::uint8_t* weights) {
  const T* from = mask.row<T>(y);
  std::transform(from, from + mask.shape.width, weights,
                 [](T value) { return value == 0 ? std::uint8_t{0} : covered; });
}

class Coverage final : public CoverageOperation {
 public:
  Coverage(CpuBackend& backend, const CoverageJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& mask, const MutableImageView& weights, Stream) override {
    parallel_rows(backend_, job_.height, 64, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        auto* row = weights.row<std::uint8_t>(y);
        if (mask.empty()) {
          std::fill_n(row, job_.width, std::uint8_t{0});
        } else if (job_.mask_type == Type::u8) {
          cover_by_mask<std::uint8_t>(mask, y, row);
        } else {
          cover_by_mask<std::uint16_t>(mask, y, row);
        }
      }
      for (const PixelBox& box : job_.boxes)
        for (std::int64_t y = std::max(first, box.y); y < std::min(last, box.y + box.height); ++y)
          std::fill_n(weights.row<std::uint8_t>(y) + box.x, box.width, covered);
    });
  }

 private:
  CpuBackend& backend_;
  CoverageJob job_;
};

}  // namespace

std::unique_ptr<CoverageOperation> prepare_coverage(Backend& backend, const CoverageJob& job) {
  return std::make_unique<Coverage>(as_cpu(backend), job);
}

}  // namespace satin::cpu
