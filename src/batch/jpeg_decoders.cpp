#include "batch/jpeg_decoders.h"

#include <charconv>
#include <string>

#include "satin/error.h"

namespace satin::batch {
namespace {

/// 1 of "cuda:1".
int ordinal_of(const Device& device) {
  const std::string& id = device.info().id;
  int ordinal = 0;
  std::from_chars(id.data() + id.find(':') + 1, id.data() + id.size(), ordinal);
  return ordinal;
}

}  // namespace

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
