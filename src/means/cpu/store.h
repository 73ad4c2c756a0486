#pragma once
// From box sums to stored pixels: the run-time description of a job turned into the calls of
// means/maths/mean.h.

#include <type_traits>

#include "core/with_type.h"
#include "means/box_mean.h"
#include "means/maths/mean.h"
#include "pixels/cpu/rows.h"
#include "pixels/transfer.h"

namespace satin::cpu {

/// One run of a box mean: what is uniform, with the host's tables and the scale of this picture.
struct MeanStore {
  MeanRule rule;
  FixedExponents exponents;
  RowReader reader;  ///< of the source
};

inline MeanStore mean_store(const BoxMeanJob& job, const Measured* measured) {
  MeanStore store;
  store.reader = row_reader(job.read, measured);
  store.exponents = store.reader.exponents;
  store.rule = mean_rule(job, host_transfer(job.write.type, job.write.transfer == Transfer::srgb));
  if (!job.read.fixed_point) return store;
  for (int c = 0; c < job.read.channels; ++c)
    store.rule.border_value[c] = fixed_border_value(job.border_number, c, job.read.channels,
                                                    job.read.weighted, job.read.fraction, store.exponents);
  return store;
}

inline Radius256 radius_at(const RadiusField& field, const ImageView& map, std::int64_t x, std::int64_t y) {
  switch (field.map_type) {
    case Type::u8:
      return radius_from_map(map.row<std::uint8_t>(y)[x], 0xFF, field.low, field.high);
    case Type::u16:
      return radius_from_map(map.row<std::uint16_t>(y)[x], 0xFFFF, field.low, field.high);
    default:
      return radius_from_map(map.row<float>(y)[x], field.low, field.high);
  }
}

/// Output of a pixel that stays as it is: its own bytes, or its working values with the bits that the output
/// has more.
template <int Channels, class T>
void keep_pixel(const MeanStore& store, const BoxMeanJob& job, const BoxMeanImages& images, std::int64_t x,
                std::int64_t y, T* out) {
  if constexpr (may_be_working<T>) {
    if (store.rule.working) {
      std::uint64_t values[4];
      RowReader reader = store.reader;
      read_row(reader, images.source.at(x, y), 1, values);
      for (int c = 0; c < Channels; ++c) out[c] = static_cast<T>(values[c] << store.rule.write_shift);
      return;
    }
  }
  const T* original = images.original.row<T>(y) + x * job.read.channels;
  std::copy_n(original, Channels, out);
}

/// Stores the mean of one pixel of any output type.
template <int Channels, class T>
void store_pixel(const MeanStore& store, const BoxMeanImages& images, std::int64_t x, std::int64_t y,
                 const WideSum* sums, std::uint64_t count, std::uint32_t mask, T* out) {
  if constexpr (may_be_working<T>)
    if (store.rule.working) return store_working_mean<Channels>(sums, count, store.rule, out);
  if constexpr (std::is_same_v<T, float>) {
    store_float_mean<Channels>(sums, count, images.original.row<T>(y) + x * Channels, mask, store.rule,
                               store.exponents, out);
  } else if constexpr (sizeof(T) <= 2) {
    store_integer_mean<Channels>(sums, count, images.original.row<T>(y) + x * Channels, mask, store.rule,
                                 out);
  }
}

/// Calls call.template operator()<Channels, Stored>() for the channels and the output type of the job.
template <class Call>
void with_output(const BoxMeanJob& job, const Call& call) {
  with_type(job.write.type, [&]<class T>() {
    if constexpr (std::is_unsigned_v<T> || std::is_same_v<T, float>)
      with_channels(job.read.channels, [&]<int Channels>() { call.template operator()<Channels, T>(); });
  });
}

}  // namespace satin::cpu
