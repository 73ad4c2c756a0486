#include "means/unsharp_residual.h"

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "means/cpu/unsharp_residual_rows.h"
#include "pixels/transfer.h"

namespace satin::cpu {
namespace {

class Detail final : public UnsharpResidualOperation {
 public:
  Detail(CpuBackend& backend, const UnsharpResidualJob& job)
      : backend_(backend),
        job_(job),
        rule_(residual_rule(job, host_transfer(job.write.type, job.write.transfer == Transfer::srgb))) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const UnsharpResidualImages& images, Stream) override {
    with_residual_types(job_.write.type, job_.means.type,
                        [&]<class T, class Working>() { of_types<T, Working>(images); });
  }

 private:
  template <class T, class Working>
  void of_types(const UnsharpResidualImages& images) {
    with_channels(job_.means.channels, [&]<int Channels>() { store<Channels, T, Working>(images); });
  }

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
          const std::uint32_t mask = rule.mask_maximum == 0      ? 0
                                     : rule.mask_maximum == 0xFF ? images.mask.row<std::uint8_t>(y)[x]
                                                                 : images.mask.row<std::uint16_t>(y)[x];
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

class PlainResidual final : public UnsharpResidualOperation {
 public:
  PlainResidual(CpuBackend& backend, const UnsharpResidualJob& job)
      : backend_(backend), job_(job), rows_(make_unsharp_residual_rows(job, backend.threads.count())) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return rows_->bytes(); }

  void run(const UnsharpResidualImages& images, Stream) override {
    constexpr std::int64_t rows_at_once = 16;
    backend_.threads.for_rows(
        job_.height, rows_at_once, [&](std::int64_t first, std::int64_t last, int slot) {
          for (std::int64_t y = first; y < last; ++y)
            rows_->store(images, y, 0, job_.width, images.means.row<std::byte>(y), slot);
        });
  }

 private:
  CpuBackend& backend_;
  UnsharpResidualJob job_;
  std::unique_ptr<UnsharpResidualRows> rows_;
};

}  // namespace

std::unique_ptr<UnsharpResidualOperation> prepare_unsharp_residual(Backend& backend,
                                                                   const UnsharpResidualJob& job) {
  if (is_plain(job)) return std::make_unique<PlainResidual>(as_cpu(backend), job);
  return std::make_unique<Detail>(as_cpu(backend), job);
}

}  // namespace satin::cpu
