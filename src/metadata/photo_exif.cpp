#include "metadata/photo_exif.h"

#include <vector>

#include "metadata/exif_reader.h"

namespace satin::io {
namespace {

enum Tag : std::uint32_t {
  exif_directory = 0x8769,
  subject_area = 0x9214,
  pixel_x_dimension = 0xA002,
  pixel_y_dimension = 0xA003,
  focal_length_35 = 0xA405,
};

/// The numbers of a tag of the EXIF directory; empty if it is not there.
std::vector<std::uint32_t> numbers_of(Bytes exif, Tag tag) {
  const ExifReader reader(exif);
  if (!reader.valid()) return {};
  const auto pointer = reader.find(reader.first_directory(), exif_directory);
  const auto entry = pointer ? reader.find(pointer->value, tag) : std::nullopt;
  return entry ? reader.numbers(*entry) : std::vector<std::uint32_t>();
}

double number_of(Bytes exif, Tag tag, double otherwise) {
  const std::vector<std::uint32_t> numbers = numbers_of(exif, tag);
  return numbers.size() == 1 && numbers[0] != 0 ? numbers[0] : otherwise;
}

}  // namespace

Point upright_point(double x, double y, int orientation) {
  if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8) x = 1 - x;
  if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7) y = 1 - y;
  if (orientation >= 5) std::swap(x, y);
  return {{100 * x, true}, {100 * y, true}};
}

std::optional<PhotoFocus> exif_focus(Bytes exif, std::int64_t width, std::int64_t height, int orientation) {
  const std::vector<std::uint32_t> area = numbers_of(exif, subject_area);
  if (area.size() < 2 || area.size() > 4) return std::nullopt;
  const double x = area[0] / number_of(exif, pixel_x_dimension, static_cast<double>(width));
  const double y = area[1] / number_of(exif, pixel_y_dimension, static_cast<double>(height));
  if (!(x <= 1 && y <= 1)) return std::nullopt;
  return PhotoFocus{{}, upright_point(x, y, orientation), "EXIF SubjectArea"};
}

std::optional<double> exif_focal_length(Bytes exif) {
  const double length = number_of(exif, focal_length_35, 0);
  return length > 0 ? std::optional(length) : std::nullopt;
}

}  // namespace satin::io
