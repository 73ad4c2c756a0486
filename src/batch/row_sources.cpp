#include "batch/row_sources.h"

#include <algorithm>
#include <cstring>

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

Shape of_one_channel(const Shape& shape) { return {shape.width, shape.height, 1, shape.type}; }

}  // namespace

void ChangedRows::read(const MutableImageView& rows) {
  const Shape& whole = source_.shape();
  const std::int64_t most = rows_of_part(whole);
  for (std::int64_t y = 0; y < rows.shape.height;) {
    const std::int64_t count = std::min(most, rows.shape.height - y);
    if (part_.empty() || part_.shape().height < count) part_ = Image(with_rows(whole, count));
    const MutableImageView part = part_of(part_.view(), 0, count);
    source_.read(part);
    change(part, part_of(rows, y, count));
    y += count;
  }
}

LinearRows::LinearRows(RowSource& source, ToneCurves curves)
    : ChangedRows(source, of_type(source.shape(), Type::f32)), curves_(std::move(curves)) {}

void LinearRows::change(const ImageView& from, const MutableImageView& to) const {
  copy_rows(curves_.decoded(from), to);
}

EncodedRows::EncodedRows(RowSource& source, ToneCurves curves)
    : ChangedRows(source, of_type(source.shape(), curves.type())), curves_(std::move(curves)) {}

void EncodedRows::change(const ImageView& from, const MutableImageView& to) const {
  copy_rows(curves_.encoded(from), to);
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

OneChannel::OneChannel(RowSource& source, bool alpha, std::string refusal)
    : ChangedRows(source, of_one_channel(source.shape())), alpha_(alpha), refusal_(std::move(refusal)) {}

void OneChannel::change(const ImageView& from, const MutableImageView& to) const {
  if (!take_one_channel(from, alpha_, to)) throw Error(ErrorKind::usage, refusal_);
}

void CheckedRows::rewind() {
  pipeline_.rewind();
  next_ = 0;
}

void CheckedRows::read(const MutableImageView& rows) {
  pipeline_.read(rows);
  next_ += rows.shape.height;
  if (next_ == shape().height) warnings_ = pipeline_.check();
}

void ShapeAlone::read(const MutableImageView& /*rows*/) {
  throw Error(ErrorKind::usage, "A shape has no rows to read.");
}

}  // namespace satin::batch
