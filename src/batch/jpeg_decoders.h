#pragma once
// nvJPEG on the devices of a batch.

#include <memory>
#include <span>
#include <vector>

#include "satin/batch.h"
#include "satin/nvjpeg_decoder.h"

namespace satin::batch {

/// One for each GPU; none for libjpeg. Throws Error(usage) if there is no GPU among the devices;
/// Error(environment) as NvjpegDecoder::open().
[[nodiscard]] std::vector<std::shared_ptr<const NvjpegDecoder>> jpeg_decoders(std::span<const Device> devices,
                                                                              JpegDecoder decoder);

}  // namespace satin::batch
