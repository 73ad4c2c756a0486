#include "pixels/cuda/transfer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pixels/light_tables.h"
#include "pixels/transfer.h"

namespace satin::cuda {
namespace {

/// Returns TransferView::bucket_sums8 of the codes of all linear values.
std::vector<std::uint16_t> bucket_sums(const std::vector<std::uint8_t>& codes) {
  std::vector<std::uint16_t> sums(TransferView::buckets8);
  for (std::size_t i = 0; i < codes.size(); ++i)
    sums[i / TransferView::bucket8] = static_cast<std::uint16_t>(sums[i / TransferView::bucket8] + codes[i]);
  return sums;
}

/// Returns the light of every code minus four times rough_quarter_light().
std::vector<std::int16_t> more_than_rough(const std::vector<std::uint32_t>& light) {
  std::vector<std::int16_t> more;
  for (std::size_t code = 0; code < light.size(); ++code) {
    const float quarter = rough_quarter_light(static_cast<float>(code)) - rough_light_base;
    more.push_back(static_cast<std::int16_t>(static_cast<int>(light[code]) - 4 * static_cast<int>(quarter)));
  }
  return more;
}

struct Tables8 {
  explicit Tables8(CudaBackend& backend)
      : decode(backend.uploaded(srgb_tables8().decode8)),
        encode(backend.uploaded(srgb_tables8().encode8)),
        cells(backend.uploaded(cells_of(srgb_tables8().encode8))),
        sums(backend.uploaded(bucket_sums(srgb_tables8().encode8))) {}
  Buffer decode, encode, cells, sums;
};

struct Tables16 {
  explicit Tables16(CudaBackend& backend)
      : decode(backend.uploaded(srgb_tables16().decode16)),
        more(backend.uploaded(more_than_rough(srgb_tables16().decode16))),
        thresholds(backend.uploaded(srgb_tables16().thresholds16)),
        first_code(backend.uploaded(srgb_tables16().first_code16)) {}
  Buffer decode, more, thresholds, first_code;
};

}  // namespace

TransferView device_transfer(CudaBackend& backend, Type type, bool srgb) {
  TransferView view;
  if (srgb && type == Type::u8) {
    const auto& tables = backend.resident<Tables8>();
    view.decode = reinterpret_cast<const std::uint32_t*>(tables.decode.get());
    view.encode8 = reinterpret_cast<const std::uint8_t*>(tables.encode.get());
    view.bucket_sums8 = reinterpret_cast<const std::uint16_t*>(tables.sums.get());
  } else if (srgb && type == Type::u16) {
    const auto& tables = backend.resident<Tables16>();
    view.decode = reinterpret_cast<const std::uint32_t*>(tables.decode.get());
    view.thresholds = reinterpret_cast<const std::uint32_t*>(tables.thresholds.get());
    view.first_code = reinterpret_cast<const std::uint16_t*>(tables.first_code.get());
  }
  return view;
}

const std::uint32_t* device_cells8(CudaBackend& backend) {
  return reinterpret_cast<const std::uint32_t*>(backend.resident<Tables8>().cells.get());
}

const std::int16_t* device_more_than_rough16(CudaBackend& backend) {
  return reinterpret_cast<const std::int16_t*>(backend.resident<Tables16>().more.get());
}

}  // namespace satin::cuda
