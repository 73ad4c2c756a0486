// NPY, the array files of NumPy: shape (h, w) or (h, w, c), rows from top to bottom. The shortest codec that
// can read row by row.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "io/codec_steps.h"

namespace satin::io {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::array<std::pair<std::string_view, Type>, 6> type_codes{{{"u1", Type::u8},
                                                                       {"u2", Type::u16},
                                                                       {"u4", Type::u32},
                                                                       {"u8", Type::u64},
                                                                       {"f4", Type::f32},
                                                                       {"f8", Type::f64}}};

bool sniff_npy(Bytes bytes, std::string_view) { return starts_with(bytes, magic); }

/// Returns the text after `'key':` in the header, without leading blanks.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted = std::string("'").append(key).append("'");
  std::size_t at = header.find(quoted);
  if (at != std::string_view::npos) at = header.find(':', at + quoted.size());
  if (at == std::string_view::npos) damaged("NPY", "its header has no " + quoted);
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string_view::npos ? std::string_view() : header.substr(at);
}

struct Header {
  Type type = Type::u8;
  bool little = true;
  std::array<std::uint64_t, 3> sizes{0, 0, 1};  ///< height, width, channels

  [[nodiscard]] Shape shape() const {
    return shape_of(sizes[1], sizes[0], static_cast<int>(sizes[2]), type, Alpha::none);
  }
};

void read_type(std::string_view value, Header& header) {
  const std::size_t end = value.empty() ? 0 : value.find(value[0], 1);
  if (end == 0 || end == std::string_view::npos || (value[0] != '\'' && value[0] != '"'))
    unsupported("NPY", "structured values", "Save an array of numbers.");
  const std::string_view code = value.substr(1, end - 1);
  for (const auto& [name, type] : type_codes)
    if (code.size() == 3 && code.substr(1) == name && (code[0] == '<' || code[0] == '>' || code[0] == '|')) {
      header.type = type;
      header.little = code[0] != '>';
      return;
    }
  unsupported("NPY", "values of type '" + std::string(code.substr(0, 20)) + "'",
              "Convert it with astype() to uint8, uint16, uint32, uint64, float32 or float64.");
}

void read_sizes(std::string_view value, Header& header) {
  const std::size_t end = value.find(')');
  if (value.empty() || value[0] != '(' || end == std::string_view::npos)
    damaged("NPY", "its shape is not a tuple");
  const char* at = value.data() + 1;
  const char* const last = value.data() + end;
  std::size_t count = 0;
  while (true) {
    while (at != last && (*at == ' ' || *at == ',' || *at == 'L')) ++at;
    if (at == last) break;
    std::uint64_t size = 0;
    const auto [next, error] = std::from_chars(at, last, size);
    if (error != std::errc()) damaged("NPY", "its shape does not consist of numbers");
    if (count < header.sizes.size()) header.sizes[count] = size;
    ++count;
    at = next;
  }
  if (count != 2 && count != 3)
    unsupported("NPY", std::to_string(count) + " dimensions", "Save an array of shape (h, w) or (h, w, c).");
}

/// Reads the header and removes it from `bytes`.
Header read_header(Bytes& bytes) {
  const std::size_t length_size = bytes.size() > 6 && byte_at(bytes, 6) >= 2 ? 4 : 2;
  const std::size_t start = 8 + length_size;
  if (bytes.size() < start) truncated("NPY");
  const std::size_t length = length_size == 2 ? le16(bytes, 8) : le32(bytes, 8);
  if (length > bytes.size() - start) truncated("NPY");
  const std::string_view text = text_of(bytes.subspan(start, length));
  bytes = bytes.subspan(start + length);

  Header header;
  read_type(value_of(text, "descr"), header);
  read_sizes(value_of(text, "shape"), header);
  if (value_of(text, "fortran_order").substr(0, 4) == "True")
    unsupported("NPY", "columns stored one after the other", "Save it through numpy.ascontiguousarray().");
  if (const auto [height, width, channels] = header.sizes; channels > 4)
    unsupported(
        "NPY",
        "the shape (" + std::to_string(height) + ", " + std::to_string(width) + ", " +
            std::to_string(channels) + ")",
        "Save an array of shape (h, w) or (h, w, c) with 1 to 4 channels c: numpy.moveaxis() changes the "
        "order.");
  return header;
}

/// Reads and checks the header.
StoredRows find_rows(Bytes file, const ReadLimits& limits) {
  Bytes data = file;
  const Header header = read_header(data);
  const auto [height, width, channels] = header.sizes;
  check_limits(width, height, static_cast<int>(channels), header.type, limits);
  const std::size_t size = size_of(header.type), samples = width * channels;
  if (data.size() / size < samples * height) truncated("NPY");
  StoredRows rows{"NPY", header.shape()};
  rows.start = file.size() - data.size();
  rows.row_bytes = samples * size;
  const bool swapped = header.little != (std::endian::native == std::endian::little);
  rows.decode = [size, samples, swapped](Bytes stored, std::byte* pixels) {
    std::memcpy(pixels, stored.data(), stored.size());
    if (swapped) swap_bytes(pixels, samples, size);
  };
  return rows;
}

Picture decode_npy(Bytes bytes, const ReadOptions& options) {
  return read_stored(bytes, find_rows(bytes, options.limits), options);
}

std::unique_ptr<RowReader> open_npy_rows(const InputFile& file, Bytes bytes, const FilePicture&,
                                         const ReadOptions& options) {
  return stored_rows(file, find_rows(bytes, without_bytes(options.limits)), options);
}

FileBytes encode_npy(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const char* order = shape.type == Type::u8 ? "|" : std::endian::native == std::endian::little ? "<" : ">";
  std::string text = "{'descr': '" + std::string(order);
  for (const auto& [name, type] : type_codes)
    if (type == shape.type) text += name;
  text += "', 'fortran_order': False, 'shape': (" + std::to_string(shape.height) + ", " +
          std::to_string(shape.width);
  if (shape.channels > 1) text += ", " + std::to_string(shape.channels);
  text += "), }";
  // The data begins at a multiple of 64 bytes.
  constexpr std::size_t fixed = 10, alignment = 64;
  while ((fixed + text.size() + 1) % alignment != 0) text += ' ';
  text += '\n';

  Sink sink;
  sink.text(magic);
  sink.u8(1);
  sink.u8(0);
  sink.le16(static_cast<unsigned>(text.size()));
  sink.text(text);
  sink.add({image.data, byte_size(shape)});
  return std::move(sink.bytes);
}

}  // namespace

Codec npy_codec() {
  Codec codec{"NPY", {".npy"}, sniff_npy, decode_npy, encode_npy};
  codec.shape = [](Bytes start) { return read_header(start).shape(); };
  codec.open_rows = open_npy_rows;
  codec.holds.types = set_of(Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64);
  codec.holds.channels = set_of(1, 2, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight, Alpha::premultiplied);
  codec.holds.extra = true;
  return codec;
}

}  // namespace satin::io
