#include "view/open_picture.h"

#include <optional>
#include <utility>

#include "batch/photographs.h"
#include "io/convert.h"

namespace satin::view {
namespace {

std::shared_ptr<Pyramid> shown_of(const Device& device, const std::shared_ptr<const Picture>& source,
                                  const std::shared_ptr<Pyramid>& pixels) {
  const std::shared_ptr<const Image> image(source, &source->image);
  std::shared_ptr<const Image> shown = in_8_bits(image, source->metadata);
  return shown == image ? pixels : std::make_shared<Pyramid>(device, std::move(shown), Space::linear);
}

}  // namespace

OpenPicture::OpenPicture(const Device& device, Picture picture, bool with_photo)
    : source_(std::make_shared<const Picture>(std::move(picture))),
      pixels_(std::make_shared<Pyramid>(device, std::shared_ptr<const Image>(source_, &source_->image),
                                        Space::linear)),
      shown_(shown_of(device, source_, pixels_)),
      with_photo_(with_photo) {}

bool wants_photo(const Pipeline& pipeline, const BatchOptions& options) {
  return batch::takes_photo(pipeline) || options.mask_from != MaskSource::file;
}

Pipeline steps_for(const Pipeline& pipeline, const OpenPicture& picture) {
  return batch::takes_photo(pipeline) ? batch::pipeline_for(pipeline, picture.source()).steps : pipeline;
}

std::shared_ptr<const Image> in_8_bits(std::shared_ptr<const Image> image, const Metadata& metadata) {
  Shape target = image->shape();
  const bool has_codes = target.type != Type::f32;  // floats are linear light of sRGB's primaries
  target.type = Type::u8;
  if (target.alpha == Alpha::premultiplied) target.alpha = Alpha::straight;
  if (target != image->shape())
    image = std::make_shared<const Image>(io::converted(*image, target, false, metadata));
  if (!has_codes) return image;
  std::optional<Image> managed = io::in_srgb(*image, metadata.icc);
  return managed ? std::make_shared<const Image>(std::move(*managed)) : image;
}

}  // namespace satin::view
