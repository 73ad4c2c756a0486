// nvJPEG in a build that has none.

#include <utility>

#include "satin/error.h"
#include "satin/nvjpeg_decoder.h"

namespace satin {

struct [[gnu::visibility("hidden")]] NvjpegDecoder::Opened{};

void NvjpegDecoder::require() {
  throw Error(ErrorKind::environment,
              "JPEG files cannot be decoded by nvJPEG: this build has none. Build with -DSATIN_NVJPEG=ON, or "
              "let libjpeg decode them.");
}

std::shared_ptr<const NvjpegDecoder> NvjpegDecoder::open(int, NvjpegEngine) {
  require();
  return nullptr;
}

NvjpegDecoder::NvjpegDecoder(std::unique_ptr<Opened> opened) : opened_(std::move(opened)) {}

NvjpegDecoder::~NvjpegDecoder() = default;

std::uint64_t NvjpegDecoder::decoded() const noexcept { return 0; }

NvjpegDecoder::Result NvjpegDecoder::decode(std::span<const std::byte>, int, int, int, std::byte*,
                                            std::string&) const {
  return Result::refused;
}

}  // namespace satin
