#include "masks/validity_mask.h"

#include <algorithm>

#include "core/cpu/backend.h"
#include "means/cpu/store.h"

namespace satin::cpu {
namespace {

class ValidityMask final : public ValidityMaskOperation {
 public:
  ValidityMask(CpuBackend& backend, const ValidityMaskJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& picture, const ImageView& mask, const MutableImageView& selected,
           const MutableImageView& included, Stream) override {
    const std::size_t pixel = size_of(job_.type) * static_cast<std::size_t>(job_.channels);
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        const std::byte* from = picture.at(0, y);
        std::byte* to = selected.at(0, y);
        auto* in = included.row<std::uint8_t>(y);
        for (std::int64_t x = 0; x < job_.width; ++x, from += pixel, to += pixel) {
          in[x] = mask_at(mask, x, y) == 0 ? 0 : 1;
          if (in[x] == 0) {
            std::fill_n(to, pixel, std::byte{0});
          } else {
            std::copy_n(from, pixel, to);
          }
        }
      }
    });
  }

 private:
  CpuBackend& backend_;
  ValidityMaskJob job_;
};

}  // namespace

std::unique_ptr<ValidityMaskOperation> prepare_validity_mask(Backend& backend, const ValidityMaskJob& job) {
  return std::make_unique<ValidityMask>(as_cpu(backend), job);
}

}  // namespace satin::cpu
