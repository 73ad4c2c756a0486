#include "means/cpu/unsharp_residual_rows.h"

#include "means/unsharp_residual.h"
#include "pixels/cpu/fixed_threshold_row.h"
#include "pixels/cpu/transfer_simd.h"
#include "pixels/transfer.h"

namespace satin::cpu {

UnsharpResidualRows::UnsharpResidualRows(const UnsharpResidualJob& job, int threads)
    : job_(job),
      entries_(static_cast<std::size_t>(job.width * job.means.channels)),
      transfer_(host_transfer(job.write.type, job.write.transfer == Transfer::srgb)) {
  const UnsharpResidualRule rule = residual_rule(job, transfer_);
  line_ = {rule.amount, rule.threshold, rule.mean_scale, job.means.type == Type::u16 ? 255.0 : 65535.0};
  line_.narrow = exact_in_float(line_);
  const std::vector<std::uint16_t> row(entries_);
  if (transfer_.decode != nullptr) linear_.resize(static_cast<std::size_t>(threads), row);
  if (job.level) results_.resize(static_cast<std::size_t>(threads), row);
}

void UnsharpResidualRows::store(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left,
                                std::int64_t right, const std::byte* means, int slot) {
  job_.write.type == Type::u16 ? store_typed<std::uint16_t>(images, y, left, right, means, slot)
                               : store_typed<std::uint8_t>(images, y, left, right, means, slot);
}

template <class T>
void UnsharpResidualRows::store_typed(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left,
                                      std::int64_t right, const std::byte* means, int slot) {
  const std::int64_t channels = job_.means.channels;
  const T* own = images.picture.row<T>(y) + left * channels;
  const auto entries = static_cast<std::size_t>((right - left) * channels);
  if (!job_.level) return add<T>(own, means, entries, slot, images.output.row<T>(y) + left * channels);
  T* results = reinterpret_cast<T*>(results_[static_cast<std::size_t>(slot)].data());
  add<T>(own, means, entries, slot, results);
  compare_row(results, right - left, *job_.level, images.output.row<std::uint8_t>(y) + left);
}

template <class T>
void UnsharpResidualRows::add(const T* own, const std::byte* means, std::size_t entries, int slot, T* out) {
  if constexpr (sizeof(T) == 2) {
    add_residual(own, reinterpret_cast<const std::uint32_t*>(means), entries, line_, out);
  } else if (linear_.empty()) {
    add_residual(own, reinterpret_cast<const std::uint16_t*>(means), entries, line_, out);
  } else {
    std::uint16_t* light = linear_[static_cast<std::size_t>(slot)].data();
    decode_row(own, entries, transfer_, light);
    add_residual(light, reinterpret_cast<const std::uint32_t*>(means), entries, line_, light);
    encode_row(light, entries, transfer_, out);
  }
}

}  // namespace satin::cpu
