#pragma once
// How files are read for the devices that filter them.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "satin/batch.h"
#include "satin/io.h"
#include "satin/nvjpeg_decoder.h"

namespace satin::batch {

/// Pictures of several files that a GPU filters lie in page-locked memory of at most so many bytes, unless
/// the caller has a place.
[[nodiscard]] ReadOptions reading_for(std::span<const Device> devices, const Batch& work, std::uint64_t most);

/// One for each GPU; none for libjpeg. Throws Error(usage) if there is no GPU among the devices;
/// Error(environment) as NvjpegDecoder::open().
[[nodiscard]] std::vector<std::shared_ptr<const NvjpegDecoder>> jpeg_decoders(std::span<const Device> devices,
                                                                              JpegDecoder decoder);

}  // namespace satin::batch
