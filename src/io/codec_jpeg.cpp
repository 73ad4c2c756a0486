// JPEG by libjpeg-turbo.

#include <cstdio>
// jpeglib.h needs FILE and size_t first.
#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <new>

#include "guarded.h"
#include "jpeg_markers.h"
#include "orientation.h"
#include "satin/error.h"
#include "support.h"

namespace satin::io {
namespace {

// A crafted progressive file can ask for any number of passes over the whole picture.
constexpr int most_scans = 200;

struct Errors {
  jpeg_error_mgr base;  // first, because libjpeg hands out its address
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message{};
  bool ended = false;
};

void keep_message(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  errors->base.format_message(info, errors->message.data());
  errors->ended = errors->base.msg_code == JWRN_JPEG_EOF;
}

[[noreturn]] void on_error(j_common_ptr info) {
  keep_message(info);
  std::longjmp(reinterpret_cast<Errors*>(info->err)->jump, 1);
}

// libjpeg calls it a warning when it makes up the missing part of a picture. Only what leaves the pixels
// alone passes: odd headers, and stray bytes between segments, which cameras and phones are known to write.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  const int code = info->err->msg_code;
  const bool harmless = code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR || code == JWRN_EXTRANEOUS_DATA;
  if (!harmless) on_error(info);
}

void on_output(j_common_ptr) {}

jpeg_error_mgr* prepare(Errors& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = on_error;
  errors.base.emit_message = on_message;
  errors.base.output_message = on_output;
  return &errors.base;
}

void on_progress(j_common_ptr info) {
  if (info->is_decompressor == FALSE) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= most_scans) return;
  auto* errors = reinterpret_cast<Errors*>(info->err);
  std::snprintf(errors->message.data(), errors->message.size(), "more than %d scans", most_scans);
  std::longjmp(errors->jump, 1);
}

struct Reader {
  Errors errors{};
  jpeg_decompress_struct info{};
  jpeg_progress_mgr progress{};

  Reader() {
    info.err = prepare(errors);
    if (!guarded(errors.jump, [this] { jpeg_create_decompress(&info); })) throw std::bad_alloc();
    progress.progress_monitor = on_progress;
    info.progress = &progress;
  }
  ~Reader() { jpeg_destroy_decompress(&info); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[noreturn]] void fail() const {
    if (errors.base.msg_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
    if (errors.ended) truncated("JPEG");
    damaged("JPEG", errors.message.data());
  }
};

bool is_cmyk(const jpeg_decompress_struct& info) {
  return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
}

Image decode_jpeg(Bytes bytes, const ReadLimits& limits) {
  Reader reader;
  jpeg_decompress_struct& info = reader.info;
  bool known_channels = true;
  const bool header_read = guarded(reader.errors.jump, [&] {
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info, TRUE);
    info.dct_method = JDCT_ISLOW;
    if (is_cmyk(info)) {
      info.out_color_space = JCS_CMYK;
    } else if (info.num_components == 1) {
      info.out_color_space = JCS_GRAYSCALE;
    } else if (info.num_components == 3) {
      info.out_color_space = JCS_RGB;
    } else {
      known_channels = false;
    }
  });
  if (!header_read) reader.fail();
  if (!known_channels)
    unsupported("JPEG", std::to_string(info.num_components) + " components", "Convert it to RGB first.");
  const int channels = info.num_components == 1 ? 1 : 3;
  Image image = allocate(info.image_width, info.image_height, channels, Type::u8, Alpha::none, limits);

  std::byte* const pixels = image.data();
  const std::ptrdiff_t row_bytes = interleaved_strides(image.shape()).row;
  const bool cmyk = is_cmyk(info);
  FileBytes inks(cmyk ? std::size_t{info.image_width} * 4 : 0);
  const bool complete = guarded(reader.errors.jump, [&] {
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
      std::byte* const row = pixels + row_bytes * std::ptrdiff_t{info.output_scanline};
      auto* target = reinterpret_cast<JSAMPROW>(cmyk ? inks.data() : row);
      jpeg_read_scanlines(&info, &target, 1);
      if (!cmyk) continue;
      // Adobe stores reflectance, everybody else the amount of ink.
      const std::uint32_t invert = info.saw_Adobe_marker != FALSE ? 0 : 255;
      for (std::size_t x = 0; x < info.output_width; ++x)
        for (std::size_t c = 0; c < 3; ++c)
          row[x * 3 + c] =
              static_cast<std::byte>(ink(target[x * 4 + c] ^ invert, target[x * 4 + 3] ^ invert, 255));
    }
    jpeg_finish_decompress(&info);
  });
  if (!complete) reader.fail();
  return upright(std::move(image), jpeg_orientation(bytes));
}

struct Target {
  jpeg_destination_mgr base;  // first, because libjpeg hands out its address
  std::array<JOCTET, 1 << 16> buffer;
  Sink sink;
};

void rewind(Target& target) {
  target.base.next_output_byte = target.buffer.data();
  target.base.free_in_buffer = target.buffer.size();
}

void store(j_compress_ptr info, std::size_t size) {
  auto* target = reinterpret_cast<Target*>(info->dest);
  if (!target->sink.write(target->buffer.data(), size)) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
  rewind(*target);
}

void on_start(j_compress_ptr info) { rewind(*reinterpret_cast<Target*>(info->dest)); }
boolean on_full(j_compress_ptr info) {
  store(info, reinterpret_cast<Target*>(info->dest)->buffer.size());
  return TRUE;
}
void on_end(j_compress_ptr info) {
  auto* target = reinterpret_cast<Target*>(info->dest);
  store(info, target->buffer.size() - target->base.free_in_buffer);
}

struct Writer {
  Errors errors{};
  jpeg_compress_struct info{};
  Target target{};

  Writer() {
    info.err = prepare(errors);
    if (!guarded(errors.jump, [this] { jpeg_create_compress(&info); })) throw std::bad_alloc();
    target.base.init_destination = on_start;
    target.base.empty_output_buffer = on_full;
    target.base.term_destination = on_end;
    info.dest = &target.base;
  }
  ~Writer() { jpeg_destroy_compress(&info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
};

FileBytes encode_jpeg(const ImageView& image, const WriteOptions& options) {
  const Shape& shape = image.shape;
  Writer writer;
  jpeg_compress_struct& info = writer.info;
  const bool complete = guarded(writer.errors.jump, [&] {
    info.image_width = static_cast<JDIMENSION>(shape.width);
    info.image_height = static_cast<JDIMENSION>(shape.height);
    info.input_components = shape.channels;
    info.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, options.quality, TRUE);
    info.dct_method = JDCT_ISLOW;
    info.optimize_coding = TRUE;
    // Halved colour resolution shows before the coarser steps of a high quality do.
    constexpr int full_colour_from = 90;
    if (shape.channels == 3 && options.quality >= full_colour_from) {
      info.comp_info[0].h_samp_factor = 1;
      info.comp_info[0].v_samp_factor = 1;
    }
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
      // libjpeg does not write to the row; its interface is older than const.
      auto* row = const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(image.at(0, info.next_scanline)));
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  });
  if (!complete)
    throw Error(ErrorKind::environment,
                std::string("JPEG could not be encoded: ") + writer.errors.message.data() + ".");
  return std::move(writer.target.sink.bytes);
}

}  // namespace

Codec jpeg_codec() {
  Codec codec{"JPEG", {".jpg", ".jpeg", ".jpe", ".jfif"}, sniff_jpeg, decode_jpeg, encode_jpeg, {}, ""};
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3);
  codec.holds.max_side = JPEG_MAX_DIMENSION;
  return codec;
}

}  // namespace satin::io
