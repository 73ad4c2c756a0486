// The scan family on the GPU, except selection: each function allocates workspace in stream order and
// launches the kernels of kernels/scan.

#include <algorithm>
#include <bit>
#include <optional>

#include "scan/cuda/operations.h"
#include "scan/cuda/space.h"

namespace satin::cuda {

void reduce(Backend& backend, ArrayView values, Operator op, MutableArrayView result, Stream stream) {
  CudaBackend& device = as_cuda(backend);
  device.select();
  run_in_space(device, stream, "reducing", [&](kernels::Space& space) {
    return kernels::reduce(space, values, op, result, device.multiprocessors(), device.stream_of(stream));
  });
}

double mean(Backend& backend, ArrayView values, Stream stream) {
  CudaBackend& device = as_cuda(backend);
  device.select();
  const bool floats = values.type == Type::f32 || values.type == Type::f64;
  const StreamArray sum(device, floats ? Type::f64 : Type::u64, 1, stream);
  reduce(backend, values, Operator::sum, sum.view(), stream);
  const auto count = static_cast<double>(values.size);
  if (floats) return download<double>(device, sum.view().data, stream) / count;
  if (values.type == Type::i32)
    return static_cast<double>(download<std::int64_t>(device, sum.view().data, stream)) / count;
  return static_cast<double>(download<std::uint64_t>(device, sum.view().data, stream)) / count;
}

void scan(Backend& backend, ArrayView values, MutableArrayView result, const ScanRule& rule, Stream stream) {
  const CudaBackend& device = as_cuda(backend);
  device.select();
  const bool plain_sums = rule.op == Operator::sum && (rule.exclusive || !rule.initial.has_value());
  const auto launch = plain_sums ? kernels::scan_sums : kernels::scan_by_operator;
  run_in_space(device, stream, "scanning", [&](kernels::Space& space) {
    return launch(space, values, result, rule, device.stream_of(stream));
  });
}

void combine(Backend& backend, ArrayView a, ArrayView b, MutableArrayView result, Operator op,
             Stream stream) {
  const CudaBackend& device = as_cuda(backend);
  device.select();
  kernels::combine(a, b, result, op, device.stream_of(stream));
  check_launch("combining arrays");
}

void segmented_scan(Backend& backend, ArrayView values, const Segments& segments, MutableArrayView result,
                    const ScanRule& rule, Stream stream) {
  const CudaBackend& device = as_cuda(backend);
  device.select();
  run_in_space(device, stream, "scanning segments", [&](kernels::Space& space) {
    return kernels::segmented_scan(space, values, segments, result, rule, device.stream_of(stream));
  });
}

std::int64_t segmented_reduce(Backend& backend, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op, Stream stream) {
  CudaBackend& device = as_cuda(backend);
  device.select();
  const StreamBuffer found(device, sizeof(kernels::SegmentsFound), stream);
  found.clear(sizeof(kernels::SegmentsFound));
  if (!segments.flags && result.size > 0) kernels::fill_with_identity(result, op, device.stream_of(stream));
  run_in_space(device, stream, "reducing segments", [&](kernels::Space& space) {
    return kernels::segmented_reduce(space, values, segments, result, op, found.as<kernels::SegmentsFound>(),
                                     device.stream_of(stream));
  });
  const auto told = download<kernels::SegmentsFound>(device, found.get(), stream);
  return told.invalid != 0 ? -1 : told.count;
}

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

namespace {

int bits_of(Type key) { return static_cast<int>(size_of(key)) * 8; }

void sort_by_bits(const CudaBackend& device, const SortArrays& arrays, int bits, Stream stream) {
  run_in_space(device, stream, "sorting", [&](kernels::Space& space) {
    return arrays.values.size == 0
               ? kernels::sort_keys(space, arrays.keys, arrays.sorted_keys, bits, device.stream_of(stream))
               : kernels::sort_pairs(space, arrays, bits, device.stream_of(stream));
  });
}

/// Sorts floats. All NaN become one key beforehand, the last one; so their values keep their order.
void sort_floats(const CudaBackend& device, const SortArrays& arrays, Stream stream) {
  const StreamArray keys(device, arrays.keys.type, arrays.keys.size, stream);
  kernels::canonical_floats(arrays.keys, keys.view(), device.stream_of(stream));
  SortArrays canonical = arrays;
  canonical.keys = keys.view();
  sort_by_bits(device, canonical, bits_of(arrays.keys.type), stream);
}

}  // namespace

void radix_sort(Backend& backend, const SortArrays& arrays, Stream stream) {
  const CudaBackend& device = as_cuda(backend);
  device.select();
  if (arrays.keys.type != Type::f32) return sort_by_bits(device, arrays, bits_of(arrays.keys.type), stream);
  sort_floats(device, arrays, stream);
}

/// Sorts by as many bits as the range has.
bool counting_sort(Backend& backend, const SortArrays& arrays, std::int64_t range, Stream stream) {
  CudaBackend& device = as_cuda(backend);
  device.select();
  const StreamBuffer invalid(device, sizeof(std::int64_t), stream);
  invalid.clear(sizeof(std::int64_t));
  kernels::check_keys(arrays.keys, range, invalid.as<std::int64_t>(), device.multiprocessors(),
                      device.stream_of(stream));
  const int needed = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(range - 1)));
  sort_by_bits(device, arrays, std::clamp(needed, 1, bits_of(arrays.keys.type)), stream);
  check_launch("sorting by counts");
  return download<std::int64_t>(device, invalid.get(), stream) == 0;
}

}  // namespace satin::cuda
