#include "io/codec_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "metadata/colour_profile.h"
#include "metadata/exif.h"
#include "satin/error.h"

namespace satin::io {
namespace {

void check_type(Type type, const ReadOptions& options) {
  if (!options.filterable || type == Type::u8 || type == Type::u16 || type == Type::f32) return;
  throw Error(ErrorKind::input, std::string("pixels of type ") + name_of(type) +
                                    " are not read, because filters take u8, u16 and f32. Convert them "
                                    "first, for example with astype('float32') of NumPy.");
}

template <class Code>
void spread(Image& image, int channel, std::uint32_t black, std::uint32_t white) {
  constexpr std::uint32_t largest = std::numeric_limits<Code>::max();
  const std::uint32_t span = white - black;
  const auto channels = static_cast<std::size_t>(image.shape().channels);
  const std::size_t count = byte_size(image.shape()) / sizeof(Code);
  auto* const codes = reinterpret_cast<Code*>(image.data());
  for (auto i = static_cast<std::size_t>(channel); i < count; i += channels) {
    const std::uint32_t above = std::clamp<std::uint32_t>(codes[i], black, white) - black;
    codes[i] = static_cast<Code>((above * largest + span / 2) / span);
  }
}

template <class Value>
void divide(Value* pixel, std::size_t count, std::size_t channels) {
  constexpr std::uint64_t largest = std::numeric_limits<Value>::max();
  for (; count > 0; --count, pixel += channels) {
    const std::uint64_t alpha = pixel[channels - 1];
    for (std::size_t c = 0; c + 1 < channels && alpha != 0; ++c)
      pixel[c] = static_cast<Value>(std::min(largest, (pixel[c] * largest + alpha / 2) / alpha));
  }
}

/// Converts codes to values. Each is computed in double and rounded once, so that the same near and far give
/// the same bits wherever a file stores its depth.
template <class Code>
void decode_depth(const Image& codes, const DepthTerms& terms, Image& values) {
  constexpr double white = std::numeric_limits<Code>::max();
  const bool inverse = terms.coding.format == DepthCoding::Format::range_inverse;
  const double near = terms.coding.near * terms.metres, far = terms.coding.far * terms.metres;
  const double first = inverse ? 1 / near : near, last = inverse ? 1 / far : far;
  const auto* code = reinterpret_cast<const Code*>(codes.data());
  auto* value = reinterpret_cast<float*>(values.data());
  const std::int64_t count = codes.shape().width * codes.shape().height;
  for (std::int64_t i = 0; i < count; ++i)
    value[i] = static_cast<float>(first + code[i] / white * (last - first));
}

template <class Code>
void turn_round(Image& codes) {
  auto* code = reinterpret_cast<Code*>(codes.data());
  const std::int64_t count = codes.shape().width * codes.shape().height;
  for (std::int64_t i = 0; i < count; ++i)
    code[i] = static_cast<Code>(std::numeric_limits<Code>::max() - code[i]);
}

/// Bytes read at once, enough for the full speed of a disk.
constexpr std::size_t read_bytes = std::size_t{1} << 20;

class RowsAsStored final : public RowReader {
 public:
  RowsAsStored(const InputFile& file, StoredRows rows, std::size_t held)
      : file_(file), rows_(std::move(rows)), buffer_(held) {
    shape = rows_.shape;
    warnings = rows_.warnings;
  }

  void read(std::int64_t y, const MutableImageView& rows) override {
    const auto most = static_cast<std::int64_t>(buffer_.size() / rows_.row_bytes);
    for (std::int64_t done = 0; done < rows.shape.height;) {
      const std::int64_t count = std::min(most, rows.shape.height - done);
      const std::int64_t first = rows_.upwards ? shape.height - (y + done) - count : y + done;
      const std::span<std::byte> stored(buffer_.data(), static_cast<std::size_t>(count) * rows_.row_bytes);
      file_.read(rows_.start + static_cast<std::uint64_t>(first) * rows_.row_bytes, stored, rows_.format);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = rows_.upwards ? count - 1 - i : i;
        rows_.decode(Bytes(stored).subspan(static_cast<std::size_t>(row) * rows_.row_bytes, rows_.row_bytes),
                     rows.at(0, done + i));
      }
      done += count;
    }
  }

 private:
  const InputFile& file_;
  StoredRows rows_;
  FileBytes buffer_;
};

}  // namespace

void spread_codes(Image& image, int channel, std::uint32_t black, std::uint32_t white) {
  return image.shape().type == Type::u8 ? spread<std::uint8_t>(image, channel, black, white)
                                        : spread<std::uint16_t>(image, channel, black, white);
}

void divide_by_alpha(std::byte* pixels, std::size_t count, int channels, Type type) {
  const auto stride = static_cast<std::size_t>(channels);
  type == Type::u8 ? divide(reinterpret_cast<std::uint8_t*>(pixels), count, stride)
                   : divide(reinterpret_cast<std::uint16_t*>(pixels), count, stride);
}

PhotoDepth photo_depth(Image codes, const DepthTerms& terms, int orientation, const Allocator& allocator) {
  const bool wide = codes.shape().type == Type::u16;
  if (terms.turned) wide ? turn_round<std::uint16_t>(codes) : turn_round<std::uint8_t>(codes);
  Image values({codes.shape().width, codes.shape().height, 1, Type::f32}, allocator);
  wide ? decode_depth<std::uint16_t>(codes, terms, values) : decode_depth<std::uint8_t>(codes, terms, values);
  PhotoDepth depth;
  const auto* first = reinterpret_cast<const float*>(values.data());
  const auto [lowest, highest] =
      std::minmax_element(first, first + values.shape().width * values.shape().height);
  if (!std::isfinite(*lowest) || !std::isfinite(*highest))
    refuse_depth("it holds distances of 0 or without end");
  depth.lowest = *lowest;
  depth.highest = *highest;
  depth.kind =
      terms.coding.format == DepthCoding::Format::range_inverse ? DepthKind::disparity : DepthKind::depth;
  depth.metric = terms.metric;
  depth.format = terms.name;
  depth.values = upright(std::move(values), orientation, allocator);
  depth.stored = {{}, {}, std::move(codes), terms.format, terms.near, terms.far, terms.units};
  return depth;
}

Shape shape_of(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha) {
  return {static_cast<std::int64_t>(width), static_cast<std::int64_t>(height), channels, type, alpha};
}

std::string partial_warning(const char* format) {
  return std::string("the ") + format + " data is damaged or ends early; part of the picture is missing.";
}

void check_limits(std::uint64_t width, std::uint64_t height, int channels, Type type,
                  const ReadLimits& limits) {
  const std::string size = std::to_string(width) + " x " + std::to_string(height);
  if (width == 0 || height == 0)
    throw Error(ErrorKind::input,
                "the picture is " + size + " and has no pixels. Get an undamaged copy of the file.");
  if (width > limits.pixels || height > limits.pixels / width)
    throw Error(ErrorKind::input, "the picture of " + size + " is over the limit of " +
                                      std::to_string(limits.pixels) +
                                      " pixels. Raise it (--max-pixels), or make the picture smaller.");
  if (channels < 1 || channels > 4)
    throw Error(ErrorKind::input, "the picture has " + std::to_string(channels) +
                                      " channels; 1 to 4 are read. Store fewer channels in a file.");
  const std::uint64_t pixel = size_of(type) * static_cast<std::uint64_t>(channels);
  if (width * height > limits.bytes / pixel)
    throw Error(ErrorKind::input, "the picture of " + size + ", " + std::to_string(channels) + " x " +
                                      name_of(type) + " is over the limit of " +
                                      std::to_string(limits.bytes) +
                                      " bytes. Raise it (--max-bytes), or make the picture smaller.");
}

void accept(std::uint64_t width, std::uint64_t height, int channels, Type type, const ReadOptions& options,
            std::uint64_t beside, Alpha alpha) {
  check_type(type, options);
  check_limits(width, height, channels, type, options.limits);
  if (options.accept) options.accept(shape_of(width, height, channels, type, alpha), beside);
}

Image allocate(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha,
               const ReadOptions& options) {
  accept(width, height, channels, type, options, 0, alpha);
  return Image(shape_of(width, height, channels, type, alpha), options.allocator);
}

std::string one_of(const std::vector<std::string>& words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

Image upright(Image image, int orientation, const Allocator& allocator) {
  if (orientation <= 1 || orientation > 8) return image;
  ImageView turned = image.view();
  const auto reverse = [&](std::int64_t size, std::ptrdiff_t& stride) {
    turned.data += stride * (size - 1);
    stride = -stride;
  };
  // Orientations 2, 3, 7 and 8 reverse the columns of the source, 3, 4, 6 and 7 its rows. From 5 on, rows
  // become columns.
  if (orientation == 2 || orientation == 3 || orientation >= 7)
    reverse(turned.shape.width, turned.strides.pixel);
  if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
    reverse(turned.shape.height, turned.strides.row);
  if (orientation >= 5) {
    std::swap(turned.shape.width, turned.shape.height);
    std::swap(turned.strides.pixel, turned.strides.row);
  }
  return copy_of(turned, allocator);
}

void turn_upright(Picture& picture, Image image, int orientation, const Allocator& allocator) {
  constexpr int first_on_its_side = 5;
  if (orientation >= first_on_its_side) turn_resolution(picture.metadata);
  picture.image = upright(std::move(image), orientation, allocator);
}

void describe_upright(Metadata& metadata, const Shape& shape, const Framing& framing,
                      std::vector<std::string>& warnings) {
  if (!metadata.resolution) metadata.resolution = resolution_of_exif(metadata.exif);
  frame_in_exif(metadata.exif, framing, exif_orientation(metadata.exif).value_or(1));
  describe_in_exif(metadata.exif, shape.width, shape.height);
  if (!describe_in_xmp(metadata.xmp, shape.width, shape.height))
    warnings.emplace_back("The XMP packet is damaged and was left out.");
  if (framing.changes()) static_cast<void>(frame_in_xmp(metadata.xmp, framing));
  if (describes(metadata.icc, shape.channels)) return;
  metadata.icc.clear();
  warnings.emplace_back(std::string("The ICC profile is not one of ") +
                        (shape.channels >= 3 ? "RGB" : "grey") +
                        " pixels, as the picture has, and was left out.");
}

void swap_red_and_blue(std::byte* pixels, std::size_t count, std::size_t channels, std::size_t size) {
  for (std::size_t i = 0; i < count; ++i, pixels += channels * size)
    std::swap_ranges(pixels, pixels + size, pixels + 2 * size);
}

void not_encoded(const char* format, const std::string& reason) {
  throw Error(ErrorKind::environment, std::string(format) + " could not be encoded: " + reason + ".");
}

void accept_rows(std::uint64_t width, std::uint64_t height, int channels, Type type, std::uint64_t held,
                 const ReadOptions& options) {
  ReadOptions rows = options;
  rows.limits = without_bytes(options.limits);
  if (held > options.limits.bytes)
    throw Error(ErrorKind::input, "reading its rows needs " + std::to_string(held) +
                                      " bytes of memory, which is over the limit of " +
                                      std::to_string(options.limits.bytes) + ". Raise it (--max-bytes).");
  accept(width, height, channels, type, rows, held);
}

Picture read_stored(Bytes file, const StoredRows& rows, const ReadOptions& options) {
  const Shape& shape = rows.shape;
  Picture picture =
      allocate(static_cast<std::uint64_t>(shape.width), static_cast<std::uint64_t>(shape.height),
               shape.channels, shape.type, shape.alpha, options);
  for (std::int64_t y = 0; y < shape.height; ++y)
    rows.decode(file.subspan(rows.start + static_cast<std::size_t>(y) * rows.row_bytes, rows.row_bytes),
                row_of(picture.image, rows.upwards ? shape.height - 1 - y : y));
  picture.warnings = rows.warnings;
  return picture;
}

std::unique_ptr<RowReader> stored_rows(const InputFile& file, StoredRows rows, const ReadOptions& options) {
  const Shape& shape = rows.shape;
  const std::size_t whole = rows.row_bytes * static_cast<std::size_t>(shape.height);
  const std::size_t held =
      std::min(whole, std::max(read_bytes / rows.row_bytes, std::size_t{1}) * rows.row_bytes);
  accept_rows(static_cast<std::uint64_t>(shape.width), static_cast<std::uint64_t>(shape.height),
              shape.channels, shape.type, held, options);
  return std::make_unique<RowsAsStored>(file, std::move(rows), held);
}

}  // namespace satin::io
