#include "batch/thumbnail.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "satin/batch.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/tone_curves.h"

namespace satin::batch {
namespace {

/// Returns rows of a picture in linear light. Integers are decoded by the sRGB curve into `decoded`.
ImageView linear_rows(ImageView rows, Image& decoded) {
  if (rows.shape.type == Type::f32) return rows;
  static const ToneCurves curves8 = ToneCurves::srgb(Type::u8), curves16 = ToneCurves::srgb(Type::u16);
  // Curves are for three colours. A fourth channel is not shown.
  if (rows.shape.channels == 4) rows.shape.alpha = Alpha::straight;
  decoded = (rows.shape.type == Type::u8 ? curves8 : curves16).decoded(rows);
  return decoded.view();
}

float clipped(float value) { return value > 0 ? std::min(value, 1.0F) : 0; }

/// Returns where the source pixels of each of `parts` cells begin, and the end. Every cell has at least one.
std::vector<std::int64_t> borders(std::int64_t length, std::int64_t parts) {
  std::vector<std::int64_t> result;
  for (std::int64_t part = 0; part <= parts; ++part) result.push_back(part * length / parts);
  return result;
}

/// Adds a row of linear light to a row of sums of premultiplied colour and alpha.
void add_row(const float* row, const Shape& shape, std::span<float> sums) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  if (shape.alpha == Alpha::none) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += clipped(row[i]);
    return;
  }
  for (std::size_t i = 0; i < sums.size(); i += channels) {
    const std::size_t last = i + channels - 1;
    const float alpha = clipped(row[last]);
    const float weight = shape.alpha == Alpha::straight ? alpha : 1;
    for (std::size_t c = i; c < last; ++c) sums[c] += weight * clipped(row[c]);
    sums[last] += alpha;
  }
}

/// Returns the checkerboard behind transparent pixels: squares of 8 pixels, in linear light.
float backdrop(std::int64_t x, std::int64_t y) { return ((x / 8 + y / 8) % 2 == 0) ? 0.6F : 0.35F; }

/// Fills the output with means of cells, composited over the checkerboard.
void reduce(const ImageView& picture, Image& output) {
  const Shape& shape = output.shape();
  const std::int64_t channels = picture.shape.channels;
  const bool swapped = picture.shape.order == Order::bgr && channels >= 3;
  const std::vector<std::int64_t> columns = borders(picture.shape.width, shape.width);
  const std::vector<std::int64_t> edges = borders(picture.shape.height, shape.height);
  std::vector<float> sums(static_cast<std::size_t>(picture.shape.width * channels));
  Image decoded;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    ImageView rows = picture;
    rows.data = picture.at(0, edges[static_cast<std::size_t>(y)]);
    rows.shape.height = edges[static_cast<std::size_t>(y) + 1] - edges[static_cast<std::size_t>(y)];
    const ImageView light = linear_rows(rows, decoded);
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::int64_t row = 0; row < light.shape.height; ++row)
      add_row(light.row<float>(row), picture.shape, sums);
    auto* out = output.view().row<float>(y);
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const std::int64_t first = columns[static_cast<std::size_t>(x)];
      const std::int64_t end = columns[static_cast<std::size_t>(x) + 1];
      const auto mean = [&](std::int64_t channel) {
        float total = 0;
        for (std::int64_t i = first; i < end; ++i)
          total += sums[static_cast<std::size_t>(i * channels + channel)];
        return total / static_cast<float>(light.shape.height * (end - first));
      };
      const float seen = picture.shape.alpha == Alpha::none ? 0 : 1 - mean(channels - 1);
      for (int c = 0; c < shape.channels; ++c)
        *out++ = std::min(1.0F, mean(swapped ? 2 - c : c) + seen * backdrop(x, y));
    }
  }
}

}  // namespace

Image thumbnail(const ImageView& picture, std::int64_t side) {
  const std::int64_t longer = std::max(picture.shape.width, picture.shape.height);
  const auto reduced = [&](std::int64_t length) {
    return longer <= side ? length : std::max<std::int64_t>(1, (length * side + longer / 2) / longer);
  };
  Shape shape{reduced(picture.shape.width), reduced(picture.shape.height)};
  shape.channels = picture.shape.channels >= 3 ? 3 : 1;
  shape.type = Type::f32;
  Image output(shape);
  if (picture.shape.type == Type::u8 || picture.shape.type == Type::u16 || picture.shape.type == Type::f32)
    reduce(picture, output);
  return output;
}

}  // namespace satin::batch

namespace satin {

Image thumbnail_of(const std::filesystem::path& file, const ReadOptions& options) {
  try {
    return batch::thumbnail(read_pictures(file, options).front().image, Thumbnails::side);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace satin
