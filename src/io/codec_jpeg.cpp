// JPEG by libjpeg-turbo. A file that is written without a quality keeps the quantisers, sampling and
// progression of the file that the picture came from.

#include <cstdio>
#include <cstdlib>
#include <cstring>
// jpeglib.h needs FILE and size_t first.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>

#include "io/codec_steps.h"
#include "io/convert.h"
#include "metadata/exif.h"
#include "metadata/jpeg_markers.h"
#include "metadata/xmp.h"

namespace satin::io {
namespace {

// Limit on scans: a crafted progressive file can request any number of passes over the picture.
constexpr int most_scans = 200;

struct Errors {
  jpeg_error_mgr base;  // must be first: libjpeg passes its address
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message{};
  bool ended = false;
  bool forgiving = false;  ///< missing data may be replaced
  bool forgave = false;
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

// libjpeg reports missing data, which it replaces, as a warning. Only warnings that leave the pixels alone
// pass: unusual headers, and stray bytes between segments, which cameras and phones are known to write.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  const int code = info->err->msg_code;
  const bool harmless = code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR || code == JWRN_EXTRANEOUS_DATA;
  if (harmless) return;
  auto* errors = reinterpret_cast<Errors*>(info->err);
  if (!errors->forgiving) on_error(info);
  errors->forgave = true;
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
    const int code = errors.base.msg_code;
    if (code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
    if (errors.ended) truncated("JPEG");
    if (is_lack(code))
      not_read("JPEG", std::string("libjpeg says: ") + errors.message.data(),
               "Convert it to .png first, for example with djpeg of libjpeg-turbo 3.");
    damaged("JPEG", errors.message.data());
  }

 private:
  /// Whether the error means an unsupported kind of file, not damage: 12 bits, lossless coding, or features
  /// that this libjpeg was built without.
  [[nodiscard]] bool is_lack(int code) const {
    constexpr int deep = 12;
    return code == JERR_SOF_UNSUPPORTED || code == JERR_ARITH_NOTIMPL || code == JERR_NOT_COMPILED ||
           code == JERR_NOTIMPL || code == JERR_FRACT_SAMPLE_NOTIMPL || code == JERR_CCIR601_NOTIMPL ||
           code == JERR_CONVERSION_NOTIMPL || (code == JERR_BAD_PRECISION && info.data_precision == deep);
  }
};

bool is_cmyk(const jpeg_decompress_struct& info) {
  return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
}

/// Reads the header and chooses the colours of the output. Throws for components that are not read.
void read_header(Reader& reader, Bytes bytes) {
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
}

/// Decodes rows, through inks if there are any. Returns false if the data is damaged.
bool read_rows(Reader& reader, Image& image, const InkConversion* inks) {
  jpeg_decompress_struct& info = reader.info;
  std::byte* const pixels = image.data();
  const std::ptrdiff_t row_bytes = interleaved_strides(image.shape()).row;
  FileBytes ink_row(inks != nullptr ? std::size_t{info.output_width} * 4 : 0);
  std::byte* const four = ink_row.data();
  return guarded(reader.errors.jump, [&] {
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
      std::byte* const row = pixels + row_bytes * std::ptrdiff_t{info.output_scanline};
      auto* target = reinterpret_cast<JSAMPROW>(inks != nullptr ? four : row);
      jpeg_read_scanlines(&info, &target, 1);
      if (inks != nullptr) inks->convert(four, row, info.output_width);
    }
  });
}

/// Looks for the end of the file. Returns false if it is missing. Frees the tables of the components.
bool finish(Reader& reader) {
  return guarded(reader.errors.jump, [&] { jpeg_finish_decompress(&reader.info); });
}

/// Returns how the file is coded, for use before finish(). Returns nothing for colours that Satin does not
/// write.
std::optional<JpegCoding> coding_of(const jpeg_decompress_struct& info) {
  if (info.jpeg_color_space != JCS_GRAYSCALE && info.jpeg_color_space != JCS_YCbCr) return std::nullopt;
  JpegCoding coding;
  coding.progressive = info.progressive_mode != FALSE;
  for (int c = 0; c < info.num_components; ++c) {
    const jpeg_component_info& component = info.comp_info[c];
    const JQUANT_TBL* quantiser = component.quant_table;
    if (quantiser == nullptr) return std::nullopt;
    JpegCoding::Component& kept = coding.components.emplace_back();
    kept.horizontal = component.h_samp_factor;
    kept.vertical = component.v_samp_factor;
    std::copy_n(quantiser->quantval, kept.steps.size(), kept.steps.begin());
  }
  return coding;
}

void decode_by_libjpeg(Reader& reader, Image& image, const ReadOptions& options, Picture& picture) {
  const jpeg_decompress_struct& info = reader.info;
  if (options.allow_partial) std::memset(image.data(), 0, byte_size(image.shape()));
  reader.errors.forgiving = options.allow_partial;
  std::optional<InkConversion> inks;
  if (is_cmyk(info)) {
    // Adobe stores reflectance, all others the amount of ink.
    inks.emplace(picture.metadata.icc, Type::u8, info.saw_Adobe_marker != FALSE);
    if (std::string warning = inks->warning(); !warning.empty())
      picture.warnings.push_back(std::move(warning));
    picture.metadata.icc.clear();  // the pixels are sRGB now
  }
  const bool has_rows = read_rows(reader, image, inks ? &*inks : nullptr);
  picture.metadata.jpeg = coding_of(info);
  if (!has_rows || !finish(reader)) {
    if (!options.allow_partial || reader.errors.base.msg_code == JERR_OUT_OF_MEMORY ||
        info.output_scanline == 0)
      reader.fail();
    reader.errors.forgave = true;
  }
  if (reader.errors.forgave) picture.warnings.push_back(partial_warning("JPEG"));
}

/// Returns the memory for coefficients: a picture with several scans keeps them until the last scan has been
/// read.
std::uint64_t bytes_of_scans(jpeg_decompress_struct& info) {
  if (jpeg_has_multiple_scans(&info) == FALSE) return 0;
  std::uint64_t blocks = 0;
  for (int i = 0; i < info.num_components; ++i)
    blocks += std::uint64_t{info.comp_info[i].width_in_blocks} * info.comp_info[i].height_in_blocks;
  return blocks * DCTSIZE2 * sizeof(JCOEF);
}

/// Chooses the smallest of the sizes 1, 1/2, 1/4 and 1/8 that is enough, and sets the full size of a picture
/// that is reduced. libjpeg computes it by inverse transforms of fewer points.
void choose_size(Reader& reader, int orientation, const ReadOptions& options, Picture& picture) {
  jpeg_decompress_struct& info = reader.info;
  Shape full{info.image_width, info.image_height};
  if (orientation >= 5) std::swap(full.width, full.height);
  const Shape enough = options.enough ? options.enough(full) : full;
  for (unsigned part = 8; part > 1; part /= 2) {
    if ((full.width + part - 1) / part < enough.width || (full.height + part - 1) / part < enough.height)
      continue;
    info.scale_num = 1;
    info.scale_denom = part;
    picture.reduction = part;
    picture.full_width = full.width;
    picture.full_height = full.height;
    break;
  }
  if (!guarded(reader.errors.jump, [&] { jpeg_calc_output_dimensions(&info); })) reader.fail();
}

Picture decode_jpeg(Bytes bytes, const ReadOptions& options) {
  Reader reader;
  const jpeg_decompress_struct& info = reader.info;
  read_header(reader, bytes);
  const int channels = info.num_components == 1 ? 1 : 3;
  Picture picture;
  picture.metadata = jpeg_metadata(bytes, picture.warnings);
  const int orientation = stored_orientation(picture.metadata.exif, picture.metadata.xmp).value_or(1);
  choose_size(reader, orientation, options, picture);
  accept(info.output_width, info.output_height, channels, Type::u8, options, bytes_of_scans(reader.info));
  Image image = allocate(info.output_width, info.output_height, channels, Type::u8, Alpha::none, options);
  decode_by_libjpeg(reader, image, options, picture);
  turn_upright(picture, std::move(image), orientation, options.allocator);
  return picture;
}

struct Writer {
  Errors errors{};
  jpeg_compress_struct info{};

  Writer() {
    info.err = prepare(errors);
    if (!guarded(errors.jump, [this] { jpeg_create_compress(&info); })) throw std::bad_alloc();
  }
  ~Writer() { jpeg_destroy_compress(&info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
};

/// Whether libjpeg can write these sampling factors: each divides the largest, and a unit of a scan has at
/// most ten blocks (ITU-T T.81, A.2.3).
bool writable(const JpegCoding& coding) {
  int widest = 1, tallest = 1, blocks = 0;
  for (const JpegCoding::Component& component : coding.components) {
    widest = std::max(widest, component.horizontal);
    tallest = std::max(tallest, component.vertical);
    blocks += component.horizontal * component.vertical;
  }
  return blocks <= 10 &&
         std::all_of(coding.components.begin(), coding.components.end(), [&](const auto& component) {
           return widest % component.horizontal == 0 && tallest % component.vertical == 0 &&
                  std::find(component.steps.begin(), component.steps.end(), 0) == component.steps.end();
         });
}

/// Sets the quantisers and the sampling of the file that the picture came from. Components with equal
/// quantisers share a table.
void set_coding(jpeg_compress_struct& info, const JpegCoding& coding) {
  std::array<const JpegCoding::Component*, 4> tables{};
  int count = 0;
  for (int c = 0; c < info.num_components; ++c) {
    const JpegCoding::Component& kept = coding.components[static_cast<std::size_t>(c)];
    int table = 0;
    while (table < count && tables[static_cast<std::size_t>(table)]->steps != kept.steps) ++table;
    if (table == count) {
      std::array<unsigned, 64> steps{};
      std::copy(kept.steps.begin(), kept.steps.end(), steps.begin());
      jpeg_add_quant_table(&info, table, steps.data(), 100, FALSE);
      tables[static_cast<std::size_t>(count++)] = &kept;
    }
    info.comp_info[c].quant_tbl_no = table;
    // A single component has no other resolution to relate to.
    info.comp_info[c].h_samp_factor = info.num_components == 1 ? 1 : kept.horizontal;
    info.comp_info[c].v_samp_factor = info.num_components == 1 ? 1 : kept.vertical;
  }
  if (coding.progressive) jpeg_simple_progression(&info);
}

void set_quality(jpeg_compress_struct& info, int quality) {
  jpeg_set_quality(&info, quality, TRUE);
  // Halved colour resolution is visible before the coarser steps of a high quality are.
  constexpr int full_colour_from = 90;
  if (info.num_components != 3 || quality < full_colour_from) return;
  info.comp_info[0].h_samp_factor = 1;
  info.comp_info[0].v_samp_factor = 1;
}

FileBytes encode_jpeg(const ImageView& image, const WriteOptions& options) {
  const Shape& shape = image.shape;
  const std::optional<JpegCoding>& coding = options.metadata.jpeg;
  const bool keeps_coding = !options.quality && coding && writable(*coding) &&
                            coding->components.size() == static_cast<std::size_t>(shape.channels);
  const std::vector<JpegSegment> segments = jpeg_segments(options.metadata);
  const std::optional<Resolution>& resolution = options.metadata.resolution;
  const std::optional<StoredResolution> density = resolution ? jfif_of(*resolution) : std::nullopt;
  Writer writer;
  jpeg_compress_struct& info = writer.info;
  unsigned char* file = nullptr;  // valid when the file is complete
  unsigned long size = 0;
  const bool complete = guarded(writer.errors.jump, [&] {
    jpeg_mem_dest(&info, &file, &size);
    info.image_width = static_cast<JDIMENSION>(shape.width);
    info.image_height = static_cast<JDIMENSION>(shape.height);
    info.input_components = shape.channels;
    info.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    if (keeps_coding)
      set_coding(info, *coding);
    else
      set_quality(info, options.quality.value_or(default_quality));
    if (density) {
      info.density_unit = static_cast<UINT8>(density->unit);
      info.X_density = static_cast<UINT16>(density->x);
      info.Y_density = static_cast<UINT16>(density->y);
    }
    info.dct_method = JDCT_ISLOW;
    info.optimize_coding = FALSE;
    jpeg_start_compress(&info, TRUE);
    for (const JpegSegment& segment : segments)
      jpeg_write_marker(&info, static_cast<int>(segment.marker),
                        reinterpret_cast<const JOCTET*>(segment.content.data()),
                        static_cast<unsigned>(segment.content.size()));
    while (info.next_scanline < info.image_height) {
      // libjpeg does not write to the row; its interface predates const.
      auto* row = const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(image.at(0, info.next_scanline)));
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  });
  if (!complete) not_encoded("JPEG", writer.errors.message.data());
  const std::unique_ptr<unsigned char, void (*)(void*)> owner(file, std::free);
  return copy_of(std::as_bytes(std::span(file, size)));
}

FileBytes encode_jpeg_file(const ImageView& image, const WriteOptions& options) {
  return options.gain_map == nullptr ? encode_jpeg(image, options)
                                     : encode_with_gain_map(image, options, encode_jpeg);
}

}  // namespace

Codec jpeg_codec() {
  Codec codec{"JPEG", {".jpg", ".jpeg", ".jpe", ".jfif"}, sniff_jpeg, decode_jpeg, encode_jpeg_file};
  codec.decode_photo = decode_jpeg_photo;
  codec.read_gain_map = read_jpeg_gain_map;
  codec.facts = jpeg_facts;
  codec.several.word = "page";
  codec.several.list = list_jpegs;
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3);
  codec.holds.max_side = JPEG_MAX_DIMENSION;
  codec.holds.metadata = set_of(Carried::icc, Carried::exif, Carried::xmp, Carried::iptc, Carried::resolution,
                                Carried::comments, Carried::gain_map);
  codec.holds.longest_exif = longest_jpeg_exif;
  return codec;
}

}  // namespace satin::io
