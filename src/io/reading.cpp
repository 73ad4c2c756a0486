#include "io/reading.h"

#include "io/support.h"
#include "metadata/colour_profile.h"
#include "metadata/pixel_tags.h"
#include "metadata/resolution.h"
#include "metadata/xmp.h"

namespace satin::io {

const Codec& codec_for(Bytes bytes, std::string_view extension) {
  for (const Codec& codec : codecs()) {
    if (!codec.sniff(bytes, extension)) continue;
    if (!codec.reads())
      throw Error(ErrorKind::input, std::string(codec.name) + " files are not read. " + codec.advice);
    return codec;
  }
  std::vector<std::string> names;
  for (const Codec& codec : codecs())
    if (codec.reads()) names.emplace_back(codec.name);
  throw Error(ErrorKind::input,
              "this is not an image format that Satin reads. Convert it to " + one_of(names) + ".");
}

void describe(Metadata& metadata, const Shape& shape, std::vector<std::string>& warnings) {
  if (!metadata.resolution) metadata.resolution = resolution_of_exif(metadata.exif);
  describe_in_exif(metadata.exif, shape.width, shape.height);
  if (!describe_in_xmp(metadata.xmp, shape.width, shape.height))
    warnings.emplace_back("The XMP packet is damaged and was left out.");
  if (describes(metadata.icc, shape.channels)) return;
  metadata.icc.clear();
  warnings.emplace_back(std::string("The ICC profile is not one of ") +
                        (shape.channels >= 3 ? "RGB" : "grey") +
                        " pixels, as the picture has, and was left out.");
}

}  // namespace satin::io
