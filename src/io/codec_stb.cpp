// PNG and JPEG by stb_image and stb_image_write, for builds without libpng or libjpeg-turbo. SATIN_IO_STB_PNG
// and SATIN_IO_STB_JPEG select the codecs. stb trusts its input, so this file checks data before and while
// stb reads it: truncation, checksums of PNG, tables of JPEG.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "io/codec_steps.h"
#include "metadata/exif.h"
#include "metadata/jpeg_markers.h"
#include "metadata/png_chunks.h"
#include "metadata/xmp.h"
#include "satin/error.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#ifdef SATIN_IO_STB_PNG
#define STBI_ONLY_PNG
#endif
#ifdef SATIN_IO_STB_JPEG
#define STBI_ONLY_JPEG
#endif
// Memory is zeroed, so that a damaged file gives the same pixels in every run.
#define STBI_MALLOC(size) std::calloc(1, size)
#define STBI_REALLOC(old, size) std::realloc(old, size)
#define STBI_FREE(old) std::free(old)
#define STBI_ASSERT(condition) static_cast<void>(condition)
#include <stb/stb_image.h>

namespace {
// stb_image_write does not check the result of an allocation.
void* allocate_or_throw(void* old, std::size_t size) {
  void* memory = std::realloc(old, size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_MALLOC(size) allocate_or_throw(nullptr, size)
#define STBIW_REALLOC(old, size) allocate_or_throw(old, size)
#define STBIW_FREE(old) std::free(old)
#define STBIW_ASSERT(condition) static_cast<void>(condition)
#include <stb/stb_image_write.h>

namespace satin::io {
namespace {

/// Input of stb. stb refills its own buffer, always at the same address, and may read less there. It also
/// reads directly into its result, and then needs everything that it asks for: less is an overrun.
struct Source {
  Bytes bytes;
  std::size_t position = 0;
  const void* refill = nullptr;
  bool overrun = false;

  void restart() {
    position = 0;
    refill = nullptr;
    overrun = false;
  }
};

int on_read(void* user, char* target, int size) {
  auto& source = *static_cast<Source*>(user);
  if (source.refill == nullptr) source.refill = target;
  const std::size_t left = source.bytes.size() - source.position;
  const std::size_t wanted = size > 0 ? static_cast<std::size_t>(size) : 0;
  const std::size_t count = std::min(left, wanted);
  if (count < wanted && (count == 0 || target != source.refill)) source.overrun = true;
  if (count != 0) std::memcpy(target, source.bytes.data() + source.position, count);
  source.position += count;
  return static_cast<int>(count);
}

void on_skip(void* user, int distance) {
  auto& source = *static_cast<Source*>(user);
  if (distance < 0) {  // stb steps back
    source.position -=
        std::min(source.position, static_cast<std::size_t>(-static_cast<std::int64_t>(distance)));
    return;
  }
  // Missing padding after the last row does no harm. A read after a skip past the end is noticed in
  // on_read().
  source.position += std::min(source.bytes.size() - source.position, static_cast<std::size_t>(distance));
}

int on_end(void* user) {
  const auto& source = *static_cast<const Source*>(user);
  return source.position >= source.bytes.size() ? 1 : 0;
}

struct StbFree {
  void operator()(void* pixels) const noexcept { stbi_image_free(pixels); }
};

[[noreturn]] void fail(const char* format, const Source& source) {
  if (source.overrun) truncated(format);
  const char* reason = stbi_failure_reason();
  if (reason != nullptr && std::string_view(reason) == "outofmem") throw std::bad_alloc();
  damaged(format, reason != nullptr ? reason : "unknown reason");
}

/// Decodes PNG or JPEG; `format` is for messages. stb replaces missing data by zeros. Here every read past
/// the end of the data is noticed and refused.
Image decode_with_stb(const char* format, Bytes bytes, const ReadOptions& options) {
  const stbi_io_callbacks callbacks{on_read, on_skip, on_end};
  Source source{bytes};
  int width = 0, height = 0, channels = 0;
  if (stbi_info_from_callbacks(&callbacks, &source, &width, &height, &channels) == 0) fail(format, source);
  source.restart();
  const bool wide = stbi_is_16_bit_from_callbacks(&callbacks, &source) != 0;
  source.restart();
  const Type type = wide ? Type::u16 : Type::u8;
  accept(static_cast<std::uint64_t>(std::max(width, 0)), static_cast<std::uint64_t>(std::max(height, 0)),
         std::clamp(channels, 1, 4), type, options);

  std::unique_ptr<void, StbFree> pixels;
  if (wide) {
    pixels.reset(stbi_load_16_from_callbacks(&callbacks, &source, &width, &height, &channels, 0));
  } else {
    pixels.reset(stbi_load_from_callbacks(&callbacks, &source, &width, &height, &channels, 0));
  }
  if (pixels == nullptr || source.overrun) fail(format, source);
  const auto columns = static_cast<std::uint64_t>(width), rows = static_cast<std::uint64_t>(height);
  if (channels == 4 && std::string_view(format) == "JPEG") channels = 3;  // stb has converted CMYK to RGB
  Image image = allocate(columns, rows, channels, type, alpha_of(channels), options);
  std::memcpy(image.data(), pixels.get(), byte_size(image.shape()));
  return image;
}

constexpr std::size_t most_bytes = std::numeric_limits<int>::max() / 2;  // stb counts in int

void on_write(void* user, void* data, int size) {
  if (!static_cast<Sink*>(user)->write(data, static_cast<std::size_t>(size))) throw std::bad_alloc();
}

void check_size(std::size_t size, const char* format) {
  if (size > most_bytes)
    throw Error(ErrorKind::usage, std::string("A picture of ") + std::to_string(size) +
                                      " bytes is too large for the " + format +
                                      " writer of this build. Write .pam, .pfm or .npy instead.");
}

}  // namespace

#ifdef SATIN_IO_STB_PNG

namespace {

/// Returns a zlib stream.
FileBytes deflate_with_stb(Bytes bytes) {
  check_size(bytes.size(), "PNG");
  int size = 0;
  constexpr int effort = 8;
  // stb does not write to its input; its interface just lacks const.
  auto* input = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
  const std::unique_ptr<unsigned char, void (*)(void*)> stream(
      stbi_zlib_compress(input, static_cast<int>(bytes.size()), &size, effort), std::free);
  const auto* first = reinterpret_cast<const std::byte*>(stream.get());
  return {first, first + size};
}

Picture decode_png(Bytes bytes, const ReadOptions& options) {
  const PngChunks chunks = scan_png(bytes, true);
  refuse_unreadable(chunks);
  // stb checks neither.
  if (!chunks.bad_chunk.empty())
    damaged("PNG", "the checksum of its " + chunks.bad_chunk + " chunk is wrong");
  if (!chunks.complete) truncated("PNG");
  return upright(decode_with_stb("PNG", bytes, options), exif_orientation(chunks.exif).value_or(1),
                 options.allocator);
}

unsigned paeth(unsigned left, unsigned above, unsigned corner) {
  const int estimate = static_cast<int>(left + above) - static_cast<int>(corner);
  const int to_left = std::abs(estimate - static_cast<int>(left));
  const int to_above = std::abs(estimate - static_cast<int>(above));
  const int to_corner = std::abs(estimate - static_cast<int>(corner));
  if (to_left <= to_above && to_left <= to_corner) return left;
  return to_above <= to_corner ? above : corner;
}

/// Filters one row by filter 4 (Paeth) of the PNG specification. `above` may be null.
void filter_row(const std::byte* row, const std::byte* above, std::size_t size, std::size_t pixel,
                std::byte* target) {
  *target++ = std::byte{4};
  for (std::size_t i = 0; i < size; ++i) {
    const auto value = [&](const std::byte* from, std::size_t back) {
      return from == nullptr || i < back ? 0U : std::to_integer<unsigned>(from[i - back]);
    };
    const unsigned predicted = paeth(value(row, pixel), value(above, 0), value(above, pixel));
    *target++ = static_cast<std::byte>(std::to_integer<unsigned>(row[i]) - predicted);
  }
}

void write_chunk(Sink& sink, std::string_view name, Bytes content) {
  sink.be32(static_cast<std::uint32_t>(content.size()));
  const std::size_t start = sink.position;
  sink.text(name);
  sink.add(content);
  sink.be32(crc32_of(Bytes(sink.bytes).subspan(start)));
}

FileBytes encode_png(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  const auto row_bytes = static_cast<std::size_t>(image.strides.row);
  const auto rows = static_cast<std::size_t>(shape.height);
  const auto pixel = static_cast<std::size_t>(image.strides.pixel);
  const bool swap = shape.type == Type::u16 && std::endian::native == std::endian::little;

  FileBytes filtered((row_bytes + 1) * rows);
  std::array<FileBytes, 2> swapped{FileBytes(swap ? row_bytes : 0), FileBytes(swap ? row_bytes : 0)};
  const std::byte* above = nullptr;
  for (std::size_t y = 0; y < rows; ++y) {
    const std::byte* row = image.at(0, static_cast<std::int64_t>(y));
    if (swap) {
      FileBytes& copy = swapped[y % 2];
      std::memcpy(copy.data(), row, row_bytes);
      swap_bytes(copy.data(), row_bytes / 2, 2);
      row = copy.data();
    }
    filter_row(row, above, row_bytes, pixel, filtered.data() + (row_bytes + 1) * y);
    above = row;
  }

  constexpr std::array<unsigned, 4> colour_types{0, 4, 2, 6};
  Sink header;
  header.be32(static_cast<std::uint32_t>(shape.width));
  header.be32(static_cast<std::uint32_t>(shape.height));
  header.u8(shape.type == Type::u16 ? 16 : 8);
  header.u8(colour_types[static_cast<std::size_t>(shape.channels - 1)]);
  for (int i = 0; i < 3; ++i) header.u8(0);  // deflate, the five filters, not interlaced

  Sink sink;
  sink.text("\x89PNG\r\n\x1a\n");
  write_chunk(sink, "IHDR", header.bytes);
  write_chunk(sink, "IDAT", deflate_with_stb(filtered));
  write_chunk(sink, "IEND", {});
  return std::move(sink.bytes);
}

}  // namespace

std::uint32_t crc32_of(Bytes chunk) noexcept {
  // stb does not write to its input; its interface just lacks const.
  auto* const bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(chunk.data()));
  return stbiw__crc32(bytes, static_cast<int>(chunk.size()));
}

Codec png_codec() {
  Codec codec{"PNG", {".png"}, sniff_png, decode_png, encode_png};
  codec.holds = {set_of(Type::u8, Type::u16), set_of(1, 2, 3, 4), set_of(Alpha::none, Alpha::straight)};
  return codec;
}

#endif

#ifdef SATIN_IO_STB_JPEG

namespace {

/// Encodes baseline JPEG of 1 or 3 channels.
FileBytes encode_jpeg_with_stb(const ImageView& image, int quality) {
  check_size(byte_size(image.shape), "JPEG");
  Sink sink;
  if (stbi_write_jpg_to_func(on_write, &sink, static_cast<int>(image.shape.width),
                             static_cast<int>(image.shape.height), image.shape.channels, image.data,
                             quality) == 0)
    throw Error(ErrorKind::environment, "JPEG could not be encoded.");
  return std::move(sink.bytes);
}

constexpr const char* format = "JPEG";

/// Checks a JPEG file before stb_image 2.27, which trusts its tables, reads it. run() throws Error(input) if
/// a code table has more than 256 codes (stb writes past its array), or if a scan uses a code table or a
/// quantiser that is not defined (stb reads uninitialised memory). Visits the same segments as stb.
class Checker {
 public:
  explicit Checker(Bytes bytes) : bytes_(bytes) {}

  void run() {
    for (std::size_t at = marker_from(bytes_, 2); at != bytes_.size(); at = marker_from(bytes_, at)) {
      constexpr unsigned first_restart = 0xD0, start_of_image = 0xD8, end_of_image = 0xD9;
      marker_ = byte_at(bytes_, at + 1);
      at += 2;
      if (marker_ >= first_restart && marker_ < start_of_image) continue;  // belongs to the data of a scan
      if (marker_ == end_of_image || marker_ == start_of_image) return;
      if (at + 2 > bytes_.size()) truncated(format);
      const std::size_t length = be16(bytes_, at);
      if (length < 2) damaged(format, "a segment is shorter than its length");
      if (length > bytes_.size() - at) truncated(format);
      segment(bytes_.subspan(at + 2, length - 2));
      at += length;
    }
  }

 private:
  void segment(Bytes content) {
    switch (marker_) {
      case 0xC4:
        read_codes(content);
        break;
      case 0xDB:
        read_quantisers(content);
        break;
      case 0xC0:
      case 0xC1:
      case 0xC2:
        read_frame(content);
        break;
      case 0xDA:
        check_scan(content);
        break;
      default:
        constexpr unsigned first_frame = 0xC3, last_frame = 0xCF, arithmetic_coding = 0xCC, reserved = 0xC8;
        if (marker_ >= first_frame && marker_ <= last_frame && marker_ != arithmetic_coding &&
            marker_ != reserved)
          refuse("a coding without loss, of several sizes or by arithmetic");
    }
  }

  void read_codes(Bytes content) {
    while (!content.empty()) {
      if (content.size() < 17) damaged(format, "a code table ends early");
      const unsigned id = byte_at(content, 0);
      std::size_t count = 0;
      for (std::size_t i = 1; i <= 16; ++i) count += byte_at(content, i);
      if (count > 256 || count > content.size() - 17) damaged(format, "a code table has too many codes");
      if (id >> 4 > 1 || (id & 15U) > 3) damaged(format, "a code table has a wrong number");
      codes_[id >> 4][id & 15U] = true;
      content = content.subspan(17 + count);
    }
  }

  void read_quantisers(Bytes content) {
    while (!content.empty()) {
      const unsigned id = byte_at(content, 0);
      const std::size_t size = id >> 4 == 0 ? 65 : 129;
      if ((id & 15U) > 3 || content.size() < size) damaged(format, "a quantiser is malformed");
      quantisers_[id & 15U] = true;
      content = content.subspan(size);
    }
  }

  void read_frame(Bytes content) {
    progressive_ = marker_ == 0xC2;
    frame_ = content;
    if (content.size() < 6 || content.size() < 6 + 3 * std::size_t{byte_at(content, 5)})
      damaged(format, "its frame header ends early");
    constexpr unsigned deep = 12;
    if (byte_at(content, 0) == deep) refuse("12 bits a sample");
  }

  [[noreturn]] static void refuse(const char* what) {
    unsupported(format, what, "Convert it to .png first, for example with djpeg of libjpeg-turbo 3.");
  }

  void check_scan(Bytes content) {
    const std::size_t count = content.empty() ? 0 : byte_at(content, 0);
    if (content.size() < 4 + 2 * count || frame_.empty()) damaged(format, "a scan header is malformed");
    const unsigned first = byte_at(content, 1 + 2 * count), refines = byte_at(content, 3 + 2 * count) >> 4;
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned tables = byte_at(content, 2 + 2 * i);
      const bool needs_dc = !progressive_ || (first == 0 && refines == 0);
      const bool needs_ac = !progressive_ || first != 0;
      if ((tables >> 4) > 3 || (tables & 15U) > 3 || (needs_dc && !codes_[0][tables >> 4]) ||
          (needs_ac && !codes_[1][tables & 15U]))
        damaged(format, "a scan uses a code table that is not there");
    }
    for (std::size_t i = 0; i < byte_at(frame_, 5); ++i) {
      const unsigned id = byte_at(frame_, 6 + 3 * i + 2);
      if (id > 3 || !quantisers_[id]) damaged(format, "a channel uses a quantiser that is not there");
    }
  }

  Bytes bytes_;
  Bytes frame_;
  unsigned marker_ = 0;
  bool progressive_ = false;
  std::array<std::array<bool, 4>, 2> codes_{};
  std::array<bool, 4> quantisers_{};
};

Picture decode_jpeg(Bytes bytes, const ReadOptions& options) {
  Checker(bytes).run();
  Picture picture;
  const Metadata metadata = jpeg_metadata(bytes, picture.warnings);
  picture.image = upright(decode_with_stb(format, bytes, options),
                          stored_orientation(metadata.exif, metadata.xmp).value_or(1), options.allocator);
  return picture;
}

// stb stores one channel as three equal ones: a grey picture is read back as RGB.
FileBytes encode_jpeg(const ImageView& image, const WriteOptions& options) {
  return encode_jpeg_with_stb(image, options.quality.value_or(default_quality));
}

}  // namespace

Codec jpeg_codec() {
  Codec codec{"JPEG", {".jpg", ".jpeg", ".jpe", ".jfif"}, sniff_jpeg, decode_jpeg, encode_jpeg};
  codec.decode_photo = decode_jpeg_photo;
  codec.several.word = "page";
  codec.several.list = list_jpegs;
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3);
  codec.holds.max_side = 65500;
  return codec;
}

#endif

}  // namespace satin::io
