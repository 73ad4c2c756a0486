#include "core/operations/detail.h"

#include "core/cpu/backend.h"
#include "core/operations/with_type.h"
#include "core/transfer.h"

namespace satin::cpu {
namespace {

class Detail final : public DetailOperation {
 public:
  Detail(CpuBackend& backend, const DetailJob& job)
      : backend_(backend),
        job_(job),
        rule_(detail_rule(job, host_transfer(job.write.type, job.write.transfer == Transfer::srgb))) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const DetailImages& images, Stream) override {
    if (job_.write.type == Type::f32) return of_types<float, std::uint64_t>(images);
    const bool wide = job_.means.type == Type::u64;
    if (job_.write.type == Type::u8)
      return wide ? of_types<std::uint8_t, std::uint64_t>(images)
                  : of_types<std::uint8_t, std::uint32_t>(images);
    wide ? of_types<std::uint16_t, std::uint64_t>(images) : of_types<std::uint16_t, std::uint32_t>(images);
  }

 private:
  template <class T, class Working>
  void of_types(const DetailImages& images) {
    with_channels(job_.means.channels, [&]<int Channels>() { store<Channels, T, Working>(images); });
  }

  template <int Channels, class T, class Working>
  void store(const DetailImages& images) {
    FixedExponents exponents;
    if (job_.means.fixed_point) exponents = fixed_exponents(*images.measured, rule_.fixed_bits);
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      const DetailRule rule = rule_;
      for (std::int64_t y = first; y < last; ++y) {
        const auto* means = images.means.row<Working>(y);
        const T* original = images.picture.row<T>(y);
        T* out = images.output.row<T>(y);
        for (std::int64_t x = 0; x < job_.width; ++x) {
          const std::uint32_t mask = rule.mask_maximum == 0      ? 0
                                     : rule.mask_maximum == 0xFF ? images.mask.row<std::uint8_t>(y)[x]
                                                                 : images.mask.row<std::uint16_t>(y)[x];
          const std::int64_t at = x * Channels;
          store_with_detail<Channels>(means + at, original + at, mask, rule, exponents, out + at);
        }
      }
    });
  }

  CpuBackend& backend_;
  DetailJob job_;
  DetailRule rule_;
};

}  // namespace

std::unique_ptr<DetailOperation> prepare_detail(Backend& backend, const DetailJob& job) {
  return std::make_unique<Detail>(as_cpu(backend), job);
}

}  // namespace satin::cpu
