#include <algorithm>
#include <bit>
#include <optional>

#include "scan/cuda/operations.h"
#include "scan/cuda/space.h"

namespace satin::cuda {
namespace {

/// Bins with their inner edges in device memory.
class DeviceBins {
 public:
  DeviceBins(const CudaBackend& device, const Bins& bins, Stream stream) : rule_(bin_rule(bins)) {
    if (rule_.inner == nullptr) return;
    const std::size_t bytes = (rule_.count - 1) * sizeof(double);
    inner_.emplace(device, bytes, stream);
    if (bytes > 0)
      check(cudaMemcpyAsync(inner_->get(), rule_.inner, bytes, cudaMemcpyHostToDevice,
                            device.stream_of(stream)),
            "copying the edges of bins");
    rule_.inner = inner_->as<double>();
  }
  [[nodiscard]] const BinRule& rule() const noexcept { return rule_; }

 private:
  BinRule rule_;
  std::optional<StreamBuffer> inner_;
};

}  // namespace

void histogram(Backend& backend, ArrayView values, const Bins& bins, MutableArrayView counts, Stream stream) {
  const CudaBackend& device = as_cuda(backend);
  device.select();
  const DeviceBins on_device(device, bins, stream);
  check(cudaMemsetAsync(counts.data, 0, static_cast<std::size_t>(counts.size) * size_of(counts.type),
                        device.stream_of(stream)),
        "clearing counts");
  kernels::histogram(values, on_device.rule(), counts, device.multiprocessors(), device.stream_of(stream));
  check_launch("counting values");
}

void extract_bins(Backend& backend, ArrayView values, const Bins& bins, MutableArrayView result,
                  MutableArrayView counts, MutableArrayView indices, Stream stream) {
  const CudaBackend& device = as_cuda(backend);
  device.select();
  const cudaStream_t handle = device.stream_of(stream);
  const DeviceBins on_device(device, bins, stream);
  const Type key = bins.count() <= 256 ? Type::u8 : Type::u16;
  const StreamArray keys(device, key, values.size, stream);
  const StreamArray sorted_keys(device, key, values.size, stream);
  kernels::bin_indices(values, on_device.rule(), keys.view(), handle);
  const int bits =
      std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bins.count() - 1))));
  const auto sort = [&](ArrayView from, MutableArrayView to) {
    run_in_space(device, stream, "sorting by bins", [&](kernels::Space& space) {
      return kernels::sort_pairs(space, {keys.view(), from, sorted_keys.view(), to}, bits, handle);
    });
  };
  if (indices.size == 0) {
    sort(values, result);
  } else {
    const StreamArray ascending(device, indices.type, values.size, stream);
    kernels::write_indices(ascending.view(), handle);
    sort(ascending.view(), indices);
    kernels::gather(values, indices, result, handle);
  }
  kernels::counts_of_sorted(sorted_keys.view(), counts, handle);
  check_launch("extracting bins");
}

}  // namespace satin::cuda
