#include "batch/row_sources.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#include "batch/side_inputs.h"
#include "satin/error.h"

namespace satin::batch {
namespace {

/// A source is read in parts of so many bytes, so that what lies between two sources is small beside bands.
constexpr std::size_t bytes_of_part = std::size_t{4} << 20;

Shape with_rows(Shape shape, std::int64_t rows) {
  shape.height = rows;
  shape.frames = 1;
  return shape;
}

std::int64_t rows_of_part(const Shape& whole) {
  const std::size_t row = byte_size(with_rows(whole, 1));
  return static_cast<std::int64_t>(std::max<std::size_t>(bytes_of_part / row, 1));
}

template <class Byte>
BasicImageView<Byte> part_of(BasicImageView<Byte> view, std::int64_t first, std::int64_t count) {
  view.data = view.at(0, first);
  view.shape.height = count;
  return view;
}

void copy_rows(const ImageView& from, const MutableImageView& to) {
  const auto bytes = static_cast<std::size_t>(interleaved_strides(to.shape).row);
  for (std::int64_t y = 0; y < to.shape.height; ++y) std::memcpy(to.at(0, y), from.at(0, y), bytes);
}

Shape of_type(Shape shape, Type type) {
  shape.type = type;
  return shape;
}

class ChangedRows final : public RowSource {
 public:
  /// Makes as many rows of those of the source, which are dense.
  using Change = std::function<void(const ImageView& from, const MutableImageView& to)>;

  /// `shape` is that of the source but for the pixels.
  ChangedRows(RowSource& source, const Shape& shape, Change change)
      : source_(source), shape_(shape), change_(std::move(change)) {}

  [[nodiscard]] const Shape& shape() const noexcept override { return shape_; }
  void rewind() override { source_.rewind(); }

  void read(const MutableImageView& rows) override {
    const Shape& whole = source_.shape();
    const std::int64_t most = rows_of_part(whole);
    for (std::int64_t y = 0; y < rows.shape.height;) {
      const std::int64_t count = std::min(most, rows.shape.height - y);
      if (part_.empty() || part_.shape().height < count) part_ = Image(with_rows(whole, count));
      const MutableImageView part = part_of(part_.view(), 0, count);
      source_.read(part);
      change_(part, part_of(rows, y, count));
      y += count;
    }
  }

 private:
  RowSource& source_;
  Shape shape_;
  Change change_;
  Image part_{};  ///< some rows of the source
};

}  // namespace

std::unique_ptr<RowSource> linear_rows(RowSource& source, const ToneCurves& curves) {
  return std::make_unique<ChangedRows>(
      source, of_type(source.shape(), Type::f32),
      [curves](const ImageView& from, const MutableImageView& to) { copy_rows(curves.decoded(from), to); });
}

std::unique_ptr<RowSource> encoded_rows(RowSource& source, const ToneCurves& curves) {
  return std::make_unique<ChangedRows>(
      source, of_type(source.shape(), curves.type()),
      [curves](const ImageView& from, const MutableImageView& to) { copy_rows(curves.encoded(from), to); });
}

std::unique_ptr<RowSource> one_channel_rows(RowSource& source, bool alpha, const std::string& refusal) {
  const Shape& shape = source.shape();
  return std::make_unique<ChangedRows>(source, Shape{shape.width, shape.height, 1, shape.type},
                                       [alpha, refusal](const ImageView& from, const MutableImageView& to) {
                                         if (!take_one_channel(from, alpha, to))
                                           throw Error(ErrorKind::usage, refusal);
                                       });
}

bool is_transparent(RowSource& source) {
  const Shape& whole = source.shape();
  if (whole.alpha == Alpha::none) return false;
  const std::int64_t most = rows_of_part(whole);
  Image part(with_rows(whole, std::min(most, whole.height)));
  bool found = false;
  for (std::int64_t y = 0; y < whole.height && !found; y += most) {
    const MutableImageView rows = part_of(part.view(), 0, std::min(most, whole.height - y));
    source.read(rows);
    found = is_transparent(rows);
  }
  source.rewind();
  return found;
}

}  // namespace satin::batch
