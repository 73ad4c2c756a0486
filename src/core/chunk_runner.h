#pragma once
// Filters on pictures that do not fit memory: one chunk after the other, with the bytes of the whole picture.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/backend.h"
#include "core/geometry.h"
#include "core/plan_operations.h"
#include "core/prepared_filter.h"
#include "core/watch.h"

namespace satin {

/// A chunk of results, and the area of the picture that the filter reads for them.
struct Chunk {
  Rectangle inner;
  Rectangle area;  ///< goes beyond the picture, to its other end, where the filter wraps around
  Rectangle kept;  ///< pixels of the image that run_chunk() fills that are the results
};

struct ChunkAxis {
  std::int64_t line;   ///< pixels of the picture
  std::int64_t inner;  ///< results of a chunk; fewer in the last one
  std::int64_t reach;
  bool wraps;

  [[nodiscard]] std::int64_t count() const noexcept { return (line + inner - 1) / inner; }
  [[nodiscard]] std::int64_t area() const noexcept { return window_size(inner, line, reach); }
  [[nodiscard]] Stretch inner_of(std::int64_t chunk) const noexcept {
    return {chunk * inner, std::min((chunk + 1) * inner, line)};
  }
  [[nodiscard]] Stretch area_of(const Stretch& results) const {
    if (!wraps || area() == line) return window_around(results, area(), line, reach, false).value();
    return {results.first - reach, results.first - reach + area()};
  }
};

/// The chunks of a picture in raster order. All areas have one size.
struct ChunkGrid {
  ChunkAxis x, y;

  ChunkGrid(const Shape& picture, const Reach& reach, std::int64_t inner_width, std::int64_t inner_height)
      : x{picture.width, inner_width, reach.x, reach.wraps},
        y{picture.height, inner_height, reach.y, reach.wraps} {}

  [[nodiscard]] std::int64_t count() const noexcept { return x.count() * y.count(); }
  [[nodiscard]] Chunk chunk(std::int64_t index) const {
    const Rectangle inner{x.inner_of(index % x.count()), y.inner_of(index / x.count())};
    const Rectangle area{x.area_of(inner.x), y.area_of(inner.y)};
    return {inner, area, seen_from(area, inner)};
  }
};

/// The chunks of a filter that changes the size: rows of its result, and whole rows of the picture.
class ReshapedRows {
 public:
  explicit ReshapedRows(const FilterPlan& filter);

  [[nodiscard]] std::int64_t count() const noexcept { return parts_of(result_.y.last, rows_); }
  [[nodiscard]] Chunk chunk(std::int64_t index) const;
  /// Returns the number of chunks of a pass over the whole picture, in which nothing is computed.
  [[nodiscard]] std::int64_t passes() const noexcept { return parts_of(picture_.y.last, read_); }
  [[nodiscard]] Chunk pass(std::int64_t index) const;

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t rows_read() const noexcept { return read_; }
  /// Sets the number of results, at most all.
  void set_rows(std::int64_t rows);

 private:
  static std::int64_t parts_of(std::int64_t line, std::int64_t part) { return (line + part - 1) / part; }
  [[nodiscard]] Stretch results_of(std::int64_t index) const noexcept {
    return {index * rows_, std::min((index + 1) * rows_, result_.y.last)};
  }
  /// Returns the area of read_ rows of the picture from this row on, or those at its end.
  [[nodiscard]] Rectangle area_from(std::int64_t row) const noexcept {
    const std::int64_t first = std::min(row, picture_.y.last - read_);
    return {picture_.x, {first, first + read_}};
  }

  Rectangle picture_;
  Rectangle result_;
  std::shared_ptr<const Geometry> geometry_;
  std::int64_t rows_ = 1;
  std::int64_t read_ = 1;  ///< most rows that a chunk reads
};

enum class ChunkShape { rectangles, rows };

/// A filter prepared for the largest chunks that fit memory, with room for one area of each picture. Its
/// results have the bytes of the filter on the whole picture.
class ChunkRunner {
 public:
  ChunkRunner(const ChunkRunner&) = delete;
  ChunkRunner& operator=(const ChunkRunner&) = delete;

  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  [[nodiscard]] int measurements() const noexcept { return filter_->measurements(); }
  /// Returns the chunks of one pass. Each is a step of the watch.
  [[nodiscard]] std::int64_t chunks() const noexcept {
    return reshaped_ ? reshaped_->count() : grid_.count();
  }
  /// Returns the chunks of a measurement, each a step of the watch.
  [[nodiscard]] std::int64_t measured_chunks() const noexcept {
    return reshaped_ ? reshaped_->passes() : grid_.count();
  }

 protected:
  /// Halves the longer side of rectangles, or the number of rows, until memory suffices. Throws NoMemory if
  /// it does not suffice for 16 pixels or rows, or for one row where the filter changes the size. Such a
  /// filter is run by rows, whatever the shape. `held` is the part of the memory limit that is in use
  /// already, in bytes.
  ChunkRunner(Backend& backend, const FilterPlan& filter, std::size_t held, ChunkShape shape);
  ~ChunkRunner() = default;

  /// Copies the chunk's area of every input to images_.
  virtual void load(const Chunk& chunk, Stream stream) = 0;
  /// Measures the whole picture, before the first chunk is run.
  void measure(Measured* measured, Stream stream, Watch& watch);
  void run_chunk(const Chunk& chunk, Measured* measured, Stream stream);
  [[nodiscard]] Chunk chunk(std::int64_t index) const {
    return reshaped_ ? reshaped_->chunk(index) : grid_.chunk(index);
  }

  Backend& backend_;
  std::unique_ptr<PreparedFilter> filter_;
  std::vector<Image> images_;     ///< areas of the inputs, then of the output; empty if unused
  std::vector<ImageView> views_;  ///< views of the inputs' areas

 private:
  std::optional<NoMemory> try_to_prepare(const FilterPlan& filter, std::size_t held);
  /// Halves the chunks. Returns false where they are the smallest.
  bool halve(ChunkShape shape);

  ChunkGrid grid_;
  std::optional<ReshapedRows> reshaped_;  ///< replaces the grid for a filter that changes the size
};

/// Runs a filter on pictures in memory by rectangular chunks.
class ChunkedFilter final : public ChunkRunner {
 public:
  ChunkedFilter(Backend& backend, const FilterPlan& filter, std::size_t held)
      : ChunkRunner(backend, filter, held, ChunkShape::rectangles), copy_(backend.prepare(CopyJob{})) {}

  /// Runs on single frames in any memory, with any strides. The output overlaps no input.
  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream, Watch& watch);
  [[nodiscard]] std::int64_t steps() const noexcept { return measured_chunks() * measurements() + chunks(); }

 private:
  void load(const Chunk& chunk, Stream stream) override;
  void store(const Chunk& chunk, const MutableImageView& output, Stream stream);

  std::unique_ptr<CopyOperation> copy_;
  std::span<const ImageView> sources_;  ///< inputs of the current run
};

}  // namespace satin
