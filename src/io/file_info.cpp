#include "io/file_info.h"

#include "io/choice.h"
#include "io/photo_depth.h"
#include "metadata/colour_profile.h"
#include "metadata/xmp.h"

namespace satin::io {
namespace {

/// Phones name the standard of their gain map in the XMP of the picture.
bool names_gain_map(Bytes xmp) {
  const std::string_view text = text_of(xmp);
  return text.find("http://ns.adobe.com/hdr-gain-map/") != std::string_view::npos ||
         text.find("http://ns.apple.com/HDRGainMap/") != std::string_view::npos;
}

}  // namespace

FileInfo file_info(const Codec& codec, Bytes bytes, const ReadOptions& options) {
  std::vector<FilePicture> pictures{FilePicture{}};
  if (codec.several.list != nullptr) pictures = codec.several.list(bytes, options);
  const bool chosen = options.page || !options.part.empty();
  FileInfo info;
  info.picture =
      decode(codec, bytes, chosen ? chosen_picture(codec, bytes, options) : pictures.front(), options);
  const Metadata& metadata = info.picture.metadata;
  if (info.picture.photo) complete_photo(*info.picture.photo, metadata, info.picture.image.shape());
  const FileFacts facts = codec.facts != nullptr ? codec.facts(bytes) : FileFacts{};
  info.format = codec.name;
  info.bytes = bytes.size();
  info.pages = pictures.size();
  for (const FilePicture& picture : pictures)
    if (!picture.name.empty()) info.parts.push_back(picture.name);
  info.orientation = facts.orientation.value_or(stored_orientation(metadata.exif, metadata.xmp).value_or(1));
  info.gain_map = facts.gain_map || names_gain_map(metadata.xmp);
  if (!metadata.icc.empty()) info.profile = profile_name(metadata.icc);
  return info;
}

}  // namespace satin::io
