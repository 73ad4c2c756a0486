// HEIC and AVIF by libheif, for reading only. The module satin_io_heif holds the library. Samples of 9 to 16
// bits become u16: code * 65535 / largest code, rounded to nearest.

#include <algorithm>
#include <limits>
#include <memory>

#include "io/codec_steps.h"
#include "io/module.h"
#include "io/photo_depth.h"
#include "metadata/colour_profile.h"
#include "metadata/heif_boxes.h"
#include "satin/error.h"

namespace satin::io {
namespace {

const SatinHeif& libheif() {
  static const Module<SatinHeif> module("satin_io_heif.so", heif_entry_name, heif_interface_version);
  if (module.functions == nullptr)
    throw Error(
        ErrorKind::environment,
        "HEIC and AVIF need Satin's module for libheif, and it could not be loaded (" + module.error +
            "). Install it (Debian: satin-heif, with libheif1), or convert the file to .jpg or .png.");
  return *module.functions;
}

void require_libheif() { static_cast<void>(libheif()); }

/// A file that is open in libheif.
class HeifFile {
 public:
  /// Opens the picture with this number, or the primary one for 0.
  explicit HeifFile(Bytes file, std::uint32_t number = 0)
      : format(is_avif(file) ? "AVIF" : "HEIC"),
        bytes(file),
        stored(read_heif_boxes(file, number).value_or(HeifPicture{})),
        functions_(libheif()),
        file_(nullptr, functions_.close) {
    if (!is_whole_heif(bytes)) truncated(format);
    SatinHeifMessage message{};
    file_.reset(functions_.open(bytes.data(), bytes.size(), number, &message));
    if (file_ == nullptr) fail(message);
  }

  const char* const format;  ///< name for messages
  const Bytes bytes;
  const HeifPicture stored;  ///< description by the boxes of the file

  [[nodiscard]] std::span<const SatinHeifItem> items() const {
    int count = 0;
    const SatinHeifItem* const first = functions_.items(file_.get(), &count);
    return {first, static_cast<std::size_t>(count)};
  }

  /// Returns the numbers of the pictures beside the primary one.
  [[nodiscard]] std::span<const unsigned> pictures() const {
    int count = 0;
    const unsigned* const first = functions_.pictures(file_.get(), &count);
    return {first, static_cast<std::size_t>(count)};
  }

  /// Decodes an item to u8 or u16 with this many channels.
  [[nodiscard]] Image decode(std::size_t index, int channels, const ReadOptions& options,
                             bool quarter_chroma = false) const {
    const SatinHeifItem& item = items()[index];
    if (item.bits < 8 || item.bits > 16)
      unsupported(format, std::to_string(item.bits) + " bits a sample", "Save it with 8, 10 or 12 bits.");
    const Type type = item.bits == 8 ? Type::u8 : Type::u16;
    const std::uint64_t width = side_of(item.width), height = side_of(item.height);
    accept(width, height, channels, type, options,
           halves_beside(channels, item.bits, quarter_chroma) * size_of(type) * width * height / 2);
    Image image = allocate(width, height, channels, type, alpha_of(channels), options);
    SatinHeifMessage message{};
    switch (functions_.decode(file_.get(), static_cast<int>(index), channels, image.data(), &message)) {
      case 0:
        fail(message);
      case 2:
        image = Image();
        return decode(index, channels, options, quarter_chroma);
      default:
        break;
    }
    spread(image, item);
    return image;
  }

 private:
  [[noreturn]] void fail(const SatinHeifMessage& message) const {
    const std::string text(message.text);
    const std::string reason = text.substr(0, text.find_last_not_of("\n. ") + 1);  // joined to one line
    const std::string_view coding = heif_coding(bytes);
    constexpr std::string_view known[] = {"hvc1", "av01", "grid", "iden", "iovl", ""};
    if (coding.empty() && heif_sequence_length(bytes) != 0)
      unsupported(format, "a sequence of pictures and no still one",
                  "Save them as .png first, for example with ffmpeg.");
    if (std::ranges::find(known, coding) == std::end(known))
      unsupported(format, "a picture coded as '" + printable(std::string(coding)) + "'", advice);
    if (message.lacks != 0) not_read(format, "libheif says: " + reason, advice);
    damaged(format, reason);
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
  static bool is_converted_wrongly(const SatinHeifItem& item) {
    constexpr int gbr = 0, ycgco = 8, last_simple = 9, by_primaries = 12;  // ITU-T H.273
    if (item.matrix == gbr) return item.is_limited != 0;
    if (item.matrix == ycgco) return item.is_limited != 0 || item.bits > 8;
    return item.matrix > last_simple && item.matrix != by_primaries;
  }

  /// Spreads grey codes of limited range, and codes of 9 to 16 bits, over the whole range of the type.
  /// libheif does the former for colours; alpha always has the full range.
  void spread(Image& image, const SatinHeifItem& item) const {
    const int channels = image.shape().channels;
    if (channels >= 3 && is_converted_wrongly(item))
      unsupported(format,
                  "colours by the matrix " + std::to_string(item.matrix) + " of ITU-T H.273 in this form",
                  advice);
    const unsigned shift = static_cast<unsigned>(item.bits) - 8;
    for (int c = 0; c < channels; ++c) {
      if (item.is_limited != 0 && channels < 3 && c == 0)
        spread_codes(image, c, 16U << shift, 235U << shift);
      else if (item.bits > 8)
        spread_codes(image, c, 0, (1U << item.bits) - 1);
    }
  }

  static constexpr const char* advice =
      "Convert it to .png first, for example with heif-convert of a newer libheif.";
  const SatinHeif& functions_;
  std::unique_ptr<SatinHeifFile, void (*)(SatinHeifFile*)> file_;
};

Bytes bytes_of(const SatinHeifBytes& block) { return std::as_bytes(std::span(block.data, block.size)); }

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

template <class Sample>
void divide_by_alpha(Image& image) {
  constexpr std::uint64_t largest = std::numeric_limits<Sample>::max();
  const auto channels = static_cast<std::size_t>(image.shape().channels);
  auto* pixel = reinterpret_cast<Sample*>(image.data());
  auto* const end = pixel + byte_size(image.shape()) / sizeof(Sample);
  for (; pixel != end; pixel += channels) {
    const std::uint64_t alpha = pixel[channels - 1];
    if (alpha == 0 || alpha == largest) continue;
    std::for_each(pixel, pixel + channels - 1, [&](Sample& colour) {
      colour = static_cast<Sample>(std::min(largest, (colour * largest + alpha / 2) / alpha));
    });
  }
}

/// Returns the profile of an item, or one made from its code points.
FileBytes profile_of(const SatinHeifItem& item, const char* format) {
  if (item.icc.size != 0) return copy_of(bytes_of(item.icc));
  const CodedColour colour{item.primaries, item.transfer};
  if (is_hdr(colour))
    unsupported(format, "colours that are coded for high dynamic range (PQ or HLG) without a profile",
                "Convert it to linear light in .exr, or to standard range, for example with ffmpeg.");
  return icc_profile(colour);
}

Picture decode_picture(const HeifFile& file, const ReadOptions& options) {
  const SatinHeifItem& item = file.items().front();
  static_cast<void>(profile_of(item, file.format));  // refuses before decoding
  const HeifPicture& stored = file.stored;
  const int colours = stored.grey ? 1 : 3;
  Picture picture(
      file.decode(0, item.has_alpha != 0 ? colours + 1 : colours, options, stored.quarter_chroma));
  if (item.has_alpha != 0 && item.is_premultiplied != 0)
    item.bits == 8 ? divide_by_alpha<std::uint8_t>(picture.image)
                   : divide_by_alpha<std::uint16_t>(picture.image);
  // A grey picture gets no profile made from code points, as that would describe colours.
  if (!stored.grey || item.icc.size != 0) picture.metadata.icc = profile_of(item, file.format);
  picture.metadata.exif = copy_of(exif_of(bytes_of(item.exif)));
  picture.metadata.xmp = copy_of(bytes_of(item.xmp));
  if (const std::uint32_t length = heif_sequence_length(file.bytes); length > 1)
    picture.warnings.push_back("the file has a sequence of " + std::to_string(length) +
                               " pictures beside the still one, which alone is read. Save them as .png "
                               "first, for example with ffmpeg.");
  return picture;
}

Picture decode_heif(Bytes bytes, const ReadOptions& options) {
  return decode_picture(HeifFile(bytes), options);
}

/// Lists the primary picture first.
std::vector<FilePicture> list_pictures(Bytes bytes, const ReadOptions& /*options*/) {
  const HeifFile file(bytes);
  const std::vector<std::uint32_t> parts = heif_tiles(bytes);
  std::vector<FilePicture> pictures{FilePicture{}};
  for (const unsigned number : file.pictures())
    if (!std::ranges::binary_search(parts, number)) pictures.push_back({{}, number, true});
  return pictures;
}

Picture decode_further(Bytes bytes, const FilePicture& picture, const ReadOptions& options) {
  return decode_picture(HeifFile(bytes, static_cast<std::uint32_t>(picture.at)), options);
}

/// Returns the meaning of an auxiliary picture's codes as depth: by its own XMP, or else by its bit stream.
/// Without either, white is near. Returns nothing if the picture is not depth.
std::optional<DepthTerms> depth_terms(const SatinHeifItem& item) {
  const std::optional<XmpNode> xmp = parse_xmp(bytes_of(item.xmp));
  if (std::optional<DepthTerms> terms = xmp ? apple_terms(*xmp) : std::nullopt) return terms;
  const std::string_view type = item.auxiliary_type;
  if (type != "urn:mpeg:hevc:2015:auxid:2" && type != "urn:mpeg:mpegB:cicp:systems:auxiliary:depth" &&
      !type.ends_with("aux:disparity"))
    return std::nullopt;
  if (item.depth.known == 0) return relative_terms(0, 1, false);
  return relative_terms(item.depth.first, item.depth.last, item.depth.is_distance != 0);
}

/// Adds the depth or matte of an auxiliary picture. Unusable depth becomes Photo::problem, an unusable matte
/// a warning: the picture itself is read all the same.
void add_auxiliary(const HeifFile& file, std::size_t index, const ReadOptions& options, Picture& picture) {
  const SatinHeifItem& item = file.items()[index];
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
  const HeifFile file(bytes);
  Picture picture = decode_picture(file, options);
  picture.photo.emplace();
  for (std::size_t i = 1; i < file.items().size(); ++i) add_auxiliary(file, i, options, picture);
  return picture;
}

FileFacts facts_of(Bytes bytes) {
  const HeifFile file(bytes);
  const auto is_gain_map = [](const SatinHeifItem& item) {
    return std::string_view(item.auxiliary_type).ends_with("gainmap");
  };
  FileFacts facts;
  facts.orientation = file.stored.orientation;
  facts.gain_map = std::ranges::any_of(file.items(), is_gain_map);
  return facts;
}

std::optional<bool> fits_jpeg(Bytes bytes) {
  const std::optional<HeifPicture> picture = read_heif_boxes(bytes);
  return picture ? std::optional(picture->bits == 8 && !picture->alpha) : std::nullopt;
}

Codec heif_codec(const char* name, std::vector<std::string_view> extensions,
                 bool (*sniff)(Bytes, std::string_view)) {
  Codec codec{name, std::move(extensions), sniff, decode_heif};
  codec.advice = "Satin only reads them. Write .jpg, .png or .tiff instead.";
  codec.require = require_libheif;
  codec.fits_jpeg = fits_jpeg;
  codec.decode_photo = decode_heif_photo;
  codec.facts = facts_of;
  codec.several = {"page", list_pictures, decode_further, nullptr};
  return codec;
}

}  // namespace

Codec heic_codec() { return heif_codec("HEIC", {".heic", ".heif", ".hif"}, sniff_heic); }
Codec avif_codec() { return heif_codec("AVIF", {".avif"}, sniff_avif); }

}  // namespace satin::io
