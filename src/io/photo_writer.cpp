// Photographs that can be refocused again: GDepth, GImage and GFocus in the XMP of a JPEG file.

#include <utility>

#include "io/photo_depth.h"
#include "io/support.h"
#include "metadata/base64.h"
#include "metadata/extended_xmp.h"
#include "metadata/photo_exif.h"
#include "metadata/pixel_tags.h"
#include "metadata/xmp.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin::io {
namespace {

/// What turns an upright picture to how it was stored.
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

/// Distances are in the unit of the depth as it is stored.
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

KeptPhoto keep_photo(const ImageView& image, const WriteOptions& options) {
  const Photo& photo = *options.photo;
  if (!photo.depth || photo.original.file.empty())
    throw Error(ErrorKind::usage, "there is no depth of a photograph to keep. Drop --keep-depth.");
  KeptPhoto kept{upright(copy_of(image), inverse_of(photo.orientation), {}), options};
  kept.options.photo = nullptr;
  const Shape& shape = kept.image.shape();
  Metadata& metadata = kept.options.metadata;
  describe_in_exif(metadata.exif, shape.width, shape.height, photo.orientation);
  static_cast<void>(describe_in_xmp(metadata.xmp, shape.width, shape.height, photo.orientation));
  // A damaged block was left out, and with it how original and depth are turned.
  if (stored_orientation(metadata.exif, metadata.xmp).value_or(1) != photo.orientation)
    metadata.exif = exif_of_orientation(photo.orientation);
  const std::string packet = packet_of(photo, options.blur);
  const Bytes own = std::as_bytes(std::span(packet));
  std::optional<FileBytes> joined = metadata.xmp.empty() ? std::nullopt : joined_xmp(metadata.xmp, own);
  metadata.xmp = joined ? std::move(*joined) : copy_of(own);
  return kept;
}

}  // namespace satin::io
