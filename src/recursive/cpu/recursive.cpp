// Recursive smoothing on the CPU.
//
// A tile is as many lines side by side as one SIMD loop scans, 32 floats or 16 doubles. It is scanned
// forward, block by block, into a buffer that fits the cache; rows are transposed so that lines lie side by
// side. Then it is scanned backward and written. The first pass reads stored pixels and the last one writes
// them; passes between them read and write squares of working values.

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
#include "core/cpu/cache.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "pixels/transfer.h"
#include "recursive/cpu/recursive_lines-inl.h"
#include "recursive/cpu/recursive_rows.h"
#include "recursive/recursive.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Lines of a pass that are scanned side by side.
struct LineTile {
  Axis axis = Axis::x;
  std::int64_t length = 0;  ///< pixels of each line
  std::int64_t first_line = 0;
  std::int64_t lines = 0;

  /// A block of all lines, which is a rectangle of the picture.
  struct Block {
    std::int64_t x, y, width, height;
    std::int64_t first;  ///< first position in the line
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

/// The working values of a picture between two passes: squares of `side` x `side` pixels for each channel,
/// where `side` is the number of lines of a tile. In a square the values of all lines at one position are
/// adjacent, in the order that the next pass reads; a pass that goes along the other axis gets it transposed.
/// No two tiles of a pass share a square.
template <class Real, std::int64_t side>
class RecursiveSquares {
 public:
  RecursiveSquares() = default;
  RecursiveSquares(CpuBackend& backend, std::int64_t width, std::int64_t height, int channels)
      : across_((width + side - 1) / side),
        down_((height + side - 1) / side),
        values_(backend.allocate(static_cast<std::size_t>(across_ * down_ * channels) * bytes_each)) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return values_.size; }

  /// Returns the square that contains pixel (x, y). Squares follow each other in memory along rows.
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

/// Memory of one thread.
template <class Real>
struct RecursiveScratch {
  WorkspaceVector<Real> values;        ///< a tile of every channel
  WorkspaceVector<Real> coefficients;  ///< coefficients of a guided tile, and one position more
  WorkspaceVector<Real> blocks;        ///< a block of every channel, in rows of the picture
  WorkspaceVector<float> distances;    ///< distances of a block

  [[nodiscard]] std::size_t bytes() const {
    return (values.size() + coefficients.size() + blocks.size()) * sizeof(Real) + distances.size() * 4;
  }
};

template <class Stored>
class Recursive final : public RecursiveOperation {
  using Real = RealOf<Stored>;
  static constexpr auto lines = static_cast<std::int64_t>(tile_lines<Real>);
  static constexpr std::size_t block_size = recursive_block * tile_lines<Real>;

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
    prepare_scratch();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = squares_.bytes() + distances_.size;
    for (const RecursiveScratch<Real>& scratch : scratch_) bytes += scratch.bytes();
    return bytes;
  }

  void run(const RecursiveImages& images, Stream) override {
    std::atomic<bool> finite{true};
    if (job_.guide && !read_guide(images.guide)) images.measured->guide_not_finite = 1;
    if (job_.passes.empty()) copy_rows(images, finite);
    for (std::size_t pass = 0; pass < job_.passes.size(); ++pass) {
      const std::int64_t all = job_.passes[pass].axis == Axis::x ? job_.height : job_.width;
      backend_.threads.for_rows(
          (all + lines - 1) / lines, 1, [&](std::int64_t first, std::int64_t last, int scratch) {
            for (std::int64_t b = first; b < last; ++b)
              run_tile(pass, b, scratch_[static_cast<std::size_t>(scratch)], images, finite);
          });
    }
    if (!finite) images.measured->picture_not_finite = 1;
  }

 private:
  static StoreRule rule_of(const RecursiveJob& job) {
    return {job.read.weighted, job.mask_maximum,
            host_transfer(job.read.type, job.read.transfer == Transfer::srgb)};
  }

  void prepare_scratch() {
    if (job_.passes.empty()) return;
    std::int64_t longest = 0;
    for (const RecursivePass& pass : job_.passes)
      longest = std::max(longest, pass.axis == Axis::x ? job_.width : job_.height);
    const std::int64_t blocks = (longest + recursive_block - 1) / recursive_block;
    const auto tile = static_cast<std::size_t>(blocks * recursive_block * lines);
    const auto channels = static_cast<std::size_t>(job_.read.channels);
    scratch_.resize(static_cast<std::size_t>(backend_.threads.count()));
    for (RecursiveScratch<Real>& scratch : scratch_) {
      scratch.values.resize(channels * tile);
      scratch.blocks.resize(channels * block_size);
      if (!job_.guide) continue;
      scratch.coefficients.resize(tile + tile_lines<Real>);
      scratch.distances.resize(block_size);
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
            if constexpr (sizeof(T) < 4)
              if (!job_.guide->weighted) return ReadIntegerDistances(*job_.guide, p, q, count, along);
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

  void run_tile(std::size_t pass, std::int64_t index, RecursiveScratch<Real>& scratch,
                const RecursiveImages& images, std::atomic<bool>& finite) {
    const Axis axis = job_.passes[pass].axis;
    const std::int64_t all = axis == Axis::x ? job_.height : job_.width;
    const std::int64_t first_line = index * lines;
    const LineTile tile{axis, axis == Axis::x ? job_.width : job_.height, first_line,
                        std::min(lines, all - first_line)};
    if (job_.guide) read_coefficients(tile, constants_[pass], scratch);
    const bool last = pass + 1 == job_.passes.size();
    const int channels_at_once = last ? job_.read.channels : 1;
    for (int channel = 0; channel < job_.read.channels; channel += channels_at_once) {
      Real carries[4][tile_lines<Real>];
      for (int i = 0; i < channels_at_once; ++i)
        if (!scan_forward(tile, pass, channel + i, scratch, values_of(scratch, tile, i), images, carries[i]))
          finite = false;
      for (std::int64_t k = tile.blocks() - 1; k >= 0; --k) {
        if (last && k > 0) fetch_output(tile.block(k - 1), images.output);
        for (int i = 0; i < channels_at_once; ++i)
          scan_backward(tile, k, constants_[pass], scratch, values_of(scratch, tile, i), carries[i]);
        if (last)
          store_pixels(tile, tile.block(k), scratch, images);
        else
          store_squares(tile, tile.block(k), channel, pass, values_of(scratch, tile, 0));
      }
    }
  }

  static Real* values_of(RecursiveScratch<Real>& scratch, const LineTile& tile, int i) {
    return scratch.values.data() + i * tile.blocks() * recursive_block * lines;
  }

  void read_coefficients(const LineTile& tile, const PassConstants<Real>& constants,
                         RecursiveScratch<Real>& scratch) {
    const auto pitch = static_cast<std::size_t>(job_.width);
    for (std::int64_t k = 0; k < tile.blocks(); ++k) {
      const LineTile::Block block = tile.block(k);
      Real* out = scratch.coefficients.data() + block.first * lines;
      const float* from = distance(tile.axis, block.x, block.y);
      if (tile.axis == Axis::x) {
        Transpose(from, pitch, static_cast<std::size_t>(block.height), static_cast<std::size_t>(block.width),
                  scratch.distances.data(), tile_lines<Real>);
        Decays(scratch.distances.data(), static_cast<std::size_t>(block.positions * lines), constants.rate,
               out);
      } else {
        for (int i = 0; i < block.positions; ++i, from += pitch, out += lines)
          Decays(from, static_cast<std::size_t>(block.width), constants.rate, out);
      }
    }
    std::fill_n(scratch.coefficients.data() + tile.length * lines, lines, constants.feedback);
  }

  /// Fills the tile's buffer with forward results and `carries` with the start of the backward scan. Returns
  /// false if a float is not finite.
  bool scan_forward(const LineTile& tile, std::size_t pass, int channel, RecursiveScratch<Real>& scratch,
                    Real* values, const RecursiveImages& images, Real* carries) {
    bool finite = true;
    std::fill_n(carries, lines, Real{0});
    Real ends[tile_lines<Real>];
    for (std::int64_t k = 0; k < tile.blocks(); ++k) {
      const LineTile::Block block = tile.block(k);
      Real* to = values + block.first * lines;
      const Real* from = to;
      if (pass == 0)
        finite = read_stored(tile, block, channel, scratch, images.source, to) && finite;
      else
        from = read_squares(tile, block, channel, to);
      if (k + 1 == tile.blocks()) std::copy_n(from + (block.positions - 1) * lines, lines, ends);
      BlockScan<Real> scan = scan_of(constants_[pass], block, to, carries);
      scan.from = from;
      scan.step = lines;
      if (job_.guide) scan.coefficients = scratch.coefficients.data() + block.first * lines;
      scan.first = k == 0;
      ScanBlock(scan);
    }
    for (std::int64_t l = 0; l < lines; ++l)
      carries[l] = end_difference(ends[l], carries[l], constants_[pass].end_share);
    return finite;
  }

  void scan_backward(const LineTile& tile, std::int64_t k, const PassConstants<Real>& constants,
                     RecursiveScratch<Real>& scratch, Real* values, Real* carries) {
    const LineTile::Block block = tile.block(k);
    const std::int64_t last = block.first + block.positions - 1;
    BlockScan<Real> scan = scan_of(constants, block, values + last * lines, carries);
    scan.step = -lines;
    if (job_.guide) scan.coefficients = scratch.coefficients.data() + (last + 1) * lines;
    scan.first = k + 1 == tile.blocks();
    ScanBlock(scan);
  }

  static BlockScan<Real> scan_of(const PassConstants<Real>& constants, const LineTile::Block& block,
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

  static void fetch_output(const LineTile::Block& block, const MutableImageView& output) {
    const auto bytes = static_cast<std::size_t>(block.width * output.strides.pixel);
    for (std::int64_t r = 0; r < block.height; ++r) {
      const std::byte* row = output.at(block.x, block.y + r);
      for (std::size_t i = 0; i < bytes; i += cache_line_bytes) fetch_to_second_level_for_writing(row + i);
      fetch_to_second_level_for_writing(row + bytes - 1);
    }
  }

  /// Prefetches rows of the next block, which hardware prefetchers do not predict.
  HWY_INLINE static void prefetch(const std::byte* row, std::ptrdiff_t pitch, std::int64_t rows,
                                  std::size_t bytes) {
    for (std::int64_t r = 0; r < rows; ++r, row += pitch) fetch(row, bytes);
  }

  bool read_stored(const LineTile& tile, const LineTile::Block& block, int channel,
                   RecursiveScratch<Real>& scratch, const ImageView& source, Real* values) {
    const bool transposed = tile.axis == Axis::x;
    const auto width = static_cast<std::size_t>(block.width);
    Real* out = transposed ? scratch.blocks.data() : values;
    if (channel == 0 && block.first + 2 * recursive_block <= tile.length)
      prefetch(transposed ? source.at(block.x + recursive_block, block.y)
                          : source.at(block.x, block.y + recursive_block),
               source.strides.row, block.height, width * static_cast<std::size_t>(source.strides.pixel));
    if constexpr (sizeof(Stored) == 1)
      if (!job_.read.weighted) {
        read_bytes(block, channel, transposed, scratch, source, values);
        return true;
      }
    const std::size_t step = transposed ? recursive_block : tile_lines<Real>;
    bool finite = true;
    for (std::int64_t r = 0; r < block.height; ++r)
      finite = rows_.read(source.row<Stored>(block.y + r) + block.x * job_.read.channels, width, channel,
                          out + static_cast<std::size_t>(r) * step) &&
               finite;
    if (transposed)
      Transpose(out, step, static_cast<std::size_t>(block.height), width, values, tile_lines<Real>);
    return finite;
  }

  /// Reads bytes without alpha: by vectors into rows, and the rest one by one to their final position.
  void read_bytes(const LineTile::Block& block, int channel, bool transposed, RecursiveScratch<Real>& scratch,
                  const ImageView& source, Real* values) {
    constexpr auto side = tile_lines<Real>;
    const auto width = static_cast<std::size_t>(block.width);
    const auto height = static_cast<std::size_t>(block.height);
    Real* rows = transposed ? scratch.blocks.data() : values;
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

  /// Returns the block in its squares, or a copy in `values` if these do not follow each other.
  const Real* read_squares(const LineTile& tile, const LineTile::Block& block, int channel, Real* values) {
    const auto square = [&](std::int64_t position) {
      return tile.axis == Axis::x ? squares_.at(channel, block.x + position, block.y)
                                  : squares_.at(channel, block.x, block.y + position);
    };
    if (block.first + recursive_block < tile.length)
      for (std::int64_t position = 0; position < recursive_block; position += lines)
        fetch(reinterpret_cast<const std::byte*>(square(recursive_block + position)),
              block_size / recursive_block * static_cast<std::size_t>(lines) * sizeof(Real));
    if (lines >= recursive_block || tile.axis == Axis::x) return square(0);
    for (std::int64_t position = 0; position < block.positions; position += lines)
      std::copy_n(square(position), lines * lines, values + position * lines);
    return values;
  }

  /// Writes the block to its squares in the order that the pass after `pass` reads.
  void store_squares(const LineTile& tile, const LineTile::Block& block, int channel, std::size_t pass,
                     const Real* values) {
    constexpr auto side = tile_lines<Real>;
    values += block.first * lines;
    for (std::int64_t position = 0; position < block.positions; position += lines, values += side * side) {
      Real* square = tile.axis == Axis::x ? squares_.at(channel, block.x + position, block.y)
                                          : squares_.at(channel, block.x, block.y + position);
      job_.passes[pass + 1].axis == tile.axis ? static_cast<void>(std::copy_n(values, side * side, square))
                                              : Transpose(values, side, side, side, square, side);
    }
  }

  void store_pixels(const LineTile& tile, const LineTile::Block& block, RecursiveScratch<Real>& scratch,
                    const RecursiveImages& images) {
    std::array<const Real*, 4> rows{};
    std::size_t step = tile_lines<Real>;
    for (int c = 0; c < job_.read.channels; ++c) {
      const Real* values = values_of(scratch, tile, c) + block.first * lines;
      rows[static_cast<std::size_t>(c)] = values;
      if (tile.axis == Axis::y) continue;
      Real* turned = scratch.blocks.data() + static_cast<std::size_t>(c) * block_size;
      step = recursive_block;
      Transpose(values, tile_lines<Real>, static_cast<std::size_t>(block.width),
                static_cast<std::size_t>(block.height), turned, step);
      rows[static_cast<std::size_t>(c)] = turned;
    }
    with_channels(job_.read.channels,
                  [&]<int Channels>() { store_rows<Channels>(block, rows, step, images); });
  }

  template <std::size_t Channels>
  void store_rows(const LineTile::Block& block, const std::array<const Real*, 4>& first, std::size_t step,
                  const RecursiveImages& images) const {
    if constexpr (sizeof(Stored) < 4)
      if (job_.mask_maximum == 0) {
        const auto in_block = [&](auto view) {
          view.data = view.at(block.x, block.y);
          return view;
        };
        const StoredBlock stored{static_cast<std::size_t>(block.height),
                                 static_cast<std::size_t>(block.width), in_block(images.output),
                                 job_.read.weighted ? in_block(images.source) : ImageView()};
        return StoreIntegers<Channels, Stored>(first, step, stored, transfer_);
      }
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
  Buffer distances_;  ///< distances along x, then along y
  WorkspaceVector<RecursiveScratch<Real>> scratch_;
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
