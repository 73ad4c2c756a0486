#include "satin/array.h"

#include <string>

#include "core/backend.h"
#include "satin/error.h"

namespace satin {
namespace {

std::string elements(std::int64_t size, Type type) { return std::to_string(size) + " x " + name_of(type); }

std::size_t checked_bytes(Type type, std::int64_t size) {
  if (size < 0 || size > INT64_MAX / 8)
    throw Error(ErrorKind::usage, "An array of " + elements(size, type) +
                                      " is not possible: sizes are 0 or more, and their bytes fit 63 bits.");
  return static_cast<std::size_t>(size) * size_of(type);
}

}  // namespace

Array::Array(const Device& device, Type type, std::int64_t size)
    : backend_(device.backend().shared_from_this()),
      buffer_(backend_->allocate(checked_bytes(type, size))),
      size_(size),
      type_(type),
      memory_(backend_->memory()) {}

Array::Array(const Device& device, ArrayView host) : Array(device, host.type, host.size) {
  if (host.memory != Memory::host)
    throw Error(ErrorKind::usage, "An array is made of values in host memory; these are in a device's.");
  if (size_ == 0) return;
  backend_->upload(buffer_.get(), host.data, static_cast<std::size_t>(size_) * size_of(type_), {});
  backend_->synchronize({});
}

void Array::download(MutableArrayView host, Stream stream) const {
  if (host.memory != Memory::host)
    throw Error(ErrorKind::usage, "An array is downloaded to host memory; the view is of a device's.");
  if (host.type != type_ || host.size > size_ || host.size < 0)
    throw Error(ErrorKind::usage, "An array of " + elements(size_, type_) + " does not fill a view of " +
                                      elements(host.size, host.type) +
                                      ": the type must be the same, and the view not longer.");
  if (host.size == 0) return;
  backend_->download(host.data, buffer_.get(), static_cast<std::size_t>(host.size) * size_of(type_), stream);
}

}  // namespace satin
