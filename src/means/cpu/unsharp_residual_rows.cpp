// Rows of unsharp masking, compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/unsharp_residual_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <vector>

#include "means/cpu/unsharp_residual-inl.h"
#include "means/cpu/unsharp_residual_rows.h"
#include "means/unsharp_residual.h"
#include "pixels/cpu/fixed_threshold_row-inl.h"
#include "pixels/cpu/transfer-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

class TargetRows final : public UnsharpResidualRows {
 public:
  TargetRows(const UnsharpResidualJob& job, int threads);

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return (linear_.size() + results_.size()) * entries_ * sizeof(std::uint16_t);
  }

  void store(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left, std::int64_t right,
             const std::byte* means, int slot) override;

 private:
  template <class T>
  void store_typed(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left, std::int64_t right,
                   const std::byte* means, int slot);
  template <class T>
  void add(const T* own, const std::byte* means, std::size_t entries, int slot, T* out);

  UnsharpResidualJob job_;
  std::size_t entries_;  ///< of a row
  TransferView transfer_;
  UnsharpResidualLine line_;
  std::vector<std::vector<std::uint16_t>> linear_;   ///< a row of light for each thread
  std::vector<std::vector<std::uint16_t>> results_;  ///< with a level: a row before it, of bytes or words
};

inline TargetRows::TargetRows(const UnsharpResidualJob& job, int threads)
    : job_(job),
      entries_(static_cast<std::size_t>(job.width * job.means.channels)),
      transfer_(host_transfer(job.write.type, job.write.transfer == Transfer::srgb)) {
  const UnsharpResidualRule rule = residual_rule(job, transfer_);
  line_ = {rule.amount, rule.threshold, rule.mean_scale, job.means.type == Type::u16 ? 255.0 : 65535.0};
  line_.narrow = ExactInFloat(line_);
  const std::vector<std::uint16_t> row(entries_);
  if (transfer_.decode != nullptr) linear_.resize(static_cast<std::size_t>(threads), row);
  if (job.level) results_.resize(static_cast<std::size_t>(threads), row);
}

inline void TargetRows::store(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left,
                              std::int64_t right, const std::byte* means, int slot) {
  job_.write.type == Type::u16 ? store_typed<std::uint16_t>(images, y, left, right, means, slot)
                               : store_typed<std::uint8_t>(images, y, left, right, means, slot);
}

template <class T>
void TargetRows::store_typed(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left,
                             std::int64_t right, const std::byte* means, int slot) {
  const std::int64_t channels = job_.means.channels;
  const T* own = images.picture.row<T>(y) + left * channels;
  const auto entries = static_cast<std::size_t>((right - left) * channels);
  if (!job_.level) return add<T>(own, means, entries, slot, images.output.row<T>(y) + left * channels);
  T* results = reinterpret_cast<T*>(results_[static_cast<std::size_t>(slot)].data());
  add<T>(own, means, entries, slot, results);
  CompareRow(results, right - left, *job_.level, images.output.row<std::uint8_t>(y) + left);
}

template <class T>
void TargetRows::add(const T* own, const std::byte* means, std::size_t entries, int slot, T* out) {
  if constexpr (sizeof(T) == 2) {
    AddResidual(own, reinterpret_cast<const std::uint32_t*>(means), entries, line_, out);
  } else if (linear_.empty()) {
    AddResidual(own, reinterpret_cast<const std::uint16_t*>(means), entries, line_, out);
  } else {
    std::uint16_t* light = linear_[static_cast<std::size_t>(slot)].data();
    DecodeRow(own, entries, transfer_, light);
    AddResidual(light, reinterpret_cast<const std::uint32_t*>(means), entries, line_, light);
    EncodeRow(light, entries, transfer_, out);
  }
}

inline std::unique_ptr<UnsharpResidualRows> MakeUnsharpResidualRows(const UnsharpResidualJob& job,
                                                                    int threads) {
  return std::make_unique<TargetRows>(job, threads);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(MakeUnsharpResidualRows);

std::unique_ptr<UnsharpResidualRows> make_unsharp_residual_rows(const UnsharpResidualJob& job, int threads) {
  return HWY_DYNAMIC_DISPATCH(MakeUnsharpResidualRows)(job, threads);
}

}  // namespace satin::cpu
#endif
