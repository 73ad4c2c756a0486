// PNG by libpng.

#include <png.h>

#include <array>
#include <bit>
#include <cstdio>

#include "guarded.h"
#include "orientation.h"
#include "png_chunks.h"
#include "satin/error.h"
#include "support.h"

namespace satin::io {
namespace {

/// Whatever the callbacks of libpng need.
struct Context {
  std::jmp_buf jump;
  std::array<char, 160> message{};
  Bytes input;
  std::size_t position = 0;
  bool ended = false;  ///< the input was too short
  Sink output;
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto* context = static_cast<Context*>(png_get_error_ptr(png));
  std::snprintf(context->message.data(), context->message.size(), "%s", text);
  std::longjmp(context->jump, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep target, std::size_t size) {
  auto* context = static_cast<Context*>(png_get_io_ptr(png));
  if (size > context->input.size() - context->position) {
    context->ended = true;
    png_error(png, "the file ends early");
  }
  std::memcpy(target, context->input.data() + context->position, size);
  context->position += size;
}

void on_write(png_structp png, png_bytep data, std::size_t size) {
  auto* context = static_cast<Context*>(png_get_io_ptr(png));
  if (!context->output.write(data, size)) png_error(png, "out of memory");
}

void on_flush(png_structp) {}

struct Reader {
  Context context;
  png_structp png = nullptr;
  png_infop info = nullptr;

  Reader() {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &context, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) throw std::bad_alloc();
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[noreturn]] void fail() const {
    if (context.ended) truncated("PNG");
    damaged("PNG", context.message.data());
  }
};

struct Writer {
  Context context;
  png_structp png = nullptr;
  png_infop info = nullptr;

  Writer() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &context, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) throw std::bad_alloc();
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
};

struct Header {
  png_uint_32 width = 0;
  png_uint_32 height = 0;
  int depth = 0;
  int channels = 0;
  std::size_t stored_row = 0;
  int passes = 1;
};

void read_header(Reader& reader, Header& header) {
  png_structp png = reader.png;
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // ReadLimits decide
  png_set_read_fn(png, &reader.context, on_read);
  png_read_info(png, reader.info);
  header.width = png_get_image_width(png, reader.info);
  header.height = png_get_image_height(png, reader.info);
  header.stored_row = png_get_rowbytes(png, reader.info);
  png_set_expand(png);  // palettes, 1, 2 and 4 bits, and tRNS to alpha
  if (std::endian::native == std::endian::little) png_set_swap(png);
}

void update_header(Reader& reader, Header& header) {
  header.passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  header.depth = png_get_bit_depth(reader.png, reader.info);
  header.channels = png_get_channels(reader.png, reader.info);
}

Image decode_png(Bytes bytes, const ReadLimits& limits) {
  const PngChunks chunks = scan_png(bytes, false);
  refuse_animation(chunks);
  Reader reader;
  reader.context.input = bytes;
  Header header;
  if (!guarded(reader.context.jump, [&] { read_header(reader, header); })) reader.fail();
  check_limits(header.width, header.height, 1, Type::u8, limits);
  // Deflate makes at most 1032 bytes of one, so that a small file cannot make us allocate a large picture.
  constexpr std::uint64_t deflate_ratio = 1032;
  if (std::uint64_t{header.stored_row} * header.height / deflate_ratio > bytes.size()) truncated("PNG");
  if (!guarded(reader.context.jump, [&] { update_header(reader, header); })) reader.fail();

  const Type type = header.depth == 16 ? Type::u16 : Type::u8;
  Image image =
      allocate(header.width, header.height, header.channels, type, alpha_of(header.channels), limits);
  std::byte* const pixels = image.data();
  const std::ptrdiff_t row_bytes = interleaved_strides(image.shape()).row;
  if (png_get_rowbytes(reader.png, reader.info) != static_cast<std::size_t>(row_bytes))
    damaged("PNG", "unexpected length of rows");
  const bool complete = guarded(reader.context.jump, [&] {
    for (int pass = 0; pass < header.passes; ++pass)
      for (png_uint_32 y = 0; y < header.height; ++y)
        png_read_row(reader.png, reinterpret_cast<png_bytep>(pixels + row_bytes * std::ptrdiff_t{y}),
                     nullptr);
    png_read_end(reader.png, nullptr);
  });
  if (!complete) reader.fail();
  return upright(std::move(image), exif_orientation(chunks.exif));
}

FileBytes encode_png(const ImageView& image, const WriteOptions&) {
  const Shape& shape = image.shape;
  constexpr std::array color_types{PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                   PNG_COLOR_TYPE_RGB_ALPHA};
  const int color_type = color_types[static_cast<std::size_t>(shape.channels - 1)];
  const int depth = shape.type == Type::u16 ? 16 : 8;
  Writer writer;
  const bool complete = guarded(writer.context.jump, [&] {
    png_structp png = writer.png;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png, &writer.context, on_write, on_flush);
    // A photograph of 2.2 Mpx on one core of an AMD EPYC: level 2 takes 272 ms and 3.33 MB, 4 takes 461 ms
    // and 3.46 MB, 6 takes 1089 ms and 3.32 MB.
    png_set_compression_level(png, 2);
    png_set_IHDR(png, writer.info, static_cast<png_uint_32>(shape.width),
                 static_cast<png_uint_32>(shape.height), depth, color_type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, writer.info);
    if (depth == 16 && std::endian::native == std::endian::little) png_set_swap(png);
    for (std::int64_t y = 0; y < shape.height; ++y)
      png_write_row(png, reinterpret_cast<png_const_bytep>(image.at(0, y)));
    png_write_end(png, writer.info);
  });
  if (!complete)
    throw Error(ErrorKind::environment,
                std::string("PNG could not be encoded: ") + writer.context.message.data() + ".");
  return std::move(writer.context.output.bytes);
}

}  // namespace

Codec png_codec() {
  return {"PNG",      {".png"},
          sniff_png,  decode_png,
          encode_png, {set_of(Type::u8, Type::u16), set_of(1, 2, 3, 4), set_of(Alpha::none, Alpha::straight)},
          ""};
}

}  // namespace satin::io
