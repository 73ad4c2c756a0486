#include "core/operations/detail.h"

#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/detail_simd.h"
#include "core/cpu/level_row.h"
#include "core/cpu/transfer_simd.h"
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
    with_detail_types(job_.write.type, job_.means.type,
                      [&]<class T, class Working>() { of_types<T, Working>(images); });
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

/// Integers without alpha and mask, whole rows in SIMD: bytes, bytes in linear light, or 16 bits as stored.
class PlainDetail final : public DetailOperation {
 public:
  PlainDetail(CpuBackend& backend, const DetailJob& job)
      : backend_(backend),
        job_(job),
        entries_(static_cast<std::size_t>(job.width * job.means.channels)),
        transfer_(host_transfer(job.write.type, job.write.transfer == Transfer::srgb)) {
    const DetailRule rule = detail_rule(job, transfer_);
    line_ = {rule.amount, rule.threshold, rule.mean_scale, job.means.type == Type::u16 ? 255.0 : 65535.0};
    const auto threads = static_cast<std::size_t>(backend.threads.count());
    if (transfer_.decode != nullptr) linear_.resize(threads, std::vector<std::uint16_t>(entries_));
    if (job.level) results_.resize(threads, std::vector<std::uint16_t>(entries_));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return (linear_.size() + results_.size()) * entries_ * sizeof(std::uint16_t);
  }

  void run(const DetailImages& images, Stream) override {
    constexpr std::int64_t rows_at_once = 16;
    backend_.threads.for_rows(job_.height, rows_at_once,
                              [&](std::int64_t first, std::int64_t last, int slot) {
                                for (std::int64_t y = first; y < last; ++y) add_row(images, y, slot);
                              });
  }

 private:
  void add_row(const DetailImages& images, std::int64_t y, int slot) {
    job_.write.type == Type::u16 ? store_row<std::uint16_t>(images, y, slot)
                                 : store_row<std::uint8_t>(images, y, slot);
  }

  template <class T>
  void store_row(const DetailImages& images, std::int64_t y, int slot) {
    if (!job_.level) return add<T>(images, y, slot, images.output.row<T>(y));
    T* results = reinterpret_cast<T*>(results_[static_cast<std::size_t>(slot)].data());
    add<T>(images, y, slot, results);
    compare_row(results, job_.width, *job_.level, images.output.row<std::uint8_t>(y));
  }

  template <class T>
  void add(const DetailImages& images, std::int64_t y, int slot, T* out) {
    const T* own = images.picture.row<T>(y);
    if constexpr (sizeof(T) == 2) {
      add_detail(own, images.means.row<std::uint32_t>(y), entries_, line_, out);
    } else if (linear_.empty()) {
      add_detail(own, images.means.row<std::uint16_t>(y), entries_, line_, out);
    } else {
      std::uint16_t* light = linear_[static_cast<std::size_t>(slot)].data();
      decode_row(own, entries_, transfer_, light);
      add_detail(light, images.means.row<std::uint32_t>(y), entries_, line_, light);
      encode_row(light, entries_, transfer_, out);
    }
  }

  CpuBackend& backend_;
  DetailJob job_;
  std::size_t entries_;  ///< of a row
  TransferView transfer_;
  DetailLine line_;
  std::vector<std::vector<std::uint16_t>> linear_;   ///< a row of light for each thread
  std::vector<std::vector<std::uint16_t>> results_;  ///< with a level: a row before it, of bytes or words
};

}  // namespace

std::unique_ptr<DetailOperation> prepare_detail(Backend& backend, const DetailJob& job) {
  if (is_plain(job)) return std::make_unique<PlainDetail>(as_cpu(backend), job);
  return std::make_unique<Detail>(as_cpu(backend), job);
}

}  // namespace satin::cpu
