// PBM, PGM and PPM, plain and binary, and PAM. Binary files may hold several pictures one after the other.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "io/codec_steps.h"
#include "io/convert.h"
#include "satin/error.h"

namespace satin::io {
namespace {

constexpr const char* format = "PNM";

template <char plain, char binary>
bool sniff_pnm(Bytes bytes, std::string_view) {
  if (bytes.size() < 3 || bytes[0] != std::byte{'P'}) return false;
  const auto space = byte_at(bytes, 2);
  if (space != ' ' && (space < 9 || space > 13) && space != '#') return false;
  return bytes[1] == std::byte{plain} || bytes[1] == std::byte{binary};
}

struct Header {
  char kind = 0;
  std::uint64_t width = 0, height = 0, maximum = 1, channels = 1;
  Alpha alpha = Alpha::none;
  bool is_cmyk = false;  ///< four ink channels that become RGB; the largest value is full ink

  /// Returns the channels of the picture that is read.
  [[nodiscard]] int channels_read() const {
    return is_cmyk ? 3 : static_cast<int>(std::min<std::uint64_t>(channels, 1000));
  }
  [[nodiscard]] Type type() const { return maximum > 255 ? Type::u16 : Type::u8; }
  [[nodiscard]] Shape shape() const { return shape_of(width, height, channels_read(), type(), alpha); }
  [[nodiscard]] std::uint64_t samples() const { return width * height * channels; }
  [[nodiscard]] bool plain() const { return kind <= '3'; }
  /// Returns the bytes of the pixels. For plain files this is the least number.
  [[nodiscard]] std::uint64_t bytes() const {
    if (kind == '4') return (width + 7) / 8 * height;
    return plain() ? samples() : samples() * size_of(type());
  }
};

/// Sets the meaning of the channels from the TUPLTYPE; an unknown or missing one leaves plain channels.
void describe_tuple(std::string_view tuple, Header& header) {
  constexpr std::string_view suffix = "_ALPHA";
  const bool has_alpha = tuple.ends_with(suffix);
  const std::string_view colours = has_alpha ? tuple.substr(0, tuple.size() - suffix.size()) : tuple;
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kinds{
      {{"BLACKANDWHITE", 1}, {"GRAYSCALE", 1}, {"RGB", 3}, {"CMYK", 4}}};
  for (const auto& [name, channels] : kinds) {
    if (colours != name) continue;
    if (header.channels != channels + (has_alpha ? 1 : 0))
      damaged(format, "its TUPLTYPE " + std::string(tuple) + " does not have " +
                          std::to_string(header.channels) + " channels");
    header.is_cmyk = name == "CMYK";
    if (header.is_cmyk && has_alpha)
      unsupported(format, "inks and alpha", "Save it as RGB_ALPHA, or without alpha.");
    header.alpha = has_alpha ? Alpha::straight : Alpha::none;
  }
}

void read_pam_header(TextHeader& text, Header& header) {
  std::string_view word;
  std::string_view tuple;
  header.channels = 0;
  while ((word = text.word()) != "ENDHDR") {
    if (word.empty()) truncated(format);
    if (word == "WIDTH") {
      header.width = text.number();
    } else if (word == "HEIGHT") {
      header.height = text.number();
    } else if (word == "DEPTH") {
      header.channels = text.number();
    } else if (word == "MAXVAL") {
      header.maximum = text.number();
    } else if (word == "TUPLTYPE") {
      tuple = text.word();
    } else {
      damaged(format, "'" + std::string(word.substr(0, 20)) + "' is not a word of a PAM header");
    }
  }
  describe_tuple(tuple, header);
}

Header read_header(TextHeader& text, char kind) {
  Header header;
  header.kind = kind;
  if (kind == '7') {
    read_pam_header(text, header);
  } else {
    header.width = text.number();
    header.height = text.number();
    if (kind != '1' && kind != '4') header.maximum = text.number();
    if (kind == '3' || kind == '6') header.channels = 3;
  }
  if (header.maximum == 0 || header.maximum > 65535) damaged(format, "its largest value is not 1 to 65535");
  return header;
}

/// Stores a sample so that the largest value of the file becomes the largest value of the type.
void store(const Header& header, std::uint64_t value, std::byte* target) {
  const std::uint64_t from = header.maximum, to = header.type() == Type::u8 ? 255 : 65535;
  if (value > from) damaged(format, "a pixel exceeds the largest value of " + std::to_string(from));
  const std::uint64_t scaled = from == to ? value : (value * to + from / 2) / from;
  const auto wide = static_cast<std::uint16_t>(scaled);
  if (to == 255)
    *target = static_cast<std::byte>(scaled);
  else
    std::memcpy(target, &wide, sizeof wide);
}

void read_plain(TextHeader& text, const Header& header, Image& image) {
  const std::size_t size = size_of(header.type());
  for (std::uint64_t i = 0; i < header.samples(); ++i) {
    if (header.kind == '1') {
      image.data()[i] = text.bit() ? std::byte{0} : std::byte{255};
    } else {
      store(header, text.number(), image.data() + i * size);
    }
  }
}

/// Reads a row of one bit a pixel, where 1 is black.
void read_bits(Bytes row, const Header& header, std::byte* target) {
  for (std::uint64_t x = 0; x < header.width; ++x) {
    const bool black = (byte_at(row, x / 8) >> (7 - x % 8) & 1U) != 0;
    *target++ = black ? std::byte{0} : std::byte{255};
  }
}

/// Reads a row of a binary file, with all of its channels.
void read_samples(Bytes row, const Header& header, std::byte* target) {
  const std::size_t size = size_of(header.type());
  if (size == 1 && header.maximum == 255) {
    std::memcpy(target, row.data(), row.size());
    return;
  }
  for (std::size_t at = 0; at < row.size(); at += size)
    store(header, size == 1 ? byte_at(row, at) : be16(row, at), target + at);
}

/// Reads a row of a binary file. Inks become RGB.
void read_row(Bytes row, const Header& header, std::byte* target) {
  if (header.kind == '4') return read_bits(row, header, target);
  if (!header.is_cmyk) return read_samples(row, header, target);
  FileBytes inks(row.size());
  read_samples(row, header, inks.data());
  InkConversion({}, header.type(), false).convert(inks.data(), target, header.width);
}

/// Reads a header and checks the limits.
Header checked_header(TextHeader& text, Bytes bytes, const ReadLimits& limits) {
  const Header header = read_header(text, static_cast<char>(byte_at(bytes, 1)));
  check_limits(header.width, header.height, header.channels_read(), header.type(), limits);
  return header;
}

/// Lists the pictures, including a last one that is truncated.
std::vector<FilePicture> list_pictures(Bytes bytes, const ReadOptions& options) {
  std::vector<FilePicture> pictures;
  for (Bytes rest = bytes;
       pictures.empty() || sniff_pnm<'4', '5'>(rest, {}) || sniff_pnm<'6', '7'>(rest, {});) {
    pictures.push_back({{}, bytes.size() - rest.size()});
    TextHeader text(rest, format, 2);
    const Header header = checked_header(text, rest, options.limits);
    if (header.plain()) break;
    const Bytes data = text.rest();
    if (data.size() < header.bytes()) break;
    rest = data.subspan(header.bytes());
  }
  return pictures;
}

/// Returns the rows of a binary picture, whose header `text` has read.
StoredRows rows_of(Bytes file, const Header& header, TextHeader& text) {
  const Bytes data = text.rest();
  if (data.size() < header.bytes()) truncated(format);
  StoredRows rows{format, header.shape()};
  rows.start = static_cast<std::uint64_t>(data.data() - file.data());
  rows.row_bytes = header.bytes() / header.height;
  rows.decode = [header](Bytes row, std::byte* pixels) { read_row(row, header, pixels); };
  if (header.is_cmyk) rows.warnings = {InkConversion({}, header.type(), false).warning()};
  return rows;
}

Picture decode_pnm(Bytes file, const FilePicture& picture, const ReadOptions& options) {
  TextHeader text(file.subspan(picture.at), format, 2);
  const Header header = checked_header(text, file.subspan(picture.at), options.limits);
  if (!header.plain()) return read_stored(file, rows_of(file, header, text), options);
  if (file.size() - picture.at - text.position() < header.bytes()) truncated(format);
  Image image =
      allocate(header.width, header.height, header.channels_read(), header.type(), header.alpha, options);
  read_plain(text, header, image);
  return image;
}

std::unique_ptr<RowReader> open_pnm_rows(const InputFile& file, Bytes bytes, const FilePicture& picture,
                                         const ReadOptions& options) {
  TextHeader text(bytes.subspan(picture.at), format, 2);
  const Header header = checked_header(text, bytes.subspan(picture.at), without_bytes(options.limits));
  if (header.plain())
    throw Error(ErrorKind::usage,
                "pixels written as numbers are not read row by row. Read the file as a whole (without "
                "--stream), or write it in binary first, for example with pnmtopnm.");
  return stored_rows(file, rows_of(bytes, header, text), options);
}

void write_samples(Sink& sink, const ImageView& image) {
  const std::size_t size = byte_size(image.shape);
  const std::size_t start = sink.position;
  sink.add({image.data, size});
  if (image.shape.type == Type::u16 && std::endian::native == std::endian::little)
    swap_bytes(sink.bytes.data() + start, size / 2, 2);
}

std::string size_text(const Shape& shape) {
  return std::to_string(shape.width) + " " + std::to_string(shape.height);
}
const char* maximum_text(const Shape& shape) { return shape.type == Type::u16 ? "65535" : "255"; }

FileBytes encode_pnm(const ImageView& image, const WriteOptions&) {
  Sink sink;
  sink.text(std::string(image.shape.channels == 1 ? "P5\n" : "P6\n") + size_text(image.shape) + "\n" +
            maximum_text(image.shape) + "\n");
  write_samples(sink, image);
  return std::move(sink.bytes);
}

FileBytes encode_pam(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  std::string tuple = shape.channels >= 3 ? "RGB" : "GRAYSCALE";
  if (shape.alpha == Alpha::straight) tuple += "_ALPHA";
  if (shape.alpha == Alpha::none && shape.channels % 2 == 0) tuple = "CHANNELS";
  Sink sink;
  sink.text("P7\nWIDTH " + std::to_string(shape.width) + "\nHEIGHT " + std::to_string(shape.height) +
            "\nDEPTH " + std::to_string(shape.channels) + "\nMAXVAL " + maximum_text(shape) + "\nTUPLTYPE " +
            tuple + "\nENDHDR\n");
  write_samples(sink, image);
  return std::move(sink.bytes);
}

FileBytes encode_pbm(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  Sink sink;
  sink.text("P4\n" + size_text(shape) + "\n");
  FileBytes row((static_cast<std::size_t>(shape.width) + 7) / 8);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    std::fill(row.begin(), row.end(), std::byte{0});
    const auto* from = image.row<std::uint8_t>(y);
    for (std::size_t x = 0; x < static_cast<std::size_t>(shape.width); ++x) {
      if (from[x] != 0 && from[x] != 255)
        throw Error(ErrorKind::input,
                    "PBM holds only black (0) and white (255), and the picture has the value " +
                        std::to_string(from[x]) + ". Apply a threshold first, or write .pgm.");
      if (from[x] == 0) row[x / 8] |= std::byte{0x80} >> x % 8;
    }
    sink.add(row);
  }
  return std::move(sink.bytes);
}

}  // namespace

std::vector<Codec> pnm_codecs() {
  const unsigned types = set_of(Type::u8, Type::u16);
  const auto never = [](Bytes, std::string_view) { return false; };
  std::vector<Codec> codecs{
      {"PBM", {".pbm"}, sniff_pnm<'1', '4'>, nullptr, encode_pbm, {set_of(Type::u8), set_of(1)}},
      {"PGM", {".pgm"}, sniff_pnm<'2', '5'>, nullptr, encode_pnm, {types, set_of(1)}},
      {"PPM", {".ppm"}, sniff_pnm<'3', '6'>, nullptr, encode_pnm, {types, set_of(3)}},
      {"PNM", {".pnm"}, never, nullptr, encode_pnm, {types, set_of(1, 3)}},
      {"PAM", {".pam"}, sniff_pnm<'7', '7'>, nullptr, encode_pam, {types, set_of(1, 2, 3, 4)}}};
  codecs.back().holds.alpha = set_of(Alpha::none, Alpha::straight);
  codecs.back().holds.extra = true;
  for (Codec& codec : codecs) {
    codec.several = {"page", list_pictures, decode_pnm, nullptr};
    codec.shape = [](Bytes start) {
      TextHeader text(start, format, 2);
      return read_header(text, static_cast<char>(byte_at(start, 1))).shape();
    };
    codec.open_rows = open_pnm_rows;
  }
  return codecs;
}

}  // namespace satin::io
