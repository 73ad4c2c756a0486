// Recursive smoothing on the CPU. Lines are scanned in bundles, as many side by side as one SIMD loop takes:
// a bundle is scanned forward, block by block, into a buffer that stays in the cache (stored rows are
// transposed), and written as it is scanned backward. The first pass reads stored pixels, the last one writes
// them; between them each channel has squares of its own.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "recursive/cpu/recursive.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/cpu/backend.h"
#include "core/cpu/cache_lines.h"
#include "core/cpu/fetch.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "pixels/transfer.h"
#include "recursive/cpu/recursive_bytes-inl.h"
#include "recursive/cpu/recursive_lines-inl.h"
#include "recursive/cpu/recursive_rows.h"
#include "recursive/recursive.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

// Lines of a pass of recursive smoothing that are scanned side by side.

/// Bundle b of a pass, and one block of it: a rectangle of the picture.
struct Bundle {
  Axis axis = Axis::x;
  std::int64_t length = 0;  ///< of its lines
  std::int64_t first_line = 0;
  std::int64_t lines = 0;

  struct Block {
    std::int64_t x, y, width, height;
    std::int64_t first;  ///< position within the line
    int positions;
  };
  [[nodiscard]] std::int64_t blocks() const { return (length + recursive_block - 1) / recursive_block; }
  [[nodiscard]] Block block(std::int64_t index) const {
    const std::int64_t first = index * recursive_block;
    const std::int64_t positions = std::min<std::int64_t>(recursive_block, length - first);
    const auto count = static_cast<int>(positions);
    if (axis == Axis::x) return {first, first_line, positions, lines, first, count};
    return {first_line, first, lines, positions, first, count};
  }
};

// The working values of a picture between two passes of recursive smoothing.

/// Squares of `side` x `side` pixels, one of each channel at every place; `side` is the number of lines in a
/// bundle. A pass takes a square as rows of positions, each with the values of the lines, so that a bundle is
/// read as it lies. It leaves the square as the next pass takes it. No two bundles of a pass share a square.
template <class Real, std::int64_t side>
class RecursiveSquares {
 public:
  RecursiveSquares() = default;
  RecursiveSquares(CpuBackend& backend, std::int64_t width, std::int64_t height, int channels)
      : across_((width + side - 1) / side),
        down_((height + side - 1) / side),
        values_(backend.allocate(static_cast<std::size_t>(across_ * down_ * channels) * bytes_each)) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return values_.size; }

  /// The square that has pixel (x, y). Squares side by side follow each other in memory.
  [[nodiscard]] Real* at(int channel, std::int64_t x, std::int64_t y) const {
    const std::int64_t index = (channel * down_ + y / side) * across_ + x / side;
    return reinterpret_cast<Real*>(values_.get()) + index * side * side;
  }

 private:
  static constexpr std::size_t bytes_each = static_cast<std::size_t>(side * side) * sizeof(Real);

  std::int64_t across_ = 0;
  std::int64_t down_ = 0;
  Buffer values_;
};

/// What one thread works in.
template <class Real>
struct RecursiveSlot {
  WorkspaceVector<Real> values;        ///< bundles of the channels
  WorkspaceVector<Real> coefficients;  ///< of a guided bundle, and one position more
  WorkspaceVector<Real> tiles;         ///< a block of every channel, as the picture has it
  WorkspaceVector<float> distances;    ///< of a block

  [[nodiscard]] std::size_t bytes() const {
    return (values.size() + coefficients.size() + tiles.size()) * sizeof(Real) + distances.size() * 4;
  }
};

template <class Stored>
class Recursive final : public RecursiveOperation {
  using Real = RealOf<Stored>;
  static constexpr auto lines = static_cast<std::int64_t>(bundle_lines<Real>);
  static constexpr std::size_t tile_size = recursive_block * bundle_lines<Real>;

 public:
  Recursive(CpuBackend& backend, const RecursiveJob& job)
      : backend_(backend),
        job_(job),
        transfer_(rule_of(job).transfer),
        rows_(job.read.channels, rule_of(job)) {
    for (const RecursivePass& pass : job.passes)
      constants_.push_back(pass_constants<Real>(pass, job.guide.has_value()));
    const auto pixels = static_cast<std::size_t>(job.width * job.height);
    if (job.passes.size() > 1) squares_ = {backend, job.width, job.height, job.read.channels};
    if (job.guide) distances_ = backend.allocate(2 * pixels * sizeof(float));
    prepare_slots();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = squares_.bytes() + distances_.size;
    for (const RecursiveSlot<Real>& slot : slots_) bytes += slot.bytes();
    return bytes;
  }

  void run(const RecursiveImages& images, Stream) override {
    std::atomic<bool> finite{true};
    if (job_.guide && !read_guide(images.guide)) images.measured->guide_not_finite = 1;
    if (job_.passes.empty()) copy_rows(images, finite);
    for (std::size_t pass = 0; pass < job_.passes.size(); ++pass) {
      const std::int64_t all = job_.passes[pass].axis == Axis::x ? job_.height : job_.width;
      backend_.threads.for_rows(
          (all + lines - 1) / lines, 1, [&](std::int64_t first, std::int64_t last, int slot) {
            for (std::int64_t b = first; b < last; ++b)
              run_bundle(pass, b, slots_[static_cast<std::size_t>(slot)], images, finite);
          });
    }
    if (!finite) images.measured->picture_not_finite = 1;
  }

 private:
  static StoreRule rule_of(const RecursiveJob& job) {
    return {job.read.weighted, job.mask_maximum,
            host_transfer(job.read.type, job.read.transfer == Transfer::srgb)};
  }

  void prepare_slots() {
    if (job_.passes.empty()) return;
    std::int64_t longest = 0;
    for (const RecursivePass& pass : job_.passes)
      longest = std::max(longest, pass.axis == Axis::x ? job_.width : job_.height);
    const std::int64_t blocks = (longest + recursive_block - 1) / recursive_block;
    const auto bundle = static_cast<std::size_t>(blocks * recursive_block * lines);
    const auto channels = static_cast<std::size_t>(job_.read.channels);
    slots_.resize(static_cast<std::size_t>(backend_.threads.count()));
    for (RecursiveSlot<Real>& slot : slots_) {
      slot.values.resize(channels * bundle);
      slot.tiles.resize(channels * tile_size);
      if (!job_.guide) continue;
      slot.coefficients.resize(bundle + bundle_lines<Real>);
      slot.distances.resize(tile_size);
    }
  }

  [[nodiscard]] bool read_guide(const ImageView& guide) {
    std::atomic<bool> finite{true};
    const auto width = static_cast<std::size_t>(job_.width);
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        const std::byte* row = guide.at(0, y);
        const std::byte* above = y == 0 ? nullptr : guide.at(0, y - 1);
        float* x_row = distance(Axis::x, 0, y);
        float* y_row = distance(Axis::y, 0, y);
        const bool good = with_pixel_type(job_.guide->type, [&]<class T>() {
          const auto between = [&](const T* p, const T* q, std::size_t count, float* along) {
            if constexpr (sizeof(T) == 1)
              if (!job_.guide->weighted) return ReadByteDistances(*job_.guide, p, q, count, along);
            read_distances(*job_.guide, p, q, count, along);
          };
          return read_distances<T>(*job_.guide, row, above, width, x_row, y_row, between);
        });
        if (!good) finite = false;
      }
    });
    return finite;
  }

  void copy_rows(const RecursiveImages& images, std::atomic<bool>& finite) {
    const auto count = static_cast<std::size_t>(job_.width * job_.read.channels);
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        const Stored* row = images.source.row<Stored>(y);
        std::copy_n(row, count, images.output.row<Stored>(y));
        if constexpr (std::is_same_v<Stored, float>) {
          if (!std::all_of(row, row + count, [](float value) { return is_finite(value); })) finite = false;
        }
      }
    });
  }

  void run_bundle(std::size_t pass, std::int64_t index, RecursiveSlot<Real>& slot,
                  const RecursiveImages& images, std::atomic<bool>& finite) {
    const Axis axis = job_.passes[pass].axis;
    const std::int64_t all = axis == Axis::x ? job_.height : job_.width;
    const std::int64_t first_line = index * lines;
    const Bundle bundle{axis, axis == Axis::x ? job_.width : job_.height, first_line,
                        std::min(lines, all - first_line)};
    if (job_.guide) read_coefficients(bundle, constants_[pass], slot);
    const bool last = pass + 1 == job_.passes.size();
    const int together = last ? job_.read.channels : 1;
    for (int channel = 0; channel < job_.read.channels; channel += together) {
      Real carries[4][bundle_lines<Real>];
      for (int i = 0; i < together; ++i)
        if (!scan_forward(bundle, pass, channel + i, slot, values_of(slot, bundle, i), images, carries[i]))
          finite = false;
      for (std::int64_t k = bundle.blocks() - 1; k >= 0; --k) {
        if (last && k > 0) fetch_output(bundle.block(k - 1), images.output);
        for (int i = 0; i < together; ++i)
          scan_backward(bundle, k, constants_[pass], slot, values_of(slot, bundle, i), carries[i]);
        if (last)
          store_pixels(bundle, bundle.block(k), slot, images);
        else
          store_squares(bundle, bundle.block(k), channel, pass, values_of(slot, bundle, 0));
      }
    }
  }

  static Real* values_of(RecursiveSlot<Real>& slot, const Bundle& bundle, int i) {
    return slot.values.data() + i * bundle.blocks() * recursive_block * lines;
  }

  void read_coefficients(const Bundle& bundle, const PassConstants<Real>& constants,
                         RecursiveSlot<Real>& slot) {
    const auto pitch = static_cast<std::size_t>(job_.width);
    for (std::int64_t k = 0; k < bundle.blocks(); ++k) {
      const Bundle::Block block = bundle.block(k);
      Real* out = slot.coefficients.data() + block.first * lines;
      const float* from = distance(bundle.axis, block.x, block.y);
      if (bundle.axis == Axis::x) {
        Transpose(from, pitch, static_cast<std::size_t>(block.height), static_cast<std::size_t>(block.width),
                  slot.distances.data(), bundle_lines<Real>);
        Decays(slot.distances.data(), static_cast<std::size_t>(block.positions * lines), constants.rate, out);
      } else {
        for (int i = 0; i < block.positions; ++i, from += pitch, out += lines)
          Decays(from, static_cast<std::size_t>(block.width), constants.rate, out);
      }
    }
    std::fill_n(slot.coefficients.data() + bundle.length * lines, lines, constants.feedback);
  }

  /// Fills the bundle's buffer with forward results; `carries` become what the backward scan starts with.
  /// False if a float is not finite.
  bool scan_forward(const Bundle& bundle, std::size_t pass, int channel, RecursiveSlot<Real>& slot,
                    Real* values, const RecursiveImages& images, Real* carries) {
    bool finite = true;
    std::fill_n(carries, lines, Real{0});
    Real ends[bundle_lines<Real>];
    for (std::int64_t k = 0; k < bundle.blocks(); ++k) {
      const Bundle::Block block = bundle.block(k);
      Real* to = values + block.first * lines;
      const Real* from = to;
      if (pass == 0)
        finite = read_stored(bundle, block, channel, slot, images.source, to) && finite;
      else
        from = read_squares(bundle, block, channel, to);
      if (k + 1 == bundle.blocks()) std::copy_n(from + (block.positions - 1) * lines, lines, ends);
      BlockScan<Real> scan = scan_of(constants_[pass], block, to, carries);
      scan.from = from;
      scan.step = lines;
      if (job_.guide) scan.coefficients = slot.coefficients.data() + block.first * lines;
      scan.first = k == 0;
      ScanBlock(scan);
    }
    for (std::int64_t l = 0; l < lines; ++l)
      carries[l] = end_difference(ends[l], carries[l], constants_[pass].end_share);
    return finite;
  }

  void scan_backward(const Bundle& bundle, std::int64_t k, const PassConstants<Real>& constants,
                     RecursiveSlot<Real>& slot, Real* values, Real* carries) {
    const Bundle::Block block = bundle.block(k);
    const std::int64_t last = block.first + block.positions - 1;
    BlockScan<Real> scan = scan_of(constants, block, values + last * lines, carries);
    scan.step = -lines;
    if (job_.guide) scan.coefficients = slot.coefficients.data() + (last + 1) * lines;
    scan.first = k + 1 == bundle.blocks();
    ScanBlock(scan);
  }

  static BlockScan<Real> scan_of(const PassConstants<Real>& constants, const Bundle::Block& block,
                                 Real* values, Real* carries) {
    BlockScan<Real> scan;
    scan.from = values;
    scan.values = values;
    scan.positions = block.positions;
    scan.feedback = constants.feedback;
    scan.products = constants.products;
    scan.carry = carries;
    return scan;
  }

  static void fetch_output(const Bundle::Block& block, const MutableImageView& output) {
    const auto bytes = static_cast<std::size_t>(block.width * output.strides.pixel);
    for (std::int64_t r = 0; r < block.height; ++r) {
      const std::byte* row = output.at(block.x, block.y + r);
      for (std::size_t i = 0; i < bytes; i += cache_line_bytes) fetch_to_second_level_for_writing(row + i);
      fetch_to_second_level_for_writing(row + bytes - 1);
    }
  }

  /// Brings rows of the next block to the cache: hardware does not see what comes in tiles.
  HWY_INLINE static void prefetch(const std::byte* row, std::ptrdiff_t pitch, std::int64_t rows,
                                  std::size_t bytes) {
    for (std::int64_t r = 0; r < rows; ++r, row += pitch) fetch(row, bytes);
  }

  bool read_stored(const Bundle& bundle, const Bundle::Block& block, int channel, RecursiveSlot<Real>& slot,
                   const ImageView& source, Real* values) {
    const bool transposed = bundle.axis == Axis::x;
    const auto width = static_cast<std::size_t>(block.width);
    Real* out = transposed ? slot.tiles.data() : values;
    if (channel == 0 && block.first + 2 * recursive_block <= bundle.length)
      prefetch(transposed ? source.at(block.x + recursive_block, block.y)
                          : source.at(block.x, block.y + recursive_block),
               source.strides.row, block.height, width * static_cast<std::size_t>(source.strides.pixel));
    if constexpr (sizeof(Stored) == 1)
      if (!job_.read.weighted) {
        read_bytes(block, channel, transposed, slot, source, values);
        return true;
      }
    const std::size_t step = transposed ? recursive_block : bundle_lines<Real>;
    bool finite = true;
    for (std::int64_t r = 0; r < block.height; ++r)
      finite = rows_.read(source.row<Stored>(block.y + r) + block.x * job_.read.channels, width, channel,
                          out + static_cast<std::size_t>(r) * step) &&
               finite;
    if (transposed)
      Transpose(out, step, static_cast<std::size_t>(block.height), width, values, bundle_lines<Real>);
    return finite;
  }

  /// Bytes without alpha: by vectors into rows, or looked up one by one to where they belong.
  void read_bytes(const Bundle::Block& block, int channel, bool transposed, RecursiveSlot<Real>& slot,
                  const ImageView& source, Real* values) {
    constexpr auto side = bundle_lines<Real>;
    const auto width = static_cast<std::size_t>(block.width);
    const auto height = static_cast<std::size_t>(block.height);
    Real* rows = transposed ? slot.tiles.data() : values;
    std::size_t read = 0;
    for (std::size_t r = 0; r < height; ++r) {
      const Stored* pixels =
          source.row<Stored>(block.y + static_cast<std::int64_t>(r)) + block.x * job_.read.channels;
      read = ReadVectors(pixels, width, job_.read.channels, channel, rows_.words(), rows_.decoded(),
                         rows + r * side);
      if (read == width) continue;
      with_channels(job_.read.channels, [&]<int Channels>() {
        const Stored* rest = pixels + read * Channels + channel;
        transposed ? rows_.template read_codes<Channels, side>(rest, width - read, values + read * side + r)
                   : rows_.template read_codes<Channels, 1>(rest, width - read, values + r * side + read);
      });
    }
    if (transposed && read > 0) Transpose(rows, side, height, read, values, side);
  }

  /// The block as it lies in its squares. Where these do not follow each other, it is brought to `values`.
  const Real* read_squares(const Bundle& bundle, const Bundle::Block& block, int channel, Real* values) {
    const auto square = [&](std::int64_t position) {
      return bundle.axis == Axis::x ? squares_.at(channel, block.x + position, block.y)
                                    : squares_.at(channel, block.x, block.y + position);
    };
    if (block.first + recursive_block < bundle.length)
      for (std::int64_t position = 0; position < recursive_block; position += lines)
        fetch(reinterpret_cast<const std::byte*>(square(recursive_block + position)),
              tile_size / recursive_block * static_cast<std::size_t>(lines) * sizeof(Real));
    if (lines >= recursive_block || bundle.axis == Axis::x) return square(0);
    for (std::int64_t position = 0; position < block.positions; position += lines)
      std::copy_n(square(position), lines * lines, values + position * lines);
    return values;
  }

  /// Leaves the block as the pass after `pass` takes it.
  void store_squares(const Bundle& bundle, const Bundle::Block& block, int channel, std::size_t pass,
                     const Real* values) {
    constexpr auto side = bundle_lines<Real>;
    values += block.first * lines;
    for (std::int64_t position = 0; position < block.positions; position += lines, values += side * side) {
      Real* square = bundle.axis == Axis::x ? squares_.at(channel, block.x + position, block.y)
                                            : squares_.at(channel, block.x, block.y + position);
      job_.passes[pass + 1].axis == bundle.axis ? static_cast<void>(std::copy_n(values, side * side, square))
                                                : Transpose(values, side, side, side, square, side);
    }
  }

  void store_pixels(const Bundle& bundle, const Bundle::Block& block, RecursiveSlot<Real>& slot,
                    const RecursiveImages& images) {
    std::array<const Real*, 4> rows{};
    std::size_t step = bundle_lines<Real>;
    for (int c = 0; c < job_.read.channels; ++c) {
      const Real* values = values_of(slot, bundle, c) + block.first * lines;
      rows[static_cast<std::size_t>(c)] = values;
      if (bundle.axis == Axis::y) continue;
      Real* tile = slot.tiles.data() + static_cast<std::size_t>(c) * tile_size;
      step = recursive_block;
      Transpose(values, bundle_lines<Real>, static_cast<std::size_t>(block.width),
                static_cast<std::size_t>(block.height), tile, step);
      rows[static_cast<std::size_t>(c)] = tile;
    }
    with_channels(job_.read.channels,
                  [&]<int Channels>() { store_rows<Channels>(block, rows, step, images); });
  }

  template <std::size_t Channels>
  void store_rows(const Bundle::Block& block, const std::array<const Real*, 4>& first, std::size_t step,
                  const RecursiveImages& images) const {
    if constexpr (sizeof(Stored) == 1)
      if (!job_.read.weighted && job_.mask_maximum == 0)
        return StoreBytes<Channels>(first, step,
                                    {static_cast<std::size_t>(block.height),
                                     static_cast<std::size_t>(block.width), images.output.strides.row},
                                    transfer_,
                                    images.output.row<Stored>(block.y) + block.x * job_.read.channels);
    for (std::int64_t r = 0; r < block.height; ++r) {
      const std::int64_t y = block.y + r;
      std::array<const Real*, Channels> values;
      for (std::size_t c = 0; c < Channels; ++c) values[c] = first[c] + static_cast<std::size_t>(r) * step;
      rows_.store(values, static_cast<std::size_t>(block.width),
                  images.source.row<Stored>(y) + block.x * job_.read.channels, images.mask, block.x, y,
                  images.output.row<Stored>(y) + block.x * job_.read.channels);
    }
  }

  [[nodiscard]] float* distance(Axis axis, std::int64_t x, std::int64_t y) const {
    const std::int64_t row = (axis == Axis::x ? 0 : job_.height) + y;
    return reinterpret_cast<float*>(distances_.get()) + row * job_.width + x;
  }

  CpuBackend& backend_;
  RecursiveJob job_;
  TransferView transfer_;
  RealRows<Stored> rows_;
  WorkspaceVector<PassConstants<Real>> constants_;
  RecursiveSquares<Real, lines> squares_;
  Buffer distances_;  ///< along x, then along y
  WorkspaceVector<RecursiveSlot<Real>> slots_;
};

inline Prepared<RecursiveJob> PrepareRecursive(Backend& backend, const RecursiveJob& job) {
  return with_pixel_type(job.read.type, [&]<class T>() -> std::unique_ptr<RecursiveOperation> {
    return std::make_unique<Recursive<T>>(as_cpu(backend), job);
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareRecursive);

Prepared<RecursiveJob> prepare_recursive(Backend& backend, const RecursiveJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareRecursive)(backend, job);
}

}  // namespace satin::cpu
#endif
