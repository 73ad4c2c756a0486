#include "scan/stage.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/with_type.h"
#include "scan/maths/scan_operator.h"

namespace satin {
namespace {

std::size_t bytes_of(const ArrayView& view) {
  return static_cast<std::size_t>(view.size) * size_of(view.type);
}

template <class T>
T identity_of(Operator op) {
  return op == Operator::sum       ? Sum<T>::identity
         : op == Operator::product ? Product<T>::identity
         : op == Operator::min     ? Minimum<T>::identity
                                   : Maximum<T>::identity;
}

}  // namespace

MutableArrayView Stage::workspace(Type type, std::int64_t size) {
  const std::size_t bytes = static_cast<std::size_t>(size) * size_of(type);
  buffers_.push_back(backend_.allocate(bytes));
  return {buffers_.back().get(), size, type, backend_.host_memory ? Memory::host : Memory::device};
}

ArrayView Stage::input(const ArrayView& view) {
  if (!needs_copy(view)) return view;
  const MutableArrayView copy = workspace(view.type, view.size);
  backend_.upload(copy.data, view.data, bytes_of(view), stream_);
  return copy;
}

MutableArrayView Stage::result(const MutableArrayView& view) {
  if (!needs_copy(view)) return view;
  results_.push_back({view, workspace(view.type, view.size)});
  return results_.back().device;
}

void Stage::fill(const MutableArrayView& view, const ArrayView& host) {
  if (host.size == 0) return;
  if (view.memory == Memory::host) {
    std::memcpy(view.data, host.data, bytes_of(host));
  } else {
    backend_.upload(view.data, host.data, bytes_of(host), stream_);
  }
}

void Stage::fill_identity(const MutableArrayView& result, Operator op) {
  with_type(result.type, [&]<class T>() {
    const std::vector<T> values(static_cast<std::size_t>(result.size), identity_of<T>(op));
    fill(result, values);
  });
}

void Stage::finish(std::int64_t most) {
  for (const Copied& result : results_) {
    const std::int64_t count = std::min(most, result.host.size);
    if (count > 0)
      backend_.download(result.host.data, result.device.data, bytes_of(result.host.part(0, count)), stream_);
  }
  if (!buffers_.empty()) backend_.synchronize(stream_);
}

}  // namespace satin
