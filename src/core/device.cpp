// Devices and arrays: which backend a name opens, and the checks before it is called.

#include <charconv>
#include <string>

#include "core/backend.h"
#include "core/plan_operations.h"
#include "core/workspace.h"
#include "satin/array.h"
#include "satin/device.h"
#include "satin/error.h"

namespace satin {
namespace {

int parse_ordinal(std::string_view spec) {
  if (spec == "cuda") return 0;
  const std::string_view digits = spec.substr(5);
  int ordinal = -1;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (code != std::errc() || end != digits.data() + digits.size() || ordinal < 0)
    throw Error(ErrorKind::usage, "Device '" + std::string(spec) + "': a number from 0 follows 'cuda:'.");
  return ordinal;
}

std::shared_ptr<Backend> open_auto(const DeviceOptions& options) {
  for (const DeviceInfo& info : describe_cuda()) {
    if (!info.usable) continue;
    try {
      return open_cuda(parse_ordinal(info.id));
    } catch (const Error&) {
      break;  // falls back to the CPU
    }
  }
  return open_cpu(options.threads);
}

std::shared_ptr<Backend> open_backend(std::string_view spec, const DeviceOptions& options) {
  if (spec == "auto") return open_auto(options);
  if (spec == "cpu") return open_cpu(options.threads);
  if (spec == "cuda" || spec.starts_with("cuda:")) return open_cuda(parse_ordinal(spec));
  throw Error(ErrorKind::usage, "There is no device '" + std::string(spec) + "': use auto, cpu or cuda:N.");
}

void require_dense(const ImageView& view) {
  if (view.strides != interleaved_strides(view.shape))
    throw Error(ErrorKind::usage, "Only densely packed pictures are copied between host and device.");
}

void require_memory(const ImageView& view, Memory memory) {
  if (view.memory != memory)
    throw Error(ErrorKind::usage, memory == Memory::host
                                      ? "The picture is in a GPU's memory, where the host's was expected."
                                      : "The picture is in the host's memory, where the GPU's was expected.");
}

}  // namespace

Buffer Backend::allocate(std::size_t bytes) {
  WorkspaceBudget::take(bytes);
  if (!allocator.allocate) return allocate_own(bytes);
  Buffer buffer = allocated(allocator, bytes);
  if (buffer.get() == nullptr)
    throw NoMemory("The allocator has no " + std::to_string(bytes) + " bytes for " + info.id + ".");
  return buffer;
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> list = describe_cuda();
  list.insert(list.begin(), describe_cpu());
  return list;
}

Device Device::open(std::string_view spec, const DeviceOptions& options) {
  if (options.threads < 0) throw Error(ErrorKind::usage, "The number of threads is 0 (all) or more.");
  require_whole(options.allocator);
  std::shared_ptr<Backend> backend = open_backend(spec, options);
  backend->allocator = options.allocator;
  return Device(std::move(backend));
}

const DeviceInfo& Device::info() const noexcept { return backend_->info; }

bool Device::is_cuda() const noexcept { return !backend_->host_memory; }

Image Device::allocate(const Shape& shape) const {
  validate(shape);
  return backend_->allocate(shape);
}

Image Device::upload(const ImageView& host) const {
  require_dense(host);
  require_memory(host, Memory::host);
  Image result = allocate(host.shape);
  backend_->upload(result.data(), host.data, byte_size(host.shape), {});
  backend_->synchronize({});
  return result;
}

Image Device::download(const ImageView& device) const {
  require_dense(device);
  require_memory(device, backend_->memory());
  Image result(device.shape);
  backend_->download(result.data(), device.data, byte_size(device.shape), {});
  return result;
}

void Device::copy(const ImageView& from, const MutableImageView& to, Stream stream) const {
  if (from.shape != to.shape)
    throw Error(ErrorKind::usage, "A picture of " + describe(from.shape) + " is not copied into one of " +
                                      describe(to.shape) + ": both must have one shape.");
  const Memory own = backend_->memory();
  if (from.memory != own || to.memory != own)
    throw Error(ErrorKind::usage,
                "Both views must be in the memory of " + backend_->info.id + ": upload or download instead.");
  backend_->prepare(CopyJob{})->run(from, to, stream);
}

void Device::synchronize(Stream stream) const { backend_->synchronize(stream); }

OwnedStream Device::new_stream() const { return {backend_->new_stream()}; }

int Device::runs_at_once() const noexcept { return backend_->runs_at_once; }

Allocator Device::page_locked_memory() const { return backend_->page_locked; }

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
