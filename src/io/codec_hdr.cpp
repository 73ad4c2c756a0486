// Radiance HDR (RGBE), with and without run lengths. Writes run lengths for all widths that allow them.

#include <algorithm>
#include <array>
#include <cmath>

#include "io/codec_steps.h"
#include "satin/error.h"

namespace satin::io {
namespace {

bool sniff_hdr(Bytes bytes, std::string_view) {
  return starts_with(bytes, "#?RADIANCE\n") || starts_with(bytes, "#?RGBE\n");
}

constexpr const char* format = "HDR";

using Pixel = std::array<unsigned char, 4>;  // red, green, blue, exponent

/// Cursor over the bytes of the file.
class Source {
 public:
  explicit Source(Bytes bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  std::string_view line() {
    const std::size_t start = at_;
    while (at_ < bytes_.size() && bytes_[at_] != std::byte{'\n'}) ++at_;
    if (at_ == bytes_.size()) truncated(format);
    return text_of(bytes_.subspan(start, at_++ - start));
  }

  unsigned char next() {
    if (at_ == bytes_.size()) truncated(format);
    return std::to_integer<unsigned char>(bytes_[at_++]);
  }

  /// Whether the next row has run lengths.
  [[nodiscard]] bool at_runs(std::size_t width) const {
    return left() >= 4 && be16(bytes_, at_) == 0x0202U && be16(bytes_, at_ + 2) == width;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

void read_runs(Source& source, std::vector<Pixel>& row) {
  for (int i = 0; i < 4; ++i) source.next();
  for (std::size_t plane = 0; plane < 4; ++plane)
    for (std::size_t x = 0; x < row.size();) {
      unsigned count = source.next();
      const bool repeated = count > 128;
      if (repeated) count -= 128;
      if (count == 0 || count > row.size() - x) damaged(format, "a run of pixels does not fit its row");
      const unsigned char value = repeated ? source.next() : static_cast<unsigned char>(0);
      for (; count > 0; --count) row[x++][plane] = repeated ? value : source.next();
    }
}

void store_row(const std::vector<Pixel>& row, float* target) {
  constexpr int bias = 128 + 8;
  for (const Pixel& pixel : row)
    for (std::size_t c = 0; c < 3; ++c)
      *target++ = pixel[3] == 0 ? 0.0F : std::ldexp(static_cast<float>(pixel[c]), pixel[3] - bias);
}

/// Reads the line "-Y 480 +X 640". Programs write rows in no other order.
std::array<std::uint64_t, 2> read_size(std::string_view line) {
  TextHeader text(std::as_bytes(std::span(line)), format, 0);
  const auto side = [&](std::string_view direction) {
    if (text.word() != direction)
      unsupported(format, "rows in another order", "Save it with rows from top to bottom.");
    return text.number();
  };
  const std::uint64_t height = side("-Y");
  return {side("+X"), height};
}

Picture decode_hdr(Bytes bytes, const ReadOptions& options) {
  Source source(bytes);
  bool known = false;
  for (std::string_view line = source.line(); !line.empty(); line = source.line())
    if (line.rfind("FORMAT=", 0) == 0) known = line == "FORMAT=32-bit_rle_rgbe";
  if (!known) unsupported(format, "values other than RGBE", "Convert it to RGBE or to .pfm first.");
  const auto [width, height] = read_size(source.line());
  check_limits(width, height, 3, Type::f32, options.limits);
  // A run of 127 pixels has two bytes in each of four planes.
  if (height > source.left() || width / 127 * 8 > source.left() / height) truncated(format);
  Image image = allocate(width, height, 3, Type::f32, Alpha::none, options);
  std::vector<Pixel> row(width);
  for (std::uint64_t y = 0; y < height; ++y) {
    if (source.at_runs(width)) {
      read_runs(source, row);
    } else {
      for (Pixel& pixel : row) {
        for (unsigned char& value : pixel) value = source.next();
        if (pixel[0] == 1 && pixel[1] == 1 && pixel[2] == 1)
          unsupported(format, "the run lengths of before 1991", "Save it with a newer program.");
      }
    }
    store_row(row, reinterpret_cast<float*>(row_of(image, static_cast<std::int64_t>(y))));
  }
  return image;
}

/// Returns 8-bit mantissas for the exponent e of the largest channel: v = mantissa * 2^(e - 136).
std::array<unsigned, 4> to_rgbe(const float* rgb) {
  const float largest = std::max({rgb[0], rgb[1], rgb[2]});
  if (largest < 1e-38F) return {0, 0, 0, 0};
  int exponent = 0;
  std::frexp(largest, &exponent);
  const auto mantissa = [&](float v) { return std::lround(std::ldexp(double{v}, 8 - exponent)); };
  if (mantissa(largest) > 255) ++exponent;  // rounded up to the next power of two
  return {static_cast<unsigned>(mantissa(rgb[0])), static_cast<unsigned>(mantissa(rgb[1])),
          static_cast<unsigned>(mantissa(rgb[2])), static_cast<unsigned>(exponent + 128)};
}

/// Writes run lengths: counts above 128 repeat the next byte, others announce that many different bytes.
void write_runs(Sink& sink, const std::vector<unsigned char>& values) {
  const std::size_t count = values.size();
  const auto run_at = [&](std::size_t at) {
    std::size_t length = 1;
    while (at + length < count && length < 127 && values[at + length] == values[at]) ++length;
    return length;
  };
  constexpr std::size_t worth_it = 3;
  std::size_t at = 0;
  while (at < count) {
    const std::size_t run = run_at(at);
    if (run >= worth_it) {
      sink.u8(128 + static_cast<unsigned>(run));
      sink.u8(values[at]);
      at += run;
      continue;
    }
    std::size_t end = at + 1;
    while (end < count && end - at < 128 && run_at(end) < worth_it) ++end;
    sink.u8(static_cast<unsigned>(end - at));
    sink.add(std::as_bytes(std::span(values).subspan(at, end - at)));
    at = end;
  }
}

void check_values(const ImageView& image) {
  constexpr float largest = 1.6e38F;
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    const auto* row = image.row<float>(y);
    for (std::int64_t i = 0; i < image.shape.width * 3; ++i)
      if (!(row[i] >= 0.0F && row[i] <= largest))
        throw Error(ErrorKind::input, "HDR holds no negative, infinite or undefined values, and pixel " +
                                          std::to_string(i / 3) + ", " + std::to_string(y) +
                                          " has one. Write .pfm, .tiff or .npy instead.");
  }
}

FileBytes encode_hdr(const ImageView& image, const WriteOptions&) {
  check_values(image);
  const Shape& shape = image.shape;
  Sink sink;
  sink.text("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y " + std::to_string(shape.height) + " +X " +
            std::to_string(shape.width) + "\n");
  const bool runs = shape.width >= 8 && shape.width < 32768;  // run lengths exist for these widths only
  std::array<std::vector<unsigned char>, 4> planes;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::vector<unsigned char>& plane : planes) plane.clear();
    const auto* row = image.row<float>(y);
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const std::array<unsigned, 4> pixel = to_rgbe(row + x * 3);
      for (std::size_t c = 0; c < 4; ++c) {
        if (runs) planes[c].push_back(static_cast<unsigned char>(pixel[c]));
        if (!runs) sink.u8(pixel[c]);
      }
    }
    if (!runs) continue;
    sink.le16(0x0202);
    sink.u8(static_cast<unsigned>(shape.width) >> 8);
    sink.u8(static_cast<unsigned>(shape.width) & 255U);
    for (const std::vector<unsigned char>& plane : planes) write_runs(sink, plane);
  }
  return std::move(sink.bytes);
}

}  // namespace

Codec hdr_codec() {
  Codec codec{"HDR", {".hdr", ".rgbe"}, sniff_hdr, decode_hdr, encode_hdr};
  codec.holds.types = set_of(Type::f32);
  codec.holds.channels = set_of(3);
  codec.holds.max_side = 1 << 24;
  return codec;
}

}  // namespace satin::io
