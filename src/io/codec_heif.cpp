// HEIC and AVIF by libheif, for reading only. Samples of 9 to 16 bits become u16: code * 65535 / largest
// code, rounded to nearest. This is the module satin_io_heif (io/module.h).

#include <libheif/heif.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "io/codec_steps.h"
#include "io/module.h"
#include "metadata/colour_profile.h"
#include "metadata/gain_map_source.h"
#include "metadata/heif_boxes.h"
#include "satin/error.h"
#include "satin/version.h"

namespace satin::io {
namespace {

/// Deleter for objects of libheif.
template <auto release>
struct Release {
  template <class Object>
  void operator()(Object* object) const {
    release(object);
  }
};

using Context = std::unique_ptr<heif_context, Release<heif_context_free>>;
using Handle = std::unique_ptr<const heif_image_handle, Release<heif_image_handle_release>>;
using Pixels = std::unique_ptr<const heif_image, Release<heif_image_release>>;
using Options = std::unique_ptr<heif_decoding_options, Release<heif_decoding_options_free>>;
using Nclx = std::unique_ptr<heif_color_profile_nclx, Release<heif_nclx_color_profile_free>>;
using DepthInfo =
    std::unique_ptr<const heif_depth_representation_info, Release<heif_depth_representation_info_free>>;

/// Meaning of depth codes by the bit stream.
struct DepthCodes {
  bool are_distances = false;  ///< codes are linear in distance, otherwise in its inverse
  double first = 0;            ///< value of the smallest code: 1 / distance, or distance
  double last = 0;             ///< value of the largest code
};

/// The picture of an open file, or an auxiliary picture.
struct Item {
  Handle handle;
  std::string auxiliary_type;  ///< empty for the picture itself
  int width = 0, height = 0;   ///< upright
  int bits = 8;                ///< bits per sample
  bool has_alpha = false, is_premultiplied = false;
  int primaries = 2, transfer = 2, matrix = 2;  ///< code points of ITU-T H.273; 2 if unknown
  bool is_limited = false;                      ///< black and white are 16 and 235 in 8 bits
  FileBytes icc, exif, xmp;
  std::optional<DepthCodes> depth;

  void read_colour(const heif_color_profile_nclx& nclx) {
    primaries = nclx.color_primaries;
    transfer = nclx.transfer_characteristics;
    matrix = nclx.matrix_coefficients;
    is_limited = nclx.full_range_flag == 0;
  }
};

/// Reads the meaning of depth codes from the bit stream (ISO/IEC 23008-2, SEI message of depth
/// representation). Nonuniform kinds are ignored.
std::optional<DepthCodes> depth_of(const heif_image_handle* primary, heif_item_id id) {
  // libheif 1.15 reads through a null pointer for a picture without depth, and knows of one depth picture
  // only.
  heif_item_id depth = 0;
  if (heif_image_handle_get_list_of_depth_image_IDs(primary, &depth, 1) != 1 || depth != id) return {};
  const heif_depth_representation_info* found = nullptr;
  if (heif_image_handle_get_depth_image_representation_info(primary, id, &found) == 0) return {};
  const DepthInfo info(found);
  switch (info->depth_representation_type) {
    case heif_depth_representation_type_uniform_disparity:
      if (info->has_d_min == 0 || info->has_d_max == 0) return {};
      return DepthCodes{false, info->d_min, info->d_max};
    case heif_depth_representation_type_uniform_inverse_Z:
      if (info->has_z_near == 0 || info->has_z_far == 0 || info->z_near == 0 || info->z_far == 0) return {};
      return DepthCodes{false, 1 / info->z_far, 1 / info->z_near};
    case heif_depth_representation_type_uniform_Z:
      if (info->has_z_near == 0 || info->has_z_far == 0) return {};
      return DepthCodes{true, info->z_near, info->z_far};
    default:
      return {};
  }
}

heif_chroma chroma_of(int channels, int bits) {
  if (channels < 3) return heif_chroma_undefined;
  if (bits == 8) return channels == 3 ? heif_chroma_interleaved_RGB : heif_chroma_interleaved_RGBA;
  return channels == 3 ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RRGGBBAA_LE;
}

/// A file that is open in libheif. Its bytes must outlive it.
class HeifFile {
 public:
  /// Opens the picture with this number, or the primary one for 0.
  explicit HeifFile(Bytes file, std::uint32_t number = 0)
      : format(is_avif(file) ? "AVIF" : "HEIC"),
        bytes(file),
        stored(read_heif_boxes(file, number).value_or(HeifPicture{})),
        context_(heif_context_alloc()) {
    if (!is_whole_heif(bytes)) truncated(format);
    if (context_ == nullptr) throw std::bad_alloc();
    check(heif_context_read_from_memory_without_copy(context_.get(), bytes.data(), bytes.size(), nullptr));
    pictures.resize(static_cast<std::size_t>(heif_context_get_number_of_top_level_images(context_.get())));
    heif_context_get_list_of_top_level_image_IDs(context_.get(), pictures.data(),
                                                 static_cast<int>(pictures.size()));
    heif_item_id primary = 0;
    check(heif_context_get_primary_image_ID(context_.get(), &primary));
    std::erase(pictures, primary);
    heif_image_handle* handle = nullptr;
    check(heif_context_get_image_handle(context_.get(), number != 0 ? number : primary, &handle));
    items.push_back(item_of(handle));
    std::vector<heif_item_id> ids(static_cast<std::size_t>(
        heif_image_handle_get_number_of_auxiliary_images(handle, LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA)));
    heif_image_handle_get_list_of_auxiliary_image_IDs(handle, LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA, ids.data(),
                                                      static_cast<int>(ids.size()));
    for (const heif_item_id id : ids) add_auxiliary(handle, id);
  }

  const char* const format;  ///< name for messages
  const Bytes bytes;
  const HeifPicture stored;            ///< description by the boxes of the file
  std::vector<Item> items;             ///< the picture, then the auxiliary pictures
  std::vector<heif_item_id> pictures;  ///< numbers of the pictures beside the primary one

  /// Decodes an item to u8 or u16 with this many channels: 3 or 4 are colours, 1 and 2 are luma. Afterwards
  /// the item has the colour description of the bit stream, if the file had none.
  [[nodiscard]] Image decode(std::size_t index, int channels, const ReadOptions& options,
                             bool quarter_chroma = false) {
    Item& item = items[index];
    if (item.bits < 8 || item.bits > 16)
      unsupported(format, std::to_string(item.bits) + " bits a sample", "Save it with 8, 10 or 12 bits.");
    const Type type = item.bits == 8 ? Type::u8 : Type::u16;
    const std::uint64_t width = side_of(item.width), height = side_of(item.height);
    accept(width, height, channels, type, options,
           halves_beside(channels, item.bits, quarter_chroma) * size_of(type) * width * height / 2);
    Image image = allocate(width, height, channels, type, alpha_of(channels), options);
    const Pixels decoded = decode_item(item, channels);
    const int decoded_width = heif_image_get_primary_width(decoded.get());
    const int decoded_height = heif_image_get_primary_height(decoded.get());
    if (decoded_width != decoded_height && decoded_width == item.height && decoded_height == item.width) {
      std::swap(item.width, item.height);  // libheif ignores a rotation that precedes the size
      image = Image();
      return decode(index, channels, options, quarter_chroma);
    }
    copy_out(decoded.get(), item, image);
    heif_color_profile_nclx* nclx = nullptr;
    if (item.transfer == 2 && heif_image_get_nclx_color_profile(decoded.get(), &nclx).code == heif_error_Ok)
      item.read_colour(*Nclx(nclx));
    spread(image, item);
    return image;
  }

 private:
  void check(const heif_error& error) const {
    if (error.code != heif_error_Ok)
      fail(error.message, error.code == heif_error_Unsupported_filetype ||
                              error.code == heif_error_Unsupported_feature ||
                              error.code == heif_error_Plugin_loading_error);
  }

  /// `lacks` says that libheif does not support this kind of file, which may be intact.
  [[noreturn]] void fail(const std::string& text, bool lacks = false) const {
    const std::string reason = text.substr(0, text.find_last_not_of("\n. ") + 1);  // joined to one line
    const std::string_view coding = heif_coding(bytes);
    constexpr std::string_view known[] = {"hvc1", "av01", "grid", "iden", "iovl", ""};
    if (coding.empty() && heif_sequence_length(bytes) != 0)
      unsupported(format, "a sequence of pictures and no still one",
                  "Save them as .png first, for example with ffmpeg.");
    if (std::ranges::find(known, coding) == std::end(known))
      unsupported(format, "a picture coded as '" + printable(std::string(coding)) + "'", advice);
    if (lacks) not_read(format, "libheif says: " + reason, advice);
    damaged(format, reason);
  }

  /// Describes a picture. Takes ownership of the handle.
  [[nodiscard]] Item item_of(const heif_image_handle* handle) const {
    Item item;
    item.handle.reset(handle);
    item.width = heif_image_handle_get_width(handle);
    item.height = heif_image_handle_get_height(handle);
    item.bits = heif_image_handle_get_luma_bits_per_pixel(handle);
    item.has_alpha = heif_image_handle_has_alpha_channel(handle) != 0;
    item.is_premultiplied = heif_image_handle_is_premultiplied_alpha(handle) != 0;
    heif_color_profile_nclx* profile = nullptr;
    const heif_error found = heif_image_handle_get_nclx_color_profile(handle, &profile);
    const Nclx nclx(profile);
    if (found.code == heif_error_Ok) item.read_colour(*nclx);
    item.icc.resize(heif_image_handle_get_raw_color_profile_size(handle));
    if (!item.icc.empty()) check(heif_image_handle_get_raw_color_profile(handle, item.icc.data()));
    item.exif = metadata_of(handle, "Exif", "");
    item.xmp = metadata_of(handle, "mime", "application/rdf+xml");
    return item;
  }

  /// Returns the first metadata block of this type and content type, or an empty one.
  FileBytes metadata_of(const heif_image_handle* handle, const char* type, const char* content_type) const {
    std::vector<heif_item_id> ids(
        static_cast<std::size_t>(heif_image_handle_get_number_of_metadata_blocks(handle, type)));
    heif_image_handle_get_list_of_metadata_block_IDs(handle, type, ids.data(), static_cast<int>(ids.size()));
    for (const heif_item_id id : ids) {
      if (std::strcmp(heif_image_handle_get_metadata_content_type(handle, id), content_type) != 0) continue;
      FileBytes block(heif_image_handle_get_metadata_size(handle, id));
      check(heif_image_handle_get_metadata(handle, id, block.data()));
      return block;
    }
    return {};
  }

  void add_auxiliary(const heif_image_handle* primary, heif_item_id id) {
    heif_image_handle* handle = nullptr;
    check(heif_image_handle_get_auxiliary_image_handle(primary, id, &handle));
    Item& item = items.emplace_back(item_of(handle));
    const char* type = nullptr;
    check(heif_image_handle_get_auxiliary_type(handle, &type));
    item.auxiliary_type = type;
    heif_image_handle_free_auxiliary_types(handle, &type);
    item.depth = depth_of(primary, id);
  }

  [[nodiscard]] Pixels decode_item(const Item& item, int channels) const {
    const Options options(heif_decoding_options_alloc());
    if (options == nullptr) throw std::bad_alloc();
    options->strict_decoding = 1;
    heif_image* decoded = nullptr;
    check(heif_decode_image(item.handle.get(), &decoded,
                            channels < 3 ? heif_colorspace_undefined : heif_colorspace_RGB,
                            chroma_of(channels, item.bits), options.get()));
    Pixels image(decoded);
    heif_error warning{};
    if (heif_image_get_decoding_warnings(decoded, 0, &warning, 1) != 0) check(warning);
    return image;
  }

  void copy_out(const heif_image* decoded, const Item& item, Image& image) const {
    const int channels = image.shape().channels;
    if (channels >= 3) return copy_plane(decoded, heif_channel_interleaved, item, channels, 0, image);
    // libheif converts grey tiles to colours.
    const bool has_luma = heif_image_has_channel(decoded, heif_channel_Y) != 0;
    copy_plane(decoded, has_luma ? heif_channel_Y : heif_channel_R, item, 1, 0, image);
    if (channels == 2) copy_plane(decoded, heif_channel_Alpha, item, 1, 1, image);
  }

  /// Copies a plane of `samples` interleaved samples per pixel, from channel `first` of the image on.
  void copy_plane(const heif_image* decoded, heif_channel channel, const Item& item, int samples, int first,
                  Image& image) const {
    int row_bytes = 0;
    const unsigned char* plane = heif_image_get_plane_readonly(decoded, channel, &row_bytes);
    if (plane == nullptr) fail("a channel is missing");
    if (heif_image_get_width(decoded, channel) != item.width ||
        heif_image_get_height(decoded, channel) != item.height ||
        heif_image_get_bits_per_pixel_range(decoded, channel) != item.bits)
      fail("the decoded picture has another size or depth than the file says");
    const Strides strides = interleaved_strides(image.shape());
    const std::size_t copied = static_cast<std::size_t>(strides.channel) * static_cast<std::size_t>(samples);
    const auto width = static_cast<std::size_t>(item.width), pixel = static_cast<std::size_t>(strides.pixel);
    for (int y = 0; y < item.height; ++y) {
      std::byte* const row = row_of(image, y) + strides.channel * first;
      const unsigned char* from = plane + std::ptrdiff_t{row_bytes} * y;
      if (copied == pixel) {
        std::memcpy(row, from, width * copied);
        continue;
      }
      for (std::size_t x = 0; x < width; ++x) std::memcpy(row + x * pixel, from + x * copied, copied);
    }
  }

  /// Returns the memory of libheif in half samples per pixel: its result, the planes of the decoder and,
  /// above 8 bits, planes of colours. Measured with libheif 1.15: 14.6 bytes per pixel for 12 megapixels of
  /// 10 bits with quarter chroma.
  static std::uint64_t halves_beside(int channels, int bits, bool quarter_chroma) {
    const int planes = 2 * channels - (quarter_chroma && channels >= 3 ? 3 : 0);
    return static_cast<std::uint64_t>(2 * channels + planes + (bits > 8 && channels >= 3 ? 6 : 0));
  }

  static std::uint64_t side_of(int length) { return static_cast<std::uint64_t>(std::max(length, 0)); }

  /// Whether libheif 1.15 converts the colours of this matrix wrongly.
  static bool is_converted_wrongly(const Item& item) {
    constexpr int gbr = 0, ycgco = 8, last_simple = 9, by_primaries = 12;  // ITU-T H.273
    if (item.matrix == gbr) return item.is_limited;
    if (item.matrix == ycgco) return item.is_limited || item.bits > 8;
    return item.matrix > last_simple && item.matrix != by_primaries;
  }

  /// Spreads grey codes of limited range, and codes of 9 to 16 bits, over the whole range of the type.
  /// libheif does the former for colours; alpha always has the full range.
  void spread(Image& image, const Item& item) const {
    const int channels = image.shape().channels;
    if (channels >= 3 && is_converted_wrongly(item))
      unsupported(format,
                  "colours by the matrix " + std::to_string(item.matrix) + " of ITU-T H.273 in this form",
                  advice);
    const unsigned shift = static_cast<unsigned>(item.bits) - 8;
    for (int c = 0; c < channels; ++c) {
      if (item.is_limited && channels < 3 && c == 0)
        spread_codes(image, c, 16U << shift, 235U << shift);
      else if (item.bits > 8)
        spread_codes(image, c, 0, (1U << item.bits) - 1);
    }
  }

  static constexpr const char* advice =
      "Convert it to .png first, for example with heif-convert of a newer libheif.";
  Context context_;
};

/// Returns the TIFF structure of an EXIF block. The block begins with its offset (ISO/IEC 23008-12, A.2.1).
/// Some writers put the marker of JPEG between them and do not count it.
Bytes exif_of(Bytes block) {
  constexpr std::size_t place = 4;
  if (block.size() < place) return {};
  const std::uint32_t offset = be32(block, 0);
  block = block.subspan(place);
  if (offset >= block.size()) return {};
  block = block.subspan(offset);
  constexpr std::string_view marker{"Exif\0\0", 6};
  return starts_with(block, marker) ? block.subspan(marker.size()) : block;
}

/// Returns the profile of an item, or one made from its code points.
FileBytes profile_of(const Item& item, const char* format) {
  if (!item.icc.empty()) return item.icc;
  const CodedColour colour{item.primaries, item.transfer};
  if (is_hdr(colour))
    unsupported(format, "colours that are coded for high dynamic range (PQ or HLG) without a profile",
                "Convert it to linear light in .exr, or to standard range, for example with ffmpeg.");
  return icc_profile(colour);
}

Picture decode_picture(HeifFile& file, const ReadOptions& options) {
  const Item& item = file.items.front();
  static_cast<void>(profile_of(item, file.format));  // refuses before decoding
  const HeifPicture& stored = file.stored;
  const int colours = stored.grey ? 1 : 3;
  Picture picture(file.decode(0, item.has_alpha ? colours + 1 : colours, options, stored.quarter_chroma));
  if (item.has_alpha && item.is_premultiplied) divide_by_alpha(picture.image);
  // A grey picture gets no profile made from code points, as that would describe colours.
  if (!stored.grey || !item.icc.empty()) picture.metadata.icc = profile_of(item, file.format);
  picture.metadata.exif = copy_of(exif_of(item.exif));
  picture.metadata.xmp = item.xmp;
  if (const std::uint32_t length = heif_sequence_length(file.bytes); length > 1)
    picture.warnings.push_back("the file has a sequence of " + std::to_string(length) +
                               " pictures beside the still one, which alone is read. Save them as .png "
                               "first, for example with ffmpeg.");
  return picture;
}

Picture decode_heif(Bytes bytes, const ReadOptions& options) {
  HeifFile file(bytes);
  return decode_picture(file, options);
}

/// Lists the primary picture first.
std::vector<FilePicture> list_pictures(Bytes bytes, const ReadOptions& /*options*/) {
  const HeifFile file(bytes);
  const std::vector<std::uint32_t> parts = heif_tiles(bytes);
  std::vector<FilePicture> pictures{FilePicture{}};
  for (const heif_item_id number : file.pictures)
    if (!std::ranges::binary_search(parts, number)) pictures.push_back({{}, number, true});
  return pictures;
}

Picture decode_further(Bytes bytes, const FilePicture& picture, const ReadOptions& options) {
  HeifFile file(bytes, static_cast<std::uint32_t>(picture.at));
  return decode_picture(file, options);
}

/// Returns the meaning of an auxiliary picture's codes as depth: by its own XMP, or else by its bit stream.
/// Without either, white is near. Returns nothing if the picture is not depth.
std::optional<DepthTerms> depth_terms(const Item& item) {
  const std::optional<XmpNode> xmp = parse_xmp(item.xmp);
  if (std::optional<DepthTerms> terms = xmp ? apple_terms(*xmp) : std::nullopt) return terms;
  const std::string& type = item.auxiliary_type;
  if (type != "urn:mpeg:hevc:2015:auxid:2" && type != "urn:mpeg:mpegB:cicp:systems:auxiliary:depth" &&
      !type.ends_with("aux:disparity"))
    return std::nullopt;
  const DepthCodes codes = item.depth.value_or(DepthCodes{false, 0, 1});
  return relative_terms(codes.first, codes.last, codes.are_distances);
}

/// Adds the depth or matte of an auxiliary picture. Unusable depth becomes Photo::problem, an unusable matte
/// a warning: the picture itself is read all the same.
void add_auxiliary(HeifFile& file, std::size_t index, const ReadOptions& options, Picture& picture) {
  const Item& item = file.items[index];
  Photo& photo = *picture.photo;
  const std::string matte = matte_of_type(item.auxiliary_type);
  try {
    if (!matte.empty()) {
      if (item.bits != 8) unsupported(file.format, "a matte of more than 8 bits", "");
      photo.mattes.push_back({matte, file.decode(index, 1, options)});
    } else if (const std::optional<DepthTerms> terms = depth_terms(item); terms && !photo.depth) {
      photo.depth = photo_depth(file.decode(index, 1, options), *terms, 1, options.allocator);
      photo.depth->place = "auxiliary picture " + std::to_string(index);
    }
  } catch (const Error& error) {
    if (matte.empty())
      photo.problem = error.what();
    else
      picture.warnings.push_back("The matte '" + matte + "' was left out: " + error.what());
  }
}

Picture decode_heif_photo(Bytes bytes, const ReadOptions& options) {
  HeifFile file(bytes);
  Picture picture = decode_picture(file, options);
  picture.photo.emplace();
  for (std::size_t i = 1; i < file.items.size(); ++i) add_auxiliary(file, i, options, picture);
  return picture;
}

bool is_gain_map(const Item& item) { return item.auxiliary_type.ends_with("aux:hdrgainmap"); }

std::optional<GainMap> read_gain_map(Bytes bytes, const Picture& picture, const ReadOptions& options) {
  HeifFile file(bytes);
  const auto item = std::ranges::find_if(file.items, is_gain_map);
  if (item == file.items.end()) {
    if (has_tone_map(bytes)) refuse_gain_map("libheif hands out no picture of a 'tmap' item");
    return std::nullopt;
  }
  if (item->bits != 8) refuse_gain_map("it has " + std::to_string(item->bits) + " bits, and 8 are read");
  const double headroom = apple_headroom_of(parse_xmp(item->xmp), picture.metadata.exif);
  ReadOptions plain;
  plain.limits = options.limits;
  const auto index = static_cast<std::size_t>(item - file.items.begin());
  return apple_gain_map(file.decode(index, 1, plain), headroom);
}

FileFacts facts_of(Bytes bytes) {
  const HeifFile file(bytes);
  FileFacts facts;
  facts.orientation = file.stored.orientation;
  facts.gain_map = std::ranges::any_of(file.items, is_gain_map) || has_tone_map(bytes);
  return facts;
}

}  // namespace
}  // namespace satin::io

extern "C" __attribute__((visibility("default"))) const satin::io::CodecModule* satin_codecs() {
  namespace io = satin::io;
  static const io::CodecModule module{
      satin::version(), [](io::Codec& codec) {
        codec.decode = io::decode_heif;
        codec.decode_photo = io::decode_heif_photo;
        codec.facts = io::facts_of;
        codec.read_gain_map = io::read_gain_map;
        codec.several = {"page", io::list_pictures, io::decode_further, nullptr};
      }};
  return &module;
}
