// PNG by libpng.

#include <png.h>
#include <zlib.h>
#include <cstring>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "io/codec_steps.h"
#include "metadata/png_chunks.h"
#include "metadata/xmp.h"

namespace satin::io {
namespace {

/// State of libpng's callbacks.
struct Context {
  std::jmp_buf jump;
  std::array<char, 160> message{};
  std::array<char, 160> profile_warning{};  ///< reason why libpng ignored the profile
  Bytes input;
  std::size_t position = 0;
  bool ended = false;  ///< the input ended early
  Sink output;
  std::size_t most_bytes = SIZE_MAX;  ///< largest allocation of libpng
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto* context = static_cast<Context*>(png_get_error_ptr(png));
  std::snprintf(context->message.data(), context->message.size(), "%s", text);
  std::longjmp(context->jump, 1);
}

void on_warning(png_structp png, png_const_charp text) {
  auto* context = static_cast<Context*>(png_get_error_ptr(png));
  if (std::string_view(text).starts_with("iCCP"))
    std::snprintf(context->profile_warning.data(), context->profile_warning.size(), "%s", text);
}

png_voidp on_malloc(png_structp png, png_alloc_size_t size) {
  return size > static_cast<Context*>(png_get_mem_ptr(png))->most_bytes ? nullptr : std::malloc(size);
}

void on_free(png_structp, png_voidp memory) { std::free(memory); }

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
    png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &context, on_error, on_warning, &context, on_malloc,
                                   on_free);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) throw std::bad_alloc();
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[noreturn]] void fail() const {
    if (context.ended) truncated("PNG");
    not_decoded("PNG", "libpng", context.message.data(), "Convert it to plain PNG first.");
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

constexpr std::size_t usual_chunk = 8'000'000;

/// Returns the largest size of an inflated text or profile: deflate expands at most a thousand times.
std::size_t longest_block(Bytes file, const ReadLimits& limits) {
  return std::max<std::size_t>(std::min<std::uint64_t>(usual_chunk, limits.bytes), file.size());
}

void read_header(Reader& reader, Header& header, std::size_t longest) {
  png_structp png = reader.png;
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // ReadLimits decide
  png_set_chunk_malloc_max(png, longest);
  png_set_read_fn(png, &reader.context, on_read);
  // libpng would inflate and keep every text. text_in() inflates the two that are used.
  constexpr std::string_view texts{"tEXt\0zTXt\0iTXt", 15};
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, reinterpret_cast<png_const_bytep>(texts.data()),
                              3);
  // libpng allocates the size that a chunk claims before it checks whether the data is there.
  reader.context.most_bytes = std::max(usual_chunk, 2 * reader.context.input.size());
  png_read_info(png, reader.info);
  reader.context.most_bytes = SIZE_MAX;
  header.width = png_get_image_width(png, reader.info);
  header.height = png_get_image_height(png, reader.info);
  header.stored_row = png_get_rowbytes(png, reader.info);
  png_set_expand(png);  // expands palettes, samples of 1, 2 and 4 bits, and tRNS
  if (std::endian::native == std::endian::little) png_set_swap(png);
}

void update_header(Reader& reader, Header& header) {
  header.passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  header.depth = png_get_bit_depth(reader.png, reader.info);
  header.channels = png_get_channels(reader.png, reader.info);
}

PngColour read_colour(png_structp png, png_infop info) {
  PngColour colour;
  png_fixed_point gamma = 0;
  if (png_get_gAMA_fixed(png, info, &gamma) != 0) colour.gamma = static_cast<std::uint32_t>(gamma);
  std::array<png_fixed_point, 8> xy{};
  if (png_get_cHRM_fixed(png, info, &xy[0], &xy[1], &xy[2], &xy[3], &xy[4], &xy[5], &xy[6], &xy[7]) != 0) {
    colour.chromaticities.emplace();
    std::copy(xy.begin(), xy.end(), colour.chromaticities->begin());
  }
  int intent = 0;
  if (png_get_sRGB(png, info, &intent) != 0) colour.srgb_intent = static_cast<std::uint8_t>(intent);
  return colour;
}

/// Inflates a zlib stream. Returns nothing if it is damaged or longer than `longest` bytes.
std::optional<FileBytes> inflated(Bytes data, std::size_t longest) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  FileBytes result;
  int state = Z_OK;
  while (state == Z_OK && result.size() <= longest) {
    constexpr std::size_t first = 4096;
    result.resize(std::min(longest + 1, std::max(first, 2 * result.size())));
    stream.next_out = reinterpret_cast<Bytef*>(result.data()) + stream.total_out;
    stream.avail_out = static_cast<uInt>(result.size() - stream.total_out);
    state = inflate(&stream, Z_NO_FLUSH);
  }
  if (state != Z_STREAM_END || stream.total_out > longest) return std::nullopt;
  result.resize(stream.total_out);
  return result;
}

/// Returns the text of a tEXt, zTXt or iTXt chunk (PNG, 11.3.3), given from its name on. Empty for no chunk.
/// Returns nothing if it is damaged or inflates to more than `longest` bytes.
std::optional<FileBytes> text_in(Bytes chunk, std::size_t longest) {
  if (chunk.empty()) return FileBytes();
  Bytes rest = chunk.subspan(4);
  const auto skip_word = [&] {
    const std::size_t end = text_of(rest).find('\0');
    rest = rest.subspan(end == std::string_view::npos ? rest.size() : end + 1);
  };
  skip_word();  // the keyword; scan_png() keeps only chunks in which it ends
  if (starts_with(chunk, "tEXt")) return copy_of(rest);
  const bool is_international = starts_with(chunk, "iTXt");
  const std::size_t flags = is_international ? 2 : 1;
  if (rest.size() < flags) return std::nullopt;
  const bool is_compressed = !is_international || byte_at(rest, 0) != 0;
  rest = rest.subspan(flags);
  if (is_international) {
    skip_word();  // the language
    skip_word();  // the translated keyword
  }
  return is_compressed ? inflated(rest, longest) : copy_of(rest);
}

/// Reads the metadata blocks, which may come before and after the pixels. Nothing here calls back, so nothing
/// jumps.
void read_metadata(const Reader& reader, const PngChunks& chunks, const Header& header, std::size_t longest,
                   Picture& picture) {
  Metadata& metadata = picture.metadata;
  metadata.exif = copy_of(chunks.exif);
  png_charp name = nullptr;
  int compression = 0;
  png_bytep profile = nullptr;
  png_uint_32 length = 0;
  if (png_get_iCCP(reader.png, reader.info, &name, &compression, &profile, &length) != 0)
    metadata.icc = copy_of(std::as_bytes(std::span(profile, length)));
  else
    metadata.png = read_colour(reader.png, reader.info);
  if (chunks.profile && metadata.icc.empty())
    picture.warnings.push_back("The ICC profile was left out (" +
                               std::string(reader.context.profile_warning.data()) + ").");
  const auto text = [&](Bytes chunk, const std::string& block) {
    std::optional<FileBytes> found = text_in(chunk, longest);
    if (!found)
      picture.warnings.push_back("The " + block + " text is damaged, or larger than " +
                                 std::to_string(longest) + " bytes, and was left out.");
    return found.value_or(FileBytes());
  };
  metadata.xmp = text(chunks.xmp, "XMP");
  metadata.iptc = iptc_of_png_text(text_of(text(chunks.iptc, "IPTC")));
  add_chunks(metadata, chunks, header.channels, header.depth);
}

/// Reads all rows. Returns false if the data is damaged or ends early.
bool read_rows(Reader& reader, const Header& header, Image& image) {
  std::byte* const pixels = image.data();
  const std::ptrdiff_t row_bytes = interleaved_strides(image.shape()).row;
  return guarded(reader.context.jump, [&] {
    for (int pass = 0; pass < header.passes; ++pass)
      for (png_uint_32 y = 0; y < header.height; ++y)
        png_read_row(reader.png, reinterpret_cast<png_bytep>(pixels + row_bytes * std::ptrdiff_t{y}),
                     nullptr);
    png_read_end(reader.png, reader.info);
  });
}

Picture decode_png(Bytes bytes, const ReadOptions& options) {
  const PngChunks chunks = scan_png(bytes, false);
  refuse_unreadable(chunks);
  Reader reader;
  reader.context.input = bytes;
  Header header;
  const std::size_t longest = longest_block(bytes, options.limits);
  if (!guarded(reader.context.jump, [&] { read_header(reader, header, longest); })) reader.fail();
  check_limits(header.width, header.height, 1, Type::u8, options.limits);
  // Deflate expands at most 1032 times, so a small file cannot make us allocate a large picture.
  constexpr std::uint64_t deflate_ratio = 1032;
  const bool too_short = std::uint64_t{header.stored_row} * header.height / deflate_ratio > bytes.size();
  if (too_short && !options.allow_partial) truncated("PNG");
  if (!guarded(reader.context.jump, [&] { update_header(reader, header); })) reader.fail();

  const Type type = header.depth == 16 ? Type::u16 : Type::u8;
  Image image =
      allocate(header.width, header.height, header.channels, type, alpha_of(header.channels), options);
  if (png_get_rowbytes(reader.png, reader.info) !=
      static_cast<std::size_t>(interleaved_strides(image.shape()).row))
    damaged("PNG", "unexpected length of rows");
  if (options.allow_partial) std::memset(image.data(), 0, byte_size(image.shape()));
  const bool complete = read_rows(reader, header, image);
  if (!complete && !options.allow_partial) reader.fail();
  Picture picture;
  if (!complete) picture.warnings.push_back(partial_warning("PNG"));
  read_metadata(reader, chunks, header, longest, picture);
  const int orientation = stored_orientation(chunks.exif, picture.metadata.xmp).value_or(1);
  turn_upright(picture, std::move(image), orientation, options.allocator);
  return picture;
}

void write_colour(png_structp png, png_infop info, const PngColour& colour) {
  if (colour.gamma) png_set_gAMA_fixed(png, info, static_cast<png_fixed_point>(*colour.gamma));
  if (colour.chromaticities) {
    std::array<png_fixed_point, 8> xy{};
    std::copy(colour.chromaticities->begin(), colour.chromaticities->end(), xy.begin());
    png_set_cHRM_fixed(png, info, xy[0], xy[1], xy[2], xy[3], xy[4], xy[5], xy[6], xy[7]);
  }
  if (colour.srgb_intent) png_set_sRGB(png, info, *colour.srgb_intent);
}

/// Sets profile or colour chunks, and EXIF. A profile replaces gAMA, cHRM and sRGB, which would say less (PNG
/// specification, 11.3.3). libpng refuses a profile for other channels than the picture has.
void set_metadata(png_structp png, png_infop info, const Metadata& metadata) {
  if (!metadata.icc.empty())
    png_set_iCCP(png, info, "ICC profile", PNG_COMPRESSION_TYPE_BASE,
                 reinterpret_cast<png_const_bytep>(metadata.icc.data()),
                 static_cast<png_uint_32>(metadata.icc.size()));
  else
    write_colour(png, info, metadata.png);
  // libpng copies the block; its interface predates const.
  if (!metadata.exif.empty())
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(metadata.exif.size()),
                   const_cast<png_bytep>(reinterpret_cast<png_const_bytep>(metadata.exif.data())));
}

/// Sets a text of iTXt or zTXt, if there is one.
void set_text(png_structp png, png_infop info, std::string_view keyword, int compression,
              const std::string& content) {
  if (content.empty()) return;
  png_text text{};
  text.compression = compression;
  text.key = const_cast<png_charp>(keyword.data());
  text.text = const_cast<png_charp>(content.c_str());
  text.text_length = text.itxt_length = content.size();
  text.lang = text.lang_key = const_cast<png_charp>("");
  png_set_text(png, info, &text, 1);
}

FileBytes encode_png(const ImageView& image, const WriteOptions& options) {
  const Shape& shape = image.shape;
  constexpr std::array color_types{PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                   PNG_COLOR_TYPE_RGB_ALPHA};
  const int color_type = color_types[static_cast<std::size_t>(shape.channels - 1)];
  const int depth = shape.type == Type::u16 ? 16 : 8;
  const std::vector<PngChunk> chunks = chunks_of(options.metadata, shape.channels, depth);
  const std::string iptc = png_text_of_iptc(options.metadata.iptc), xmp(text_of(options.metadata.xmp));
  Writer writer;
  const bool complete = guarded(writer.context.jump, [&] {
    png_structp png = writer.png;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png, &writer.context, on_write, on_flush);
    // Level 2: measured for a photograph of 2.2 Mpx on one core of an AMD EPYC: level 2 takes 272 ms and 3.33
    // MB, 4 takes 461 ms and 3.46 MB, 6 takes 1089 ms and 3.32 MB.
    png_set_compression_level(png, 2);
    png_set_IHDR(png, writer.info, static_cast<png_uint_32>(shape.width),
                 static_cast<png_uint_32>(shape.height), depth, color_type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_benign_errors(png, 1);  // a profile for other channels is dropped, and the picture is written
    set_metadata(png, writer.info, options.metadata);
    set_text(png, writer.info, png_xmp_keyword, PNG_ITXT_COMPRESSION_NONE, xmp);
    set_text(png, writer.info, png_iptc_keyword, PNG_TEXT_COMPRESSION_zTXt, iptc);
    png_write_info_before_PLTE(png, writer.info);
    for (const PngChunk& chunk : chunks)
      png_write_chunk(png, reinterpret_cast<png_const_bytep>(chunk.name.c_str()),
                      reinterpret_cast<png_const_bytep>(chunk.content.data()), chunk.content.size());
    png_write_info(png, writer.info);
    if (depth == 16 && std::endian::native == std::endian::little) png_set_swap(png);
    for (std::int64_t y = 0; y < shape.height; ++y)
      png_write_row(png, reinterpret_cast<png_const_bytep>(image.at(0, y)));
    png_write_end(png, nullptr);  // with `info` libpng would write eXIf twice
  });
  if (!complete) not_encoded("PNG", writer.context.message.data());
  return std::move(writer.context.output.bytes);
}

}  // namespace

std::uint32_t crc32_of(Bytes chunk) noexcept {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size())));
}

Codec png_codec() {
  Codec codec{"PNG", {".png"}, sniff_png, decode_png, encode_png};
  codec.holds.types = set_of(Type::u8, Type::u16);
  codec.holds.channels = set_of(1, 2, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight);
  codec.holds.metadata =
      set_of(Carried::icc, Carried::exif, Carried::xmp, Carried::iptc, Carried::resolution, Carried::png);
  return codec;
}

}  // namespace satin::io
