// BMP: the headers of Windows and OS/2, with palettes, run lengths and masks. Writes files without
// compression.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "io/codec_steps.h"

namespace satin::io {
namespace {

constexpr const char* format = "BMP";
constexpr std::size_t file_header = 14;
constexpr unsigned core_header = 12, info_header = 40, v2_header = 52, v3_header = 56;
constexpr unsigned os2_smallest = 16, os2_header = 64, v4_header = 108, v5_header = 124;
constexpr unsigned uncompressed = 0, rle8 = 1, rle4 = 2, bit_fields = 3, alpha_bit_fields = 6;
constexpr std::size_t masks_at = file_header + 40;

bool sniff_bmp(Bytes bytes, std::string_view) {
  if (!starts_with(bytes, "BM") || bytes.size() < file_header + core_header) return false;
  const std::uint32_t size = le32(bytes, file_header);
  return size == core_header || (size >= os2_smallest && size <= os2_header) || size == v4_header ||
         size == v5_header;
}

/// Adjacent bits of a pixel that hold one channel.
struct Field {
  std::uint32_t mask = 0;
  int shift = 0;

  /// Returns the channel of a pixel, rounded to 8 bits.
  [[nodiscard]] std::byte operator()(std::uint32_t pixel) const {
    const std::uint64_t highest = mask >> shift, value = (pixel & mask) >> shift;
    return static_cast<std::byte>(highest == 0 || highest == 255 ? value
                                                                 : (value * 255 + highest / 2) / highest);
  }
};

struct Header {
  std::uint32_t size = 0;  ///< size of the header after the file header
  std::uint64_t width = 0, height = 0;
  bool top_down = false;
  unsigned bits = 0;
  std::uint32_t compression = uncompressed;
  std::array<Field, 4> fields{};                        ///< red, green, blue and alpha in 16 to 32 bits
  std::array<std::array<std::byte, 3>, 256> colours{};  ///< palette for 1 to 8 bits
  unsigned colour_count = 0;
  Bytes data;  ///< stored pixels

  [[nodiscard]] bool is_os2() const {
    return size < info_header ||
           (size > info_header && size <= os2_header && size != v2_header && size != v3_header);
  }
  [[nodiscard]] bool has_palette() const { return bits <= 8; }
  [[nodiscard]] bool has_runs() const { return compression == rle8 || compression == rle4; }
  [[nodiscard]] bool has_masks() const {
    return compression == bit_fields || compression == alpha_bit_fields;
  }
  [[nodiscard]] std::uint64_t used_bytes() const { return (width * bits + 7) / 8; }
  [[nodiscard]] std::uint64_t row_bytes() const { return (used_bytes() + 3) / 4 * 4; }
  [[nodiscard]] const std::byte* stored_row(std::uint64_t y) const { return data.data() + y * row_bytes(); }
  [[nodiscard]] std::int64_t row(std::uint64_t y) const {
    return static_cast<std::int64_t>(top_down ? y : height - 1 - y);
  }
};

void check_coding(const Header& header) {
  const auto is_one_of = [](unsigned value, auto... allowed) { return ((value == allowed) || ...); };
  const std::uint32_t compression = header.compression;
  const bool is_read = compression == uncompressed ? is_one_of(header.bits, 1U, 2U, 4U, 8U, 16U, 24U, 32U)
                       : compression == rle8       ? header.bits == 8
                       : compression == rle4
                           ? header.bits == 4
                           : header.has_masks() && !header.is_os2() && is_one_of(header.bits, 16U, 32U);
  if (is_read) return;
  constexpr std::uint32_t jpeg = 4, png = 5;
  if (!header.is_os2() && (compression == jpeg || compression == png))
    unsupported(format, compression == jpeg ? "a JPEG inside" : "a PNG inside",
                "It is meant for printers. Save it without compression, or as .png or .jpg.");
  unsupported(format,
              std::to_string(header.bits) + " bits a pixel in compression " + std::to_string(compression) +
                  (header.is_os2() ? " of OS/2" : ""),
              "Save it with 8 or 24 bits a pixel and without compression.");
}

void read_masks(Bytes bytes, Header& header) {
  std::array<std::uint32_t, 4> masks{0x00FF0000U, 0x0000FF00U, 0x000000FFU, 0};
  if (header.bits == 16) masks = {0x7C00U, 0x03E0U, 0x001FU, 0};
  if (header.bits == 32) masks[3] = 0xFF000000U;
  if (header.has_masks()) {
    const bool has_alpha_mask =
        header.size >= v3_header || (header.size == info_header && header.compression == alpha_bit_fields);
    masks[3] = 0;
    for (std::size_t i = 0; i < (has_alpha_mask ? masks.size() : 3); ++i)
      masks[i] = le32(bytes, masks_at + 4 * i);
    if ((masks[0] | masks[1] | masks[2]) == 0) damaged(format, "its masks of colours are empty");
  }
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const int shift = masks[i] == 0 ? 0 : std::countr_zero(masks[i]);
    if (!std::has_single_bit(std::uint64_t{masks[i] >> shift} + 1) ||
        std::uint64_t{masks[i]} >> header.bits != 0)
      damaged(format, "the mask of a channel is not one run of adjacent bits");
    header.fields[i] = {masks[i], shift};
  }
}

/// Reads `count` palette entries after the headers, or as many as precede the pixels.
void read_palette(Bytes stored, std::uint32_t count, Header& header) {
  const unsigned most = 1U << header.bits;
  const std::size_t entry = header.size == core_header ? 3 : 4;
  header.colour_count = static_cast<unsigned>(
      std::min<std::size_t>(count == 0 || count > most ? most : count, stored.size() / entry));
  if (header.colour_count == 0) damaged(format, "its palette is missing");
  for (std::size_t i = 0; i < header.colour_count; ++i)
    for (std::size_t c = 0; c < 3; ++c) header.colours[i][c] = stored[i * entry + 2 - c];
}

/// Checks that the data can hold the rows, or run lengths for that many pixels.
void check_rows(const Header& header, const ReadLimits& limits) {
  check_limits(header.width, header.height, 1, Type::u8, limits);
  const std::uint64_t stored = header.data.size();
  if (!header.has_runs()) {
    if (stored < header.used_bytes() ||
        (stored - header.used_bytes()) / header.row_bytes() < header.height - 1)
      truncated(format);
    return;
  }
  // Two bytes encode at most 255 pixels. Small pictures may skip most of theirs.
  constexpr std::uint64_t small = std::uint64_t{1} << 22;
  const std::uint64_t pixels = header.width * header.height;
  if (pixels > small && pixels / 128 > stored) truncated(format);
}

Header read_header(Bytes bytes, const ReadLimits& limits) {
  Header header;
  header.size = le32(bytes, file_header);
  if (bytes.size() < file_header + header.size) truncated(format);
  // Fields beyond a short header are 0.
  const auto field = [&](std::size_t at) {
    return at + 4 <= header.size ? le32(bytes, file_header + at) : std::uint32_t{0};
  };
  const bool core = header.size == core_header;
  const auto size_at = [&](std::size_t place) -> std::int64_t {
    if (core) return le16(bytes, file_header + 4 + 2 * place);
    return static_cast<std::int32_t>(field(4 + 4 * place));
  };
  const std::int64_t width = size_at(0), height = size_at(1);
  if (width < 0) damaged(format, "its width is negative");
  header.width = static_cast<std::uint64_t>(width);
  header.top_down = height < 0;
  header.height = static_cast<std::uint64_t>(header.top_down ? -height : height);
  const std::uint32_t planes_and_bits = core ? le32(bytes, file_header + 8) : field(12);
  header.bits = planes_and_bits >> 16;
  header.compression = field(16);
  if ((planes_and_bits & 0xFFFFU) != 1) damaged(format, "its number of planes is not 1");
  check_coding(header);

  std::size_t behind = file_header + header.size;
  if (header.has_masks() && header.size == info_header) behind += header.compression == bit_fields ? 12 : 16;
  const std::size_t pixels = le32(bytes, 10);
  if (pixels > bytes.size() || behind > bytes.size()) truncated(format);
  if (pixels < behind) damaged(format, "its pixels begin inside its header");
  header.data = bytes.subspan(pixels);
  check_rows(header, limits);
  if (header.has_palette()) {
    read_palette(bytes.subspan(behind, pixels - behind), field(32), header);
  } else {
    read_masks(bytes, header);
  }
  return header;
}

/// Returns the stored bits of pixel `x`: 16 or 32 of them.
std::uint32_t pixel_at(const std::byte* row, std::size_t x, unsigned bits) {
  const Bytes stored(row + x * (bits / 8), bits / 8);
  return bits == 32 ? le32(stored, 0) : le16(stored, 0);
}

/// Whether the bits beside the colours are alpha. From version 4 of the header on, the mask of alpha says so.
/// Older headers do not say whether these bits are used, and neither do 32 bits without masks: they are alpha
/// if any pixel sets one.
bool has_alpha(const Header& header) {
  const std::uint32_t mask = header.fields[3].mask;
  if (mask == 0 || (header.has_masks() && header.size >= v4_header)) return mask != 0;
  for (std::uint64_t y = 0; y < header.height; ++y)
    for (std::size_t x = 0; x < header.width; ++x)
      if ((pixel_at(header.stored_row(y), x, header.bits) & mask) != 0) return true;
  return false;
}

void read_colours(const Header& header, Image& image) {
  const auto channels = static_cast<std::size_t>(image.shape().channels);
  for (std::uint64_t y = 0; y < header.height; ++y) {
    const std::byte* const row = header.stored_row(y);
    std::byte* target = row_of(image, header.row(y));
    if (header.bits == 24) {
      std::memcpy(target, row, header.width * channels);
      swap_red_and_blue(target, header.width, channels, 1);
      continue;
    }
    for (std::size_t x = 0; x < header.width; ++x) {
      const std::uint32_t pixel = pixel_at(row, x, header.bits);
      for (std::size_t c = 0; c < channels; ++c) *target++ = header.fields[c](pixel);
    }
  }
}

/// Writes pixels by their index in the palette.
class PaletteWriter {
 public:
  PaletteWriter(const Header& header, Image& image)
      : header_(header), image_(image), channels_(static_cast<std::size_t>(image.shape().channels)) {}

  void read_rows() {
    const unsigned bits = header_.bits;
    for (std::uint64_t y = 0; y < header_.height; ++y) {
      const std::byte* const row = header_.stored_row(y);
      std::byte* target = row_of(image_, header_.row(y));
      for (std::uint64_t x = 0; x < header_.width; ++x) {
        const auto shift = static_cast<unsigned>(8 - bits - x * bits % 8);
        put(target, std::to_integer<unsigned>(row[x * bits / 8]) >> shift & ((1U << bits) - 1));
      }
    }
  }

  /// Decodes run lengths. Pixels without a run have the first colour.
  void read_runs() {
    std::byte* target = image_.data();
    for (std::uint64_t i = 0; i < header_.width * header_.height; ++i) put(target, 0);
    const Bytes data = header_.data;
    std::uint64_t x = 0, y = 0;
    for (std::size_t at = 0; y < header_.height;) {
      if (at + 2 > data.size()) {
        if (x == header_.width && y + 1 == header_.height) return;
        truncated(format);
      }
      const unsigned count = byte_at(data, at), code = byte_at(data, at + 1);
      constexpr unsigned end_of_line = 0, end_of_picture = 1, delta = 2;
      at += 2;
      if (count != 0) {
        put_run(x, y, count, data.subspan(at - 1, 1));
      } else if (code == end_of_line) {
        x = 0;
        ++y;
      } else if (code == end_of_picture) {
        return;
      } else if (code == delta) {
        if (at + 2 > data.size()) truncated(format);
        x += byte_at(data, at);
        y += byte_at(data, at + 1);
        at += 2;
        if (x > header_.width || y > header_.height) damaged(format, "a step leaves the picture");
      } else {
        const std::size_t bytes = (code * header_.bits + 7) / 8;
        if (bytes > data.size() - at) truncated(format);
        put_run(x, y, code, data.subspan(at, bytes));
        at += (bytes + 1) / 2 * 2;
      }
    }
  }

 private:
  void put(std::byte*& target, unsigned index) {
    if (index >= header_.colour_count) damaged(format, "a pixel has a colour that the palette lacks");
    std::memcpy(target, header_.colours[index].data(), channels_);
    target += channels_;
  }

  /// Writes `count` pixels by the indices in `stored`, repeated as needed.
  void put_run(std::uint64_t& x, std::uint64_t y, unsigned count, Bytes stored) {
    if (count > header_.width - x) damaged(format, "a run of pixels does not fit its row");
    std::byte* target = row_of(image_, header_.row(y)) + x * channels_;
    const std::size_t per_byte = 8 / header_.bits;
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned value = byte_at(stored, i / per_byte % stored.size());
      put(target, header_.bits == 8 ? value : value >> (i % 2 == 0 ? 4 : 0) & 15U);
    }
    x += count;
  }

  const Header& header_;
  Image& image_;
  std::size_t channels_;
};

/// Returns the channels of the picture: one if its palette is all grey.
int channels_of(const Header& header) {
  if (!header.has_palette()) return has_alpha(header) ? 4 : 3;
  const auto first = header.colours.begin();
  return std::all_of(first, first + header.colour_count,
                     [](const auto& colour) { return colour[0] == colour[1] && colour[0] == colour[2]; })
             ? 1
             : 3;
}

Picture decode_bmp(Bytes bytes, const ReadOptions& options) {
  const Header header = read_header(bytes, options.limits);
  const int channels = channels_of(header);
  Image image = allocate(header.width, header.height, channels, Type::u8, alpha_of(channels), options);
  if (!header.has_palette()) {
    read_colours(header, image);
  } else if (header.has_runs()) {
    PaletteWriter(header, image).read_runs();
  } else {
    PaletteWriter(header, image).read_rows();
  }
  return image;
}

void write_headers(Sink& sink, const Shape& shape, std::uint32_t row_bytes) {
  const bool alpha = shape.channels == 4;
  const std::uint32_t header = alpha ? v4_header : info_header;
  const std::uint32_t palette = shape.channels == 1 ? 256 * 4 : 0;
  const std::uint32_t offset = static_cast<std::uint32_t>(file_header) + header + palette;
  const std::uint32_t pixels = row_bytes * static_cast<std::uint32_t>(shape.height);
  sink.text("BM");
  sink.le32(offset + pixels);
  sink.le32(0);
  sink.le32(offset);
  sink.le32(header);
  sink.le32(static_cast<std::uint32_t>(shape.width));
  sink.le32(static_cast<std::uint32_t>(shape.height));
  sink.le16(1);  // planes
  sink.le16(static_cast<unsigned>(shape.channels) * 8);
  sink.le32(alpha ? bit_fields : uncompressed);
  sink.le32(pixels);
  for (int i = 0; i < 2; ++i) sink.le32(2835);  // 72 dots an inch
  for (int i = 0; i < 2; ++i) sink.le32(0);     // colours used and important: all
  if (alpha) {
    for (const std::uint32_t mask : {0x00FF0000U, 0x0000FF00U, 0x000000FFU, 0xFF000000U}) sink.le32(mask);
    sink.le32(0x73524742);  // colour space: "sRGB"
    for (int i = 0; i < 12; ++i) sink.le32(0);
  }
  for (std::uint32_t gray = 0; gray * 4 < palette; ++gray) sink.le32(gray * 0x010101U);
}

FileBytes encode_bmp(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto width = static_cast<std::size_t>(shape.width);
  FileBytes row((width * channels + 3) / 4 * 4);
  Sink sink;
  write_headers(sink, shape, static_cast<std::uint32_t>(row.size()));
  for (std::int64_t y = shape.height - 1; y >= 0; --y) {
    std::memcpy(row.data(), image.at(0, y), width * channels);
    if (channels >= 3) swap_red_and_blue(row.data(), width, channels, 1);
    sink.add(row);
  }
  return std::move(sink.bytes);
}

}  // namespace

Codec bmp_codec() {
  Codec codec{"BMP", {".bmp", ".dib"}, sniff_bmp, decode_bmp, encode_bmp};
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight);
  codec.holds.max_side = 32767;  // the size of the file has 32 bits
  return codec;
}

}  // namespace satin::io
