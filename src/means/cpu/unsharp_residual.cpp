// Unsharp masking: by rows, compiled for every SIMD target, or pixel by pixel if there is alpha or a mask.
// The means are an image, or come row by row from a chain of boxes and are never stored.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/unsharp_residual.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <optional>
#include <vector>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "means/cpu/box_chain.h"
#include "means/unsharp_residual.h"
#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/rows.h"
#include "pixels/cpu/transfer-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class Own, class Mean>
std::size_t AddVectors(D d, const Own* own, const Mean* means, std::size_t i, std::size_t count,
                       const UnsharpResidualRule& rule, double white, Own* out) {
  const hn::Rebind<Own, D> stored;
  const hn::Rebind<std::int32_t, D> integers;
  const hn::Rebind<std::uint32_t, D> wide;
  const auto amount = hn::Set(d, rule.amount);
  const auto threshold = hn::Set(d, rule.threshold);
  const auto scale = hn::Set(d, rule.mean_scale);
  const auto most = hn::Set(d, white);
  const auto half = hn::Set(d, 0.5);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = ExactDouble(d, LoadWide(wide, own + i));
    const auto mean = hn::Mul(ExactDouble(d, LoadWide(wide, means + i)), scale);
    const auto difference = hn::Sub(value, mean);
    const auto counts = hn::Gt(hn::Abs(difference), threshold);
    const auto result = hn::Add(value, hn::IfThenElseZero(counts, hn::Mul(difference, amount)));
    const auto bounded = hn::Min(hn::Max(result, hn::Zero(d)), most);
    const auto nearest = hn::DemoteTo(integers, hn::Add(bounded, half));
    hn::StoreU(hn::DemoteTo(stored, nearest), stored, out + i);
  }
  return i;
}

/// Sets out[i] = nearest_integer(with_detail(own[i], means[i] * rule.mean_scale), white), for means below
/// 2^31. Instances: bytes with means of 16 bits, and 16 bits with means of 32.
template <class Own, class Mean>
void AddResidual(const Own* own, const Mean* means, std::size_t count, const UnsharpResidualRule& rule,
                 double white, Own* out) {
  const std::size_t done = AddVectors(hn::ScalableTag<double>(), own, means, 0, count, rule, white, out);
  AddVectors(hn::CappedTag<double, 1>(), own, means, done, count, rule, white, out);
}

/// Integers without alpha and mask: bytes, bytes in linear light, or stored 16-bit values. The means are
/// those of an image, or of successive boxes if `boxes` is not empty.
class ResidualRows final : public UnsharpResidualOperation {
 public:
  ResidualRows(CpuBackend& backend, const UnsharpResidualJob& job, std::vector<ChainBox> boxes)
      : backend_(backend),
        job_(job),
        entries_(static_cast<std::size_t>(job.width * job.means.channels)),
        rule_(residual_rule(job, host_transfer(job.write.type, job.write.transfer == Transfer::srgb))),
        white_(job.means.type == Type::u16 ? 255.0 : 65535.0) {
    const WorkspaceVector<std::uint16_t> row(entries_);
    const auto threads = static_cast<std::size_t>(backend.threads.count());
    if (rule_.transfer.decode != nullptr) linear_.resize(threads, row);
    if (!boxes.empty()) chain_.emplace(backend, std::move(boxes));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return linear_.size() * entries_ * sizeof(std::uint16_t) + (chain_ ? chain_->workspace_bytes() : 0);
  }

  void run(const UnsharpResidualImages& images, Stream) override {
    const auto take = [&](std::int64_t y, std::int64_t left, std::int64_t right, const std::byte* means,
                          int thread) {
      job_.write.type == Type::u16 ? store<std::uint16_t>(images, y, left, right, means, thread)
                                   : store<std::uint8_t>(images, y, left, right, means, thread);
    };
    if (chain_) {
      BoxMeanImages boxes;
      boxes.source = boxes.original = images.picture;
      boxes.output = images.output;
      return chain_->slide(boxes, take);
    }
    constexpr std::int64_t rows_at_once = 16;
    backend_.threads.for_rows(job_.height, rows_at_once,
                              [&](std::int64_t first, std::int64_t last, int thread) {
                                for (std::int64_t y = first; y < last; ++y)
                                  take(y, 0, job_.width, images.means.row<std::byte>(y), thread);
                              });
  }

 private:
  template <class T>
  void store(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left, std::int64_t right,
             const std::byte* means, int thread) {
    const std::int64_t channels = job_.means.channels;
    const T* own = images.picture.row<T>(y) + left * channels;
    const auto entries = static_cast<std::size_t>((right - left) * channels);
    add<T>(own, means, entries, thread, images.output.row<T>(y) + left * channels);
  }

  template <class T>
  void add(const T* own, const std::byte* means, std::size_t entries, int thread, T* out) {
    if constexpr (sizeof(T) == 2) {
      AddResidual(own, reinterpret_cast<const std::uint32_t*>(means), entries, rule_, white_, out);
    } else if (linear_.empty()) {
      AddResidual(own, reinterpret_cast<const std::uint16_t*>(means), entries, rule_, white_, out);
    } else {
      std::uint16_t* light = linear_[static_cast<std::size_t>(thread)].data();
      DecodeRow(own, entries, rule_.transfer, light);
      AddResidual(light, reinterpret_cast<const std::uint32_t*>(means), entries, rule_, white_, light);
      EncodeRow(light, entries, rule_.transfer, out);
    }
  }

  CpuBackend& backend_;
  UnsharpResidualJob job_;
  std::size_t entries_;  ///< entries per row
  UnsharpResidualRule rule_;
  double white_;                                        ///< largest result
  std::vector<WorkspaceVector<std::uint16_t>> linear_;  ///< a row of linear light per thread
  std::optional<BoxChain> chain_;                       ///< none if the means are an image
};

inline Prepared<UnsharpResidualJob> PrepareResidualRows(CpuBackend& backend, const UnsharpResidualJob& job,
                                                        std::vector<ChainBox> boxes) {
  return std::make_unique<ResidualRows>(backend, job, std::move(boxes));
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {
namespace {

HWY_EXPORT(PrepareResidualRows);

class ResidualPixels final : public UnsharpResidualOperation {
 public:
  ResidualPixels(CpuBackend& backend, const UnsharpResidualJob& job)
      : backend_(backend),
        job_(job),
        rule_(residual_rule(job, host_transfer(job.write.type, job.write.transfer == Transfer::srgb))) {}

  void run(const UnsharpResidualImages& images, Stream) override {
    with_residual_types(job_.write.type, job_.means.type, [&]<class T, class Working>() {
      with_channels(job_.means.channels, [&]<int Channels>() { store<Channels, T, Working>(images); });
    });
  }

 private:
  template <int Channels, class T, class Working>
  void store(const UnsharpResidualImages& images) {
    FixedExponents exponents;
    if (job_.means.fixed_point) exponents = fixed_exponents(*images.measured, rule_.fixed_bits);
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      const UnsharpResidualRule rule = rule_;
      for (std::int64_t y = first; y < last; ++y) {
        const auto* means = images.means.row<Working>(y);
        const T* original = images.picture.row<T>(y);
        T* out = images.output.row<T>(y);
        for (std::int64_t x = 0; x < job_.width; ++x) {
          const std::uint32_t mask = rule.mask_maximum == 0 ? 0 : mask_at(images.mask, x, y);
          const std::int64_t at = x * Channels;
          store_with_residual<Channels>(means + at, original + at, mask, rule, exponents, out + at);
        }
      }
    });
  }

  CpuBackend& backend_;
  UnsharpResidualJob job_;
  UnsharpResidualRule rule_;
};

}  // namespace

Prepared<UnsharpResidualJob> prepare_unsharp_residual(Backend& backend, const UnsharpResidualJob& job) {
  if (!is_plain(job)) return std::make_unique<ResidualPixels>(as_cpu(backend), job);
  return HWY_DYNAMIC_DISPATCH(PrepareResidualRows)(as_cpu(backend), job, {});
}

Prepared<UnsharpResidualChainJob> prepare_unsharp_residual_chain(Backend& backend,
                                                                 const UnsharpResidualChainJob& job) {
  auto boxes = is_plain(job.residual) ? chain_of(job.boxes) : std::nullopt;
  if (!boxes) return nullptr;
  return HWY_DYNAMIC_DISPATCH(PrepareResidualRows)(as_cpu(backend), job.residual, std::move(*boxes));
}

}  // namespace satin::cpu
#endif
