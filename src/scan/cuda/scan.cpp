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

}  // namespace satin::cuda
