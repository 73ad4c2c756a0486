#include "satin/device.h"

#include <charconv>

#include "core/backend.h"
#include "core/copy.h"
#include "core/host_memory.h"
#include "core/workspace.h"
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
      break;  // `auto` means: whatever works
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

}  // namespace satin
