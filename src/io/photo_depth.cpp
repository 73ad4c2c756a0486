// Depth maps and mattes that photographs carry: from the pictures of a JPEG file, and back into one.

#include <algorithm>
#include <utility>

#include "io/codec_steps.h"
#include "metadata/exif.h"
#include "metadata/jpeg_markers.h"
#include "metadata/xmp.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin::io {
namespace {

/// Returns the first channel of a picture whose colours agree.
template <class Code>
Image one_channel(const Image& image) {
  const Shape& shape = image.shape();
  Image result({shape.width, shape.height, 1, shape.type});
  const int colours = shape.channels - (shape.alpha == Alpha::none ? 0 : 1);
  const auto* from = reinterpret_cast<const Code*>(image.data());
  auto* to = reinterpret_cast<Code*>(result.data());
  for (std::int64_t i = 0; i < shape.width * shape.height; ++i, from += shape.channels) {
    to[i] = from[0];
    for (int c = 1; c < colours; ++c)
      if (from[c] != from[0]) refuse_depth("the colours of its picture do not agree");
  }
  return result;
}

Image one_channel(Image image) {
  if (image.shape().channels == 1) return image;
  return image.shape().type == Type::u8 ? one_channel<std::uint8_t>(image)
                                        : one_channel<std::uint16_t>(image);
}

const Codec* codec_of(Bytes item) {
  for (const Codec& codec : codecs())
    if ((codec.name == std::string_view("PNG") || codec.name == std::string_view("JPEG")) &&
        codec.sniff(item, {}))
      return &codec;
  return nullptr;
}

/// Decodes a picture of codes, oriented as stored.
Image decode_codes(Bytes item, const ReadOptions& options) {
  const Codec* codec = codec_of(item);
  if (codec == nullptr) refuse_depth("its picture is neither PNG nor JPEG");
  if (is_lossless_jpeg(item)) refuse_depth("it is a JPEG coded without loss (SOF3), which is not read");
  ReadOptions plain;
  plain.limits = options.limits;
  return one_channel(codec->decode(item, plain).image);
}

PhotoDepth decode_depth(DepthItem& source, int orientation, const ReadOptions& options) {
  PhotoDepth depth =
      photo_depth(decode_codes(source.item, options), source.terms, orientation, options.allocator);
  depth.place = std::move(source.place);
  if (source.terms.turned) return depth;  // the stored picture has the opposite sense of GDepth's
  depth.stored.codes = Image();
  depth.stored.item = std::move(source.item);
  depth.stored.mime =
      codec_of(depth.stored.item)->name == std::string_view("PNG") ? "image/png" : "image/jpeg";
  return depth;
}

/// Adds a matte. One that cannot be decoded is left out with a warning.
void add_matte(Photo& photo, const MatteItem& matte, const ReadOptions& options,
               std::vector<std::string>& warnings) {
  try {
    Image weights = decode_codes(matte.item, options);
    photo.mattes.push_back({matte.name, upright(std::move(weights), photo.orientation, options.allocator)});
  } catch (const Error& error) {
    warnings.push_back("The matte '" + matte.name + "' was left out: " + error.what());
  }
}

/// Decodes the original, which is the picture to be filtered, and gives it the metadata of the enclosing
/// file.
Picture decode_original(const PhotoOriginal& original, Metadata metadata, int orientation,
                        const ReadOptions& options, const Codec& jpeg) {
  Picture picture = jpeg.decode(original.file, options);
  if (!stored_orientation(picture.metadata.exif, picture.metadata.xmp))
    picture.image = upright(std::move(picture.image), orientation, options.allocator);
  if (!picture.metadata.icc.empty()) metadata.icc = std::move(picture.metadata.icc);
  metadata.jpeg = std::move(picture.metadata.jpeg);
  picture.metadata = std::move(metadata);
  return picture;
}

/// Returns the orientation that turns an upright picture back to how it was stored.
constexpr int inverse_of(int orientation) {
  return orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
}

FileBytes png_of(const Image& codes) {
  for (const Codec& codec : codecs())
    if (codec.name == std::string_view("PNG")) return codec.encode(codes, {});
  unsupported("PNG", "this build", "Build Satin with PNG.");
}

void add(std::string& text, const char* name, std::string_view value) {
  if (!value.empty()) text += std::string(" ") + name + "=\"" + std::string(value) + "\"";
}

/// Adds the focus. Distances are in the unit of the stored depth.
void add_focus(std::string& text, const PhotoBlur& blur, const Photo& photo) {
  if (blur.disparity > 0) {
    const double metres = photo.depth->stored.units == "mm" ? 0.001 : 1;
    add(text, "GFocus:FocalDistance", print_real(1 / blur.disparity / metres));
    add(text, "GFocus:BlurAtInfinity", print_real(blur.at_infinity));
  }
  if (!blur.place) return;
  const Point stored =
      upright_point(blur.place->x.value / 100, blur.place->y.value / 100, inverse_of(photo.orientation));
  add(text, "GFocus:FocalPointX", print_real(stored.x.value / 100));
  add(text, "GFocus:FocalPointY", print_real(stored.y.value / 100));
}

/// Returns the XMP of a photograph that can be refocused again: GDepth, GImage and GFocus.
std::string packet_of(const Photo& photo, const PhotoBlur& blur) {
  const StoredDepth& depth = photo.depth->stored;
  std::string text =
      "<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?><x:xmpmeta "
      "xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
      "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
      "<rdf:Description rdf:about=\"\" xmlns:GFocus=\"http://ns.google.com/photos/1.0/focus/\""
      " xmlns:GImage=\"http://ns.google.com/photos/1.0/image/\""
      " xmlns:GDepth=\"http://ns.google.com/photos/1.0/depthmap/\"";
  add_focus(text, blur, photo);
  add(text, "GDepth:Format", depth.format);
  add(text, "GDepth:Near", depth.near);
  add(text, "GDepth:Far", depth.far);
  add(text, "GDepth:Units", depth.units);
  add(text, "GDepth:Mime", depth.item.empty() ? "image/png" : depth.mime);
  add(text, "GImage:Mime", "image/jpeg");
  add(text, "GDepth:Data", to_base64(depth.item.empty() ? png_of(depth.codes) : depth.item));
  add(text, "GImage:Data", to_base64(photo.original.file));
  return text + "/></rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?>";
}

}  // namespace

void complete_photo(Photo& photo, const Metadata& metadata, const Shape& shape) {
  const Bytes exif = metadata.exif;
  const int orientation = stored_orientation(exif, metadata.xmp).value_or(1);
  const bool lies = orientation >= 5;
  if (!photo.focus)
    photo.focus =
        exif_focus(exif, lies ? shape.height : shape.width, lies ? shape.width : shape.height, orientation);
  photo.focal_length = exif_focal_length(exif);
}

std::vector<FilePicture> list_jpegs(Bytes bytes, const ReadOptions& /*options*/) {
  std::vector<FilePicture> pictures{FilePicture{}};
  for (const std::size_t place : further_jpegs(bytes)) pictures.push_back({{}, place, true});
  return pictures;
}

Picture decode_jpeg_photo(Bytes bytes, const ReadOptions& options) {
  std::vector<std::string> warnings;
  Metadata metadata = jpeg_metadata(bytes, warnings);
  const int orientation = stored_orientation(metadata.exif, metadata.xmp).value_or(1);
  PhotoSource source = photo_source(bytes, metadata.xmp, orientation);
  const Codec& jpeg = *codec_of(bytes);
  const bool has_original = codec_of(source.original.file) == &jpeg;
  Picture picture = has_original
                        ? decode_original(source.original, std::move(metadata), orientation, options, jpeg)
                        : jpeg.decode(bytes, options);
  if (has_original) picture.warnings.insert(picture.warnings.begin(), warnings.begin(), warnings.end());
  Photo photo;
  photo.original =
      has_original
          ? std::move(source.original)
          : PhotoOriginal{options.gain_map ? jpeg_alone_with_gain_map(bytes) : jpeg_alone(bytes), {}};
  photo.orientation = orientation;
  photo.focus = std::move(source.focus);
  if (photo.focus && photo.focus->distance && source.depth)
    *photo.focus->distance *= source.depth->terms.metres;
  photo.problem = std::move(source.problem);
  try {
    if (source.depth) photo.depth = decode_depth(*source.depth, orientation, options);
  } catch (const Error& error) {
    photo.problem = error.what();
  }
  for (const MatteItem& matte : source.mattes) add_matte(photo, matte, options, picture.warnings);
  picture.photo = std::move(photo);
  return picture;
}

KeptPhoto keep_photo(const ImageView& image, const WriteOptions& options) {
  const Photo& photo = *options.photo;
  if (!photo.depth || photo.original.file.empty())
    throw Error(ErrorKind::usage, "there is no depth of a photograph to keep. Drop --keep-depth.");
  KeptPhoto kept{upright(copy_of(image), inverse_of(photo.orientation), {}), {}, options};
  kept.options.photo = nullptr;
  if (options.gain_map != nullptr) {
    kept.gain_map = {
        options.gain_map->metadata, {}, options.gain_map->origin, options.gain_map->alternate_icc};
    kept.gain_map.pixels = upright(options.gain_map->pixels.clone(), inverse_of(photo.orientation), {});
  }
  const Shape& shape = kept.image.shape();
  Metadata& metadata = kept.options.metadata;
  frame_in_exif(metadata.exif,
                Framing::whole(static_cast<double>(shape.width), static_cast<double>(shape.height)),
                inverse_of(photo.orientation));
  describe_in_exif(metadata.exif, shape.width, shape.height, photo.orientation);
  static_cast<void>(describe_in_xmp(metadata.xmp, shape.width, shape.height, photo.orientation));
  // If a damaged block was left out, the orientation of original and depth was lost with it.
  if (stored_orientation(metadata.exif, metadata.xmp).value_or(1) != photo.orientation)
    metadata.exif = exif_of_orientation(photo.orientation);
  const std::string packet = packet_of(photo, options.blur);
  const Bytes own = std::as_bytes(std::span(packet));
  std::optional<FileBytes> joined = metadata.xmp.empty() ? std::nullopt : joined_xmp(metadata.xmp, own);
  metadata.xmp = joined ? std::move(*joined) : copy_of(own);
  return kept;
}

}  // namespace satin::io

namespace satin {

Image upright_codes(const Photo& photo) {
  const StoredDepth& stored = photo.depth->stored;
  Image codes = stored.item.empty() ? copy_of(stored.codes) : io::decode_codes(stored.item, {});
  return io::upright(std::move(codes), photo.orientation, {});
}

}  // namespace satin
