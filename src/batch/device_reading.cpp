#include "batch/device_reading.h"

#include <charconv>

#include "batch/picture_memory.h"

namespace satin::batch {
namespace {

/// Page-locking takes about 10 ms for a picture of 36 MB, one after the other for all threads (H200 machine,
/// 16 cores: with all of 50 pictures in flight a batch of 96 took longer than on the CPU). So a batch begins
/// with enough for those that are copied, and some that wait.
constexpr std::uint64_t first_page_locked = std::uint64_t{512} << 20;

/// 1 of "cuda:1".
int ordinal_of(const Device& device) {
  const std::string& id = device.info().id;
  int ordinal = 0;
  std::from_chars(id.data() + id.find(':') + 1, id.data() + id.size(), ordinal);
  return ordinal;
}

}  // namespace

ReadOptions reading_for(std::span<const Device> devices, const Batch& work, std::uint64_t most) {
  ReadOptions options = work.options.read;
  if (options.allocator.allocate || work.size() == 1) return options;
  for (const Device& device : devices) {
    const Allocator page_locked = device.page_locked_memory();
    if (!page_locked.allocate) continue;
    options.allocator = pooled(page_locked, first_page_locked, most);
    break;
  }
  return options;
}

std::vector<std::shared_ptr<const NvjpegDecoder>> jpeg_decoders(std::span<const Device> devices,
                                                                JpegDecoder decoder) {
  std::vector<std::shared_ptr<const NvjpegDecoder>> decoders;
  if (decoder == JpegDecoder::libjpeg) return decoders;
  for (const Device& device : devices)
    if (device.is_cuda()) decoders.push_back(NvjpegDecoder::open(ordinal_of(device)));
  if (decoders.empty())
    throw Error(ErrorKind::usage, "nvJPEG decodes on a GPU, and the batch runs on " +
                                      devices.front().info().id +
                                      ". Choose a GPU by --device cuda:N, or leave out --jpeg-decoder.");
  return decoders;
}

}  // namespace satin::batch
