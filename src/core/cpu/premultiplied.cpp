#include "core/operations/premultiplied.h"

#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/premultiplied_simd.h"
#include "core/cpu/store.h"
#include "core/transfer.h"

namespace satin::cpu {
namespace {

PremultiplyRule host_rule(const PremultipliedJob& job) {
  return premultiply_rule(job, host_transfer(Type::u8, job.read.transfer == Transfer::srgb));
}

class Premultiply final : public PremultiplyOperation {
 public:
  Premultiply(CpuBackend& backend, const PremultipliedJob& job)
      : backend_(backend), job_(job), rule_(host_rule(job)) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& picture, const MutableImageView& values, Stream) override {
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y)
        premultiply_row(picture.row<std::uint8_t>(y), static_cast<std::size_t>(job_.width),
                        job_.read.channels, rule_, values.row<std::uint16_t>(y));
    });
  }

 private:
  CpuBackend& backend_;
  PremultipliedJob job_;
  PremultiplyRule rule_;
};

class Unpremultiply final : public UnpremultiplyOperation {
 public:
  Unpremultiply(CpuBackend& backend, const PremultipliedJob& job)
      : backend_(backend), job_(job), rule_(host_rule(job)) {
    if (job.mask_maximum != 0) return;
    light_.resize(static_cast<std::size_t>(backend.threads.count()),
                  std::vector<std::uint16_t>(static_cast<std::size_t>(job.width * job.read.channels)));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return light_.empty() ? 0 : light_.size() * light_[0].size() * sizeof(std::uint16_t);
  }

  void run(const UnpremultiplyImages& images, Stream) override {
    constexpr std::int64_t rows_at_once = 16;
    backend_.threads.for_rows(
        job_.height, rows_at_once, [&](std::int64_t first, std::int64_t last, int slot) {
          for (std::int64_t y = first; y < last; ++y)
            job_.mask_maximum == 0 ? store_row(images, y, light_[static_cast<std::size_t>(slot)].data())
                                   : blend_row(images, y);
        });
  }

 private:
  void store_row(const UnpremultiplyImages& images, std::int64_t y, std::uint16_t* light) const {
    store_premultiplied_row(images.values.row<std::uint16_t>(y), images.original.row<std::uint8_t>(y),
                            static_cast<std::size_t>(job_.width), job_.read.channels, rule_, light,
                            images.output.row<std::uint8_t>(y));
  }

  void blend_row(const UnpremultiplyImages& images, std::int64_t y) const {
    job_.read.channels == 2 ? blend_pixels<2>(images, y) : blend_pixels<4>(images, y);
  }

  template <int Channels>
  void blend_pixels(const UnpremultiplyImages& images, std::int64_t y) const {
    for (std::int64_t x = 0; x < job_.width; ++x)
      store_premultiplied<Channels>(images.values.row<std::uint16_t>(y) + x * Channels,
                                    images.original.row<std::uint8_t>(y) + x * Channels,
                                    mask_at(images.mask, x, y), rule_,
                                    images.output.row<std::uint8_t>(y) + x * Channels);
  }

  CpuBackend& backend_;
  PremultipliedJob job_;
  PremultiplyRule rule_;
  std::vector<std::vector<std::uint16_t>> light_;  ///< a row for each thread
};

}  // namespace

std::unique_ptr<PremultiplyOperation> prepare_premultiply(Backend& backend, const PremultipliedJob& job) {
  return std::make_unique<Premultiply>(as_cpu(backend), job);
}

std::unique_ptr<UnpremultiplyOperation> prepare_unpremultiply(Backend& backend, const PremultipliedJob& job) {
  return std::make_unique<Unpremultiply>(as_cpu(backend), job);
}

}  // namespace satin::cpu
