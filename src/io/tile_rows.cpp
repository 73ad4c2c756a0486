#include "io/tile_rows.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "io/halves.h"
#include "io/support.h"
#include "io/tiff_file.h"
#include "io/tiled_tiff.h"

namespace satin::io {
namespace {

Shape with_height(Shape shape, std::int64_t height) {
  shape.height = height;
  return shape;
}

/// The tile of a row of tiles that begins at column `x`; what lies outside of the picture is 0.
FileBytes encode_tile(const ImageView& rows, std::int64_t x) {
  Shape tile = rows.shape;
  tile.width = tile.height = tile_side;
  const Strides strides = interleaved_strides(tile);
  FileBytes pixels(byte_size(tile));
  const auto bytes = static_cast<std::size_t>(std::min(tile_side, rows.shape.width - x) * strides.pixel);
  for (std::int64_t y = 0; y < rows.shape.height; ++y)
    std::memcpy(pixels.data() + y * strides.row, rows.at(x, y), bytes);
  return encode_tiff_tile(tile, pixels);
}

/// The tiles of a row from left to right. What a thread throws is thrown when all of them have ended.
std::vector<FileBytes> encode_row(const ImageView& rows, int threads) {
  std::vector<FileBytes> tiles(static_cast<std::size_t>((rows.shape.width + tile_side - 1) / tile_side));
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < tiles.size(); i = next++)
        tiles[i] = encode_tile(rows, static_cast<std::int64_t>(i) * tile_side);
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min(tiles.size(), static_cast<std::size_t>(std::max(1, threads)));
    try {
      while (others.size() + 1 < wanted) others.emplace_back(work);
    } catch (const std::system_error&) {
      // The system gives no more threads: those that run do all of the work.
    }
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
  return tiles;
}

/// A page of the file: its rows are kept until they fill a row of tiles. Two rows that become one of the
/// next page never lie in two rows of tiles, as the side of a tile is even.
class Page {
 public:
  /// `next` is the page of half the size, null behind the last one.
  Page(TiledTiff& file, std::size_t index, const Shape& shape, int threads, Page* next)
      : file_(file),
        index_(index),
        shape_(shape),
        threads_(threads),
        next_(next),
        row_bytes_(static_cast<std::size_t>(interleaved_strides(shape).row)),
        rows_(row_bytes_ * static_cast<std::size_t>(std::min(tile_side, shape.height))) {}

  /// True once all rows are there.
  [[nodiscard]] bool complete() const { return begun_ == shape_.height; }

  /// Where the rows that follow go, as many as fit.
  [[nodiscard]] MutableImageView room() {
    const std::int64_t count = std::min(tile_side - filled_, shape_.height - begun_ - filled_);
    return mutable_view_of(rows_.data() + static_cast<std::size_t>(filled_) * row_bytes_,
                           with_height(shape_, count));
  }

  /// So many rows are there now.
  void add(std::int64_t count) {
    if (next_ != nullptr) pass_on(filled_ + count);
    filled_ += count;
    if (filled_ < tile_side && begun_ + filled_ < shape_.height) return;
    const ImageView rows = view_of(rows_.data(), with_height(shape_, filled_));
    for (const FileBytes& tile : encode_row(rows, threads_)) file_.add_tile(index_, tile);
    begun_ += filled_;
    filled_ = 0;
  }

 private:
  /// Halves the pairs of rows that are complete with those before `end`, and the last row of all alone.
  void pass_on(std::int64_t end) {
    for (std::int64_t y = filled_ / 2 * 2; y < end; y += 2) {
      const bool alone = begun_ + y + 1 == shape_.height;
      if (y + 1 == end && !alone) break;
      const ImageView pair = view_of(rows_.data() + static_cast<std::size_t>(y) * row_bytes_,
                                     with_height(shape_, alone ? 1 : 2));
      halve(pair, next_->room().data);
      next_->add(1);
    }
  }

  TiledTiff& file_;
  std::size_t index_;
  Shape shape_;
  int threads_;
  Page* next_;
  std::size_t row_bytes_;
  FileBytes rows_;           ///< of one row of tiles
  std::int64_t begun_ = 0;   ///< rows of the picture above it
  std::int64_t filled_ = 0;  ///< rows in it
};

}  // namespace

void write_tiles(NewFile& file, RowSource& rows, const RowWriteOptions& options) {
  Shape shape = rows.shape();
  const bool swapped = shape.order == Order::bgr && shape.channels >= 3;
  shape.order = Order::rgb;
  const std::vector<Shape> shapes = options.pyramid ? pyramid_of(shape, tile_side) : std::vector{shape};
  TiledTiff tiff(file, shapes, options.metadata, needs_big_tiff(shapes, options.metadata));
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<Page>> pages;  // from the smallest to the picture
  for (std::size_t i = shapes.size(); i-- > 0;)
    pages.push_back(
        std::make_unique<Page>(tiff, i, shapes[i], threads, pages.empty() ? nullptr : pages.back().get()));
  Page& picture = *pages.back();
  while (!picture.complete()) {
    const MutableImageView room = picture.room();
    MutableImageView asked = room;
    asked.shape.order = rows.shape().order;
    rows.read(asked);
    if (swapped)
      swap_red_and_blue(room.data, static_cast<std::size_t>(room.shape.width * room.shape.height),
                        static_cast<std::size_t>(shape.channels), size_of(shape.type));
    picture.add(room.shape.height);
  }
  tiff.finish();
}

}  // namespace satin::io
