// TGA: colours of 15 to 32 bits, palettes and grey, with and without run lengths. Writes files without them.

#include <algorithm>
#include <array>
#include <cstring>

#include "io/codec_steps.h"

namespace satin::io {
namespace {

constexpr const char* format = "TGA";
constexpr std::size_t header_size = 18;
constexpr unsigned mapped = 1, true_colour = 2, gray = 3, run_lengths = 8;
constexpr unsigned alpha_bits = 0x0F, right_to_left = 0x10, top_down = 0x20;  // bits of the descriptor
constexpr std::string_view signature{"TRUEVISION-XFILE.\0", 18};

// TGA has no signature. A file is recognised if every field of its header makes sense.
bool sniff_tga(Bytes bytes, std::string_view extension) {
  if (bytes.size() <= header_size) return false;
  const unsigned map = byte_at(bytes, 1), type = byte_at(bytes, 2) & ~run_lengths;
  const unsigned map_bits = byte_at(bytes, 7), bits = byte_at(bytes, 16), descriptor = byte_at(bytes, 17);
  if (byte_at(bytes, 2) > 11 || type < 1 || type > 3 || map > 1) return false;
  if (le16(bytes, 12) == 0 || le16(bytes, 14) == 0 || (descriptor & 0xC0U) != 0 || (descriptor & 15U) > 8)
    return false;
  const auto among = [](unsigned value, auto... allowed) { return ((value == allowed) || ...); };
  if (map == 1 ? !among(map_bits, 15U, 16U, 24U, 32U) : type == mapped) return false;
  if (type == mapped && (!among(bits, 8U, 16U) || le16(bytes, 5) == 0)) return false;
  if (type == true_colour && !among(bits, 15U, 16U, 24U, 32U)) return false;
  if (type == gray && !among(bits, 8U, 16U)) return false;
  // The palette fields are unused without a palette. Unless the file is called .tga, they must be zero.
  return extension == ".tga" || map == 1 || (le16(bytes, 3) == 0 && le16(bytes, 5) == 0);
}

/// Meaning of the fourth channel, from the extension area that the footer (the last 26 bytes) points to.
enum class AlphaType : std::uint8_t { unknown, undefined, straight, premultiplied };

AlphaType alpha_type(Bytes bytes) {
  constexpr std::size_t footer = 26, type_at = 494;
  if (bytes.size() < footer || !starts_with(bytes, signature, bytes.size() - signature.size()))
    return AlphaType::unknown;
  const std::size_t area = le32(bytes, bytes.size() - footer);
  if (area == 0 || area + type_at >= bytes.size()) return AlphaType::unknown;
  constexpr std::array types{AlphaType::unknown, AlphaType::undefined, AlphaType::undefined,
                             AlphaType::straight, AlphaType::premultiplied};
  const unsigned type = byte_at(bytes, area + type_at);
  return type < types.size() ? types[type] : AlphaType::unknown;
}

using Colour = std::array<std::uint8_t, 4>;  // red, green, blue, alpha

std::uint8_t five_bits(unsigned value) { return static_cast<std::uint8_t>(((value & 31U) * 255 + 15) / 31); }

Colour colour_of(const std::byte* stored, unsigned bits) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint8_t>(stored[i]); };
  if (bits >= 24) return {at(2), at(1), at(0), bits == 32 ? at(3) : std::uint8_t{255}};
  const unsigned word = at(0) | unsigned{at(1)} << 8;
  return {five_bits(word >> 10), five_bits(word >> 5), five_bits(word),
          (word & 0x8000U) != 0 ? std::uint8_t{255} : std::uint8_t{0}};
}

struct Header {
  unsigned type = 0;
  bool has_runs = false;
  std::uint64_t width = 0, height = 0;
  unsigned bits = 0, colour_bits = 0;  ///< bits of a stored pixel and of a palette entry
  unsigned descriptor = 0;
  unsigned first_index = 0;
  std::vector<Colour> palette{};
  Bytes data{};

  [[nodiscard]] std::uint64_t pixels() const { return width * height; }
  [[nodiscard]] std::size_t pixel_bytes() const { return (bits + 7) / 8; }

  [[nodiscard]] Colour colour(const std::byte* stored) const {
    const auto at = [&](std::size_t i) { return std::to_integer<std::uint8_t>(stored[i]); };
    if (type == gray) return {at(0), bits == 16 ? at(1) : std::uint8_t{255}, 0, 0};
    if (type == true_colour) return colour_of(stored, bits);
    const unsigned index = at(0) | (bits == 16 ? unsigned{at(1)} << 8 : 0U);
    if (index < first_index || index - first_index >= palette.size())
      damaged(format, "a pixel has a colour that the palette lacks");
    return palette[index - first_index];
  }
};

Header read_header(Bytes bytes, const ReadLimits& limits) {
  Header header;
  header.type = byte_at(bytes, 2) & ~run_lengths;
  header.has_runs = (byte_at(bytes, 2) & run_lengths) != 0;
  header.width = le16(bytes, 12);
  header.height = le16(bytes, 14);
  header.bits = byte_at(bytes, 16);
  header.descriptor = byte_at(bytes, 17);
  check_limits(header.width, header.height, 1, Type::u8, limits);

  const bool has_palette = byte_at(bytes, 1) != 0;
  const std::size_t entries = has_palette ? le16(bytes, 5) : 0, map_bits = byte_at(bytes, 7);
  const std::size_t map_at = header_size + byte_at(bytes, 0), entry = (map_bits + 7) / 8;
  if (map_at + entries * entry > bytes.size()) truncated(format);
  header.data = bytes.subspan(map_at + entries * entry);
  header.colour_bits = header.type == mapped ? static_cast<unsigned>(map_bits) : header.bits;
  if (header.type == mapped) {
    header.first_index = le16(bytes, 3);
    for (std::size_t i = 0; i < entries; ++i)
      header.palette.push_back(colour_of(bytes.data() + map_at + i * entry, header.colour_bits));
  }
  // A run of 128 pixels has one byte and one pixel.
  const std::uint64_t stored = header.data.size(), size = header.pixel_bytes();
  if (header.has_runs ? header.pixels() / 128 > stored / (1 + size) : header.pixels() > stored / size)
    truncated(format);
  return header;
}

/// Calls visit(stored) for every pixel in the order of the file.
template <class Visit>
void for_each_pixel(const Header& header, const Visit& visit) {
  const std::size_t size = header.pixel_bytes();
  Bytes data = header.data;
  for (std::uint64_t left = header.pixels(); left > 0;) {
    std::uint64_t count = left;
    bool repeated = false;
    if (header.has_runs) {
      if (data.empty()) truncated(format);
      repeated = (byte_at(data, 0) & 128U) != 0;
      count = std::min<std::uint64_t>(left, (byte_at(data, 0) & 127U) + 1);
      data = data.subspan(1);
    }
    const std::size_t stored = (repeated ? 1 : count) * size;
    if (stored > data.size()) truncated(format);
    for (std::uint64_t i = 0; i < count; ++i) visit(data.data() + (repeated ? 0 : i * size));
    data = data.subspan(stored);
    left -= count;
  }
}

/// Whether the fourth channel is alpha. The bit beside 15 bits of colour is alpha if the descriptor counts
/// it. A byte is also alpha if the descriptor counts no bits, as many writers leave it, but some pixel sets
/// one.
bool has_alpha(const Header& header, AlphaType type) {
  const bool counted = (header.descriptor & alpha_bits) != 0;
  const bool is_gray = header.type == gray;
  if (type == AlphaType::undefined || header.colour_bits == 24 || (header.colour_bits == 8 && is_gray))
    return false;
  if (counted || (!is_gray && header.colour_bits <= 16)) return counted && header.colour_bits != 15;
  bool is_set = false;
  const auto look = [&](const Colour& colour) { is_set |= colour[is_gray ? 1 : 3] != 0; };
  std::for_each(header.palette.begin(), header.palette.end(), look);
  if (header.type != mapped)
    for_each_pixel(header, [&](const std::byte* stored) { look(header.colour(stored)); });
  return is_set;
}

Picture decode_tga(Bytes bytes, const ReadOptions& options) {
  const Header header = read_header(bytes, options.limits);
  const AlphaType type = alpha_type(bytes);
  const bool alpha = has_alpha(header, type);
  const int channels = (header.type == gray ? 1 : 3) + (alpha ? 1 : 0);
  Image image = allocate(header.width, header.height, channels, Type::u8, alpha_of(channels), options);

  const bool mirrored = (header.descriptor & right_to_left) != 0;
  std::uint64_t x = 0, y = 0;
  for_each_pixel(header, [&](const std::byte* stored) {
    const Colour colour = header.colour(stored);
    const auto size = static_cast<std::size_t>(channels);
    const std::uint64_t row = (header.descriptor & top_down) != 0 ? y : header.height - 1 - y;
    const std::uint64_t column = mirrored ? header.width - 1 - x : x;
    std::memcpy(image.data() + (row * header.width + column) * size, colour.data(), size);
    if (++x == header.width) {
      x = 0;
      ++y;
    }
  });
  if (alpha && type == AlphaType::premultiplied) divide_by_alpha(image);
  return image;
}

FileBytes encode_tga(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto width = static_cast<std::size_t>(shape.width);
  Sink sink;
  sink.u8(0);
  sink.u8(0);
  sink.u8(channels >= 3 ? true_colour : gray);
  sink.le32(0);
  sink.u8(0);
  sink.le32(0);  // origin
  sink.le16(static_cast<unsigned>(shape.width));
  sink.le16(static_cast<unsigned>(shape.height));
  sink.u8(static_cast<unsigned>(channels) * 8);
  sink.u8(top_down | (channels % 2 == 0 ? 8U : 0U));
  FileBytes row(width * channels);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    std::memcpy(row.data(), image.at(0, y), row.size());
    if (channels >= 3) swap_red_and_blue(row.data(), width, channels, 1);
    sink.add(row);
  }
  sink.le32(0);  // no extension area, no developer area
  sink.le32(0);
  sink.text(signature);
  return std::move(sink.bytes);
}

}  // namespace

Codec tga_codec() {
  Codec codec{"TGA", {".tga"}, sniff_tga, decode_tga, encode_tga};
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 2, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight);
  codec.holds.max_side = 65535;
  return codec;
}

}  // namespace satin::io
