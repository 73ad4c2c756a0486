#include "lens/lens_store.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "lens/cpu/lens_rows_simd.h"
#include "lens/maths/lens_store.h"
#include "pixels/cpu/rows.h"
#include "pixels/transfer.h"

namespace satin::cpu {
namespace {

/// A row of bytes in linear light, without alpha and mask: what the picture has there is encoded to its
/// bytes.
void store_row(const std::uint32_t* values, std::size_t entries, const TransferView& transfer,
               std::uint8_t* out) {
  constexpr std::size_t at_once = 4096;
  std::array<std::uint16_t, at_once> light;
  for (std::size_t i = 0; i < entries; i += at_once) {
    const std::size_t count = std::min(at_once, entries - i);
    hold_light(values + i, count, light.data());
    encode_row(light.data(), count, transfer, out + i);
  }
}

class LensStore final : public LensStoreOperation {
 public:
  LensStore(CpuBackend& backend, const LensStoreJob& job)
      : backend_(backend),
        job_(job),
        transfer_(host_transfer(job.picture.type, job.picture.transfer == Transfer::srgb)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const LensStoreImages& images, Stream) override {
    if (job_.picture.type == Type::u8) return store_any<std::uint8_t>(images);
    if (job_.picture.type == Type::u16) return store_any<std::uint16_t>(images);
    store_any<float>(images);
  }

 private:
  template <class T>
  void store_any(const LensStoreImages& images) {
    with_channels(job_.picture.channels, [&]<int Channels>() { store<Channels, T>(images); });
  }

  template <int Channels, class T>
  void store(const LensStoreImages& images) {
    const auto picture = lens_picture<T>(job_.picture, images.picture, transfer_);
    const LensUnit unit = lens_unit(picture, images.measured);
    const LensStoreRule rule = lens_store_rule(job_, transfer_);
    const bool plain =
        !rule.weighted && !rule.keeps_last && rule.mask_maximum == 0 && transfer_.decode != nullptr;
    parallel_rows(backend_, job_.picture.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        const std::uint32_t* values = images.values + y * job_.picture.width * Channels;
        const T* original = images.picture.row<T>(y);
        T* out = images.output.row<T>(y);
        if constexpr (std::is_same_v<T, std::uint8_t>) {
          if (plain) {
            store_row(values, static_cast<std::size_t>(job_.picture.width * Channels), transfer_, out);
            continue;
          }
        }
        for (std::int64_t x = 0; x < job_.picture.width; ++x) {
          const std::uint32_t mask = rule.mask_maximum == 0      ? 0
                                     : rule.mask_maximum == 0xFF ? images.mask.row<std::uint8_t>(y)[x]
                                                                 : images.mask.row<std::uint16_t>(y)[x];
          const std::int64_t at = x * Channels;
          store_lens_pixel<Channels>(values + at, picture, original + at, mask, rule, unit, out + at);
        }
      }
    });
  }

  CpuBackend& backend_;
  LensStoreJob job_;
  TransferView transfer_;
};

}  // namespace

std::unique_ptr<LensStoreOperation> prepare_lens_store(Backend& backend, const LensStoreJob& job) {
  return std::make_unique<LensStore>(as_cpu(backend), job);
}

}  // namespace satin::cpu
