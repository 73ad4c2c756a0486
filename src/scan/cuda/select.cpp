#include "scan/cuda/interval.h"
#include "scan/cuda/operations.h"
#include "scan/cuda/space.h"

namespace satin::cuda {
namespace {

/// Mask values that select.
constexpr kernels::Interval not_zero{1, 254};

kernels::Interval interval_for(const Selection& selection) {
  if (const auto* predicate = std::get_if<Predicate>(&selection.by))
    return interval_of(selection.values.type, *predicate);
  if (const auto* in_bin = std::get_if<InBin>(&selection.by))
    return interval_of(selection.values.type, *in_bin);
  return not_zero;
}

int launch(kernels::Space& space, const Selection& selection, const kernels::Interval& interval,
           MutableArrayView result, std::int64_t* count, cudaStream_t stream) {
  const ArrayView& values = selection.values;
  if (selection.keep == Selection::Keep::indices) {
    const auto* mask = std::get_if<ArrayView>(&selection.by);
    return kernels::select_indices(space, mask != nullptr ? *mask : values, interval, result, count, stream);
  }
  const bool partition = selection.keep == Selection::Keep::partition;
  if (const auto* mask = std::get_if<ArrayView>(&selection.by))
    return kernels::select_by_mask(space, values, *mask, partition, result, count, stream);
  return kernels::select_in(space, values, interval, partition, result, count, stream);
}

std::int64_t select_nothing(CudaBackend& device, const Selection& selection, MutableArrayView result,
                            Stream stream) {
  if (selection.keep != Selection::Keep::partition) return 0;
  const ArrayView& values = selection.values;
  check(
      cudaMemcpyAsync(result.data, values.data, static_cast<std::size_t>(values.size) * size_of(values.type),
                      cudaMemcpyDeviceToDevice, device.stream_of(stream)),
      "copying what was not selected");
  device.synchronize(stream);
  return 0;
}

}  // namespace

std::int64_t select(Backend& backend, const Selection& selection, MutableArrayView result, Stream stream) {
  CudaBackend& device = as_cuda(backend);
  device.select();
  const StreamBuffer count(device, sizeof(std::int64_t), stream);
  const kernels::Interval interval = interval_for(selection);
  if (interval.empty) return select_nothing(device, selection, result, stream);
  run_in_space(device, stream, "selecting values", [&](kernels::Space& space) {
    return launch(space, selection, interval, result, count.as<std::int64_t>(), device.stream_of(stream));
  });
  if (selection.keep == Selection::Keep::partition) {
    kernels::reverse_behind(result, count.as<std::int64_t>(), device.stream_of(stream));
    check_launch("reversing what was not selected");
  }
  return download<std::int64_t>(device, count.get(), stream);
}

}  // namespace satin::cuda
