// The copy operation on the CPU, between views of any strides, and the copies of host memory without it.
//
// Pixels of at most 16 bytes are rearranged in blocks of 16 bytes by a shuffle; wider vectors spread the
// words of several blocks to 16 bytes each and join the results, where blocks begin at words. A block is
// stored whole where the target's pixels are adjacent: the next block overwrites its unused end. Elsewhere
// AVX-512 stores it by a mask, and other targets copy pixel by pixel. Bytes between the target's pixels are
// never written, not even with the values that they have, since another thread may be writing them.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/copy.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/cpu/backend.h"
#include "core/plan_operations.h"
#include "core/workspace.h"

#ifndef SATIN_COPY_ROWS
#define SATIN_COPY_ROWS
namespace satin::cpu {

constexpr std::ptrdiff_t block_bytes = 16;
constexpr std::int32_t most_blocks = 4;  ///< of a vector
constexpr std::uint8_t no_byte = 0x80;   ///< index of a byte that a shuffle sets to 0

/// How rows are copied. Channels that are adjacent in both views count as one.
struct RowCopy {
  Strides from, to;
  std::ptrdiff_t size;  ///< bytes of a channel
  int channels;
  bool dense;                 ///< whether the target has no bytes between its pixels
  std::ptrdiff_t pixels = 0;  ///< pixels of a block; 0 if there are no blocks
  std::ptrdiff_t margin = 0;  ///< pixels that the load and the store of a block reach
  std::ptrdiff_t load = 0;    ///< offset of a block from its first pixel
  std::ptrdiff_t store = 0;   ///< the same in the target
  /// Byte of the load for each byte of the store, or no_byte.
  alignas(block_bytes) std::uint8_t index[block_bytes]{};
  bool in_words = false;  ///< whether blocks begin at words of 4 bytes; then vectors can hold several
  /// Word of the load for each word of blocks that are 16 bytes apart.
  std::int32_t spread[4 * most_blocks]{};
  /// Word of these blocks for each word of the store; past the last block it has no bound.
  std::int32_t joined[4 * most_blocks]{};
};

}  // namespace satin::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
std::ptrdiff_t CopyBlocks(const RowCopy&, const std::uint8_t*, std::uint8_t*, std::ptrdiff_t) { return 0; }
#else
/// Copies the blocks of a vector at once, from pixel x of a row, and returns the first pixel that is left.
template <class D>
std::ptrdiff_t CopyVectors(D d, const RowCopy& row, const std::uint8_t* from, std::uint8_t* to,
                           std::ptrdiff_t x, std::ptrdiff_t count) {
  const auto blocks = static_cast<std::ptrdiff_t>(hn::Lanes(d)) / block_bytes;
  static_assert(hn::MaxLanes(d) <= most_blocks * block_bytes);
  const hn::Repartition<std::int32_t, D> words;
  const auto last_word = hn::Set(words, static_cast<std::int32_t>(4 * blocks - 1));
  const auto spread = hn::IndicesFromVec(words, hn::Min(hn::LoadU(words, row.spread), last_word));
  const auto joined = hn::IndicesFromVec(words, hn::Min(hn::LoadU(words, row.joined), last_word));
  const auto moved = [=](auto bytes, auto indices) HWY_ATTR {
    if constexpr (hn::MaxLanes(d) == block_bytes)
      return bytes;
    else
      return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(words, bytes), indices));
  };
  const auto index = hn::LoadDup128(d, row.index);
  const auto written = moved(hn::VecFromMask(d, hn::Ne(index, hn::Set(d, no_byte))), joined);
  const std::ptrdiff_t pixels = blocks * row.pixels, from_step = row.from.pixel, to_step = row.to.pixel;
  const bool dense = row.dense;
  // A vector reaches no farther than blocks that each have a margin of their own.
  const std::ptrdiff_t margin = row.margin + (blocks - 1) * (row.pixels + row.margin);
  for (const std::ptrdiff_t last = count - margin; x <= last; x += pixels) {
    const auto loaded = moved(hn::LoadU(d, from + x * from_step + row.load), spread);
    const auto stored = moved(hn::TableLookupBytesOr0(loaded, index), joined);
    std::uint8_t* const out = to + x * to_step + row.store;
    dense ? hn::StoreU(stored, d, out) : hn::BlendedStore(stored, hn::MaskFromVec(written), d, out);
  }
  return x;
}

/// Copies pixels from the start of a row and returns their number.
std::ptrdiff_t CopyBlocks(const RowCopy& row, const std::uint8_t* from, std::uint8_t* to,
                          std::ptrdiff_t count) {
  const hn::ScalableTag<std::uint8_t> d;
  // Only AVX-512 has vectors of 64 bytes, and it stores bytes by a mask in one instruction.
  constexpr bool stores_by_mask = HWY_ARCH_X86 && hn::MaxLanes(d) == 64;
  if (row.pixels == 0 || (!row.dense && !stores_by_mask)) return 0;
  const std::ptrdiff_t x = row.in_words ? CopyVectors(d, row, from, to, 0, count) : 0;
  return CopyVectors(hn::FixedTag<std::uint8_t, block_bytes>(), row, from, to, x, count);
}
#endif

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin {
namespace cpu {
namespace {

HWY_EXPORT(CopyBlocks);

constexpr std::int64_t turned_columns = 32;    ///< columns whose cache lines are kept from row to row
constexpr std::ptrdiff_t least_bytes = 65536;  ///< copied in several times the time that a thread starts in

/// Returns the bytes from the first channel of a pixel to the last.
std::ptrdiff_t extent(const Strides& strides, std::ptrdiff_t size, int channels) {
  return std::abs(strides.channel) * (channels - 1) + size;
}

RowCopy row_copy(const Strides& from, const Strides& to, std::ptrdiff_t size, int channels) {
  const bool adjacent = from.channel == size && to.channel == size;
  const bool dense = to.pixel == size * channels && (channels == 1 || std::abs(to.channel) == size);
  RowCopy row{from, to, adjacent ? size * channels : size, adjacent ? 1 : channels, dense};
  const std::ptrdiff_t from_room = block_bytes - extent(from, row.size, row.channels);
  const std::ptrdiff_t to_room = block_bytes - extent(to, row.size, row.channels);
  if (from.pixel <= 0 || to.pixel <= 0 || from_room < 0 || to_room < 0) return row;
  row.pixels = 1 + std::min(from_room / from.pixel, to_room / to.pixel);
  row.margin = 2 + std::max((from_room - 1) / from.pixel, (to_room - 1) / to.pixel);
  row.load = std::min<std::ptrdiff_t>(0, from.channel * (row.channels - 1));
  row.store = std::min<std::ptrdiff_t>(0, to.channel * (row.channels - 1));
  std::fill_n(row.index, block_bytes, no_byte);
  for (int c = 0; c < row.channels; ++c)
    for (std::ptrdiff_t p = 0; p < row.pixels; ++p)
      for (std::ptrdiff_t i = 0; i < row.size; ++i)
        row.index[p * to.pixel + c * to.channel + i - row.store] =
            static_cast<std::uint8_t>(p * from.pixel + c * from.channel + i - row.load);
  const auto loaded = static_cast<std::int32_t>(row.pixels * from.pixel);
  const auto stored = static_cast<std::int32_t>(row.pixels * to.pixel);
  row.in_words = loaded % 4 == 0 && stored % 4 == 0 && std::max(loaded, stored) <= block_bytes;
  for (std::int32_t i = 0; row.in_words && i < 4 * most_blocks; ++i) {
    row.spread[i] = i / 4 * (loaded / 4) + i % 4;
    row.joined[i] = i / (stored / 4) * 4 + i % (stored / 4);
  }
  return row;
}

template <std::size_t bytes>
void copy_each(const RowCopy& row, const std::byte* from, std::byte* to, std::ptrdiff_t count) {
  const std::ptrdiff_t from_step = row.from.pixel, to_step = row.to.pixel;
  for (std::ptrdiff_t x = 0; x < count; ++x) std::memcpy(to + x * to_step, from + x * from_step, bytes);
}

void run(const RowCopy& row, const std::byte* from, std::byte* to, std::ptrdiff_t count) {
  if (row.dense && row.channels == 1 && row.from.pixel == row.size) {
    std::memcpy(to, from, static_cast<std::size_t>(count * row.size));
    return;
  }
  const std::ptrdiff_t done = HWY_DYNAMIC_DISPATCH(CopyBlocks)(
      row, reinterpret_cast<const std::uint8_t*>(from), reinterpret_cast<std::uint8_t*>(to), count);
  from += done * row.from.pixel, to += done * row.to.pixel;
  const auto copy_of_size = [&]<std::ptrdiff_t... sizes>(std::integer_sequence<std::ptrdiff_t, sizes...>) {
    ((row.size == sizes ? copy_each<sizes>(row, from, to, count - done) : void()), ...);
  };
  for (int c = 0; c < row.channels; ++c, from += row.from.channel, to += row.to.channel)
    copy_of_size(std::integer_sequence<std::ptrdiff_t, 1, 2, 3, 4, 6, 8, 12, 16>());
}

/// Copies rows [first, last); the rows of a frame follow those of the frame before.
void copy_rows(const ImageView& from, const MutableImageView& to, std::int64_t first, std::int64_t last) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(from.shape.type));
  const Shape& shape = from.shape;
  const auto fits = [&](const Strides& s) { return extent(s, size, shape.channels) <= block_bytes; };
  const bool whole_pixels =
      (from.interleaved() && to.interleaved()) || (fits(from.strides) && fits(to.strides));
  const int channels = whole_pixels ? shape.channels : 1;  // of a pass over a row
  const RowCopy row = row_copy(from.strides, to.strides, size, channels);
  const auto turned = [](const Strides& s) { return std::abs(s.pixel) > std::abs(s.row); };
  const std::int64_t columns = turned(from.strides) || turned(to.strides) ? turned_columns : shape.width;
  for (std::int64_t x = 0; x < shape.width; x += columns)
    for (std::int64_t i = first; i < last; ++i)
      for (int c = 0; c < shape.channels; c += channels) {
        const std::int64_t y = i % shape.height, frame = i / shape.height;
        run(row, from.at(x, y, c, frame), to.at(x, y, c, frame), std::min(columns, shape.width - x));
      }
}

class Copy final : public CopyOperation {
 public:
  explicit Copy(CpuBackend& backend) : backend_(backend) {}

  void run(const ImageView& source, const MutableImageView& target, Stream) override {
    const std::int64_t rows = source.shape.height * source.shape.frames;
    const std::int64_t grain = 1 + least_bytes / interleaved_strides(source.shape).row;
    parallel_rows(backend_, rows, grain,
                  [&](std::int64_t first, std::int64_t last) { copy_rows(source, target, first, last); });
  }

 private:
  CpuBackend& backend_;
};

}  // namespace

Prepared<CopyJob> prepare_copy(Backend& backend, const CopyJob& /*job*/) {
  return std::make_unique<Copy>(as_cpu(backend));
}

}  // namespace cpu

void copy_pixels(const ImageView& from, const MutableImageView& to) {
  cpu::copy_rows(from, to, 0, from.shape.height * from.shape.frames);
}

}  // namespace satin
#endif
