// Bytes with straight alpha to premultiplied values and back, compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/premultiplied.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <vector>

#include "core/cpu/backend.h"
#include "pixels/cpu/premultiplied-inl.h"
#include "pixels/cpu/rows.h"
#include "pixels/premultiplied.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

inline PremultiplyRule host_rule(const PremultipliedJob& job) {
  return premultiply_rule(job, host_transfer(Type::u8, job.read.transfer == Transfer::srgb));
}

/// A row for each thread.
class Scratch {
 public:
  Scratch(const CpuBackend& backend, const PremultipliedJob& job)
      : rows_(static_cast<std::size_t>(backend.threads.count()),
              std::vector<std::uint16_t>(static_cast<std::size_t>(job.width * job.read.channels))) {}
  [[nodiscard]] std::size_t bytes() const noexcept {
    return rows_.size() * rows_[0].size() * sizeof(std::uint16_t);
  }
  [[nodiscard]] std::uint16_t* of(int slot) { return rows_[static_cast<std::size_t>(slot)].data(); }

 private:
  std::vector<std::vector<std::uint16_t>> rows_;
};

constexpr std::int64_t rows_at_once = 16;

template <class Value>
class Premultiply final : public PremultiplyOperation {
 public:
  Premultiply(CpuBackend& backend, const PremultipliedJob& job)
      : backend_(backend), job_(job), rule_(host_rule(job)), scratch_(backend, job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return scratch_.bytes(); }

  void run(const ImageView& picture, const MutableImageView& values, Stream) override {
    backend_.threads.for_rows(
        job_.height, rows_at_once, [&](std::int64_t first, std::int64_t last, int slot) {
          for (std::int64_t y = first; y < last; ++y)
            PremultiplyRow(picture.row<std::uint8_t>(y), static_cast<std::size_t>(job_.width),
                           job_.read.channels, rule_, scratch_.of(slot), values.row<Value>(y));
        });
  }

 private:
  CpuBackend& backend_;
  PremultipliedJob job_;
  PremultiplyRule rule_;
  Scratch scratch_;
};

template <class Value>
class Unpremultiply final : public UnpremultiplyOperation {
 public:
  Unpremultiply(CpuBackend& backend, const PremultipliedJob& job)
      : backend_(backend), job_(job), rule_(host_rule(job)), scratch_(backend, job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return scratch_.bytes(); }

  void run(const UnpremultiplyImages& images, Stream) override {
    backend_.threads.for_rows(job_.height, rows_at_once,
                              [&](std::int64_t first, std::int64_t last, int slot) {
                                for (std::int64_t y = first; y < last; ++y) store_row(images, y, slot);
                              });
  }

 private:
  void store_row(const UnpremultiplyImages& images, std::int64_t y, int slot) {
    if (job_.mask_maximum != 0)
      return job_.read.channels == 2 ? blend_row<2>(images, y) : blend_row<4>(images, y);
    StorePremultipliedRow(images.values.row<Value>(y), images.original.row<std::uint8_t>(y),
                          static_cast<std::size_t>(job_.width), job_.read.channels, rule_, scratch_.of(slot),
                          images.output.row<std::uint8_t>(y));
  }

  template <int Channels>
  void blend_row(const UnpremultiplyImages& images, std::int64_t y) const {
    for (std::int64_t x = 0; x < job_.width; ++x)
      store_premultiplied<Channels>(
          images.values.row<Value>(y) + x * Channels, images.original.row<std::uint8_t>(y) + x * Channels,
          mask_at(images.mask, x, y), rule_, images.output.row<std::uint8_t>(y) + x * Channels);
  }

  CpuBackend& backend_;
  PremultipliedJob job_;
  PremultiplyRule rule_;
  Scratch scratch_;
};

inline std::unique_ptr<PremultiplyOperation> PreparePremultiply(Backend& backend, const PremultiplyJob& job) {
  if (values_type(job) == Type::u16)
    return std::make_unique<Premultiply<std::uint16_t>>(as_cpu(backend), job);
  return std::make_unique<Premultiply<std::uint32_t>>(as_cpu(backend), job);
}

inline std::unique_ptr<UnpremultiplyOperation> PrepareUnpremultiply(Backend& backend,
                                                                    const UnpremultiplyJob& job) {
  if (values_type(job) == Type::u16)
    return std::make_unique<Unpremultiply<std::uint16_t>>(as_cpu(backend), job);
  return std::make_unique<Unpremultiply<std::uint32_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PreparePremultiply);
HWY_EXPORT(PrepareUnpremultiply);

std::unique_ptr<PremultiplyOperation> prepare_premultiply(Backend& backend, const PremultiplyJob& job) {
  return HWY_DYNAMIC_DISPATCH(PreparePremultiply)(backend, job);
}

std::unique_ptr<UnpremultiplyOperation> prepare_unpremultiply(Backend& backend, const UnpremultiplyJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareUnpremultiply)(backend, job);
}

}  // namespace satin::cpu
#endif
