#include "core/cuda/scan/interval.h"
#include "core/cuda/scan/operations.h"
#include "core/cuda/scan/space.h"

namespace satin::cuda {
namespace {

/// Mask values that select.
constexpr kernels::Interval not_zero{0, 0, true, kernels::KeyOf::unsigned_bits};

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
    return partition ? kernels::partition_by_mask(space, values, *mask, result, count, stream)
                     : kernels::select_by_mask(space, values, *mask, result, count, stream);
  return partition ? kernels::partition_in(space, values, interval, result, count, stream)
                   : kernels::select_in(space, values, interval, result, count, stream);
}

}  // namespace

std::int64_t select(Backend& backend, const Selection& selection, MutableArrayView result, Stream stream) {
  CudaBackend& device = as_cuda(backend);
  device.select();
  const StreamBuffer count(device, sizeof(std::int64_t), stream);
  const kernels::Interval interval = interval_for(selection);
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
