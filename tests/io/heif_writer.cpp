#include "tests/io/heif_writer.h"

#include <libheif/heif.h>

#include <cstring>

/// Suppression for LeakSanitizer, which asks for this text where it is linked: the encoder keeps tables until
/// the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libx265"; }

namespace satin::test {
namespace {

void check(const heif_error& error) {
  if (error.code != heif_error_Ok) throw std::runtime_error(error.message);
}

heif_chroma chroma_of(const Shape& shape) {
  if (shape.type == Type::u8)
    return shape.channels == 3 ? heif_chroma_interleaved_RGB : heif_chroma_interleaved_RGBA;
  return shape.channels == 3 ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RRGGBBAA_LE;
}

/// Returns the channels of an interleaved picture as planes.
heif_image* planes_of(const Image& image, const HeifRecipe& recipe) {
  const Shape& shape = image.shape();
  const bool grey = shape.channels == 1;
  heif_image* picture = nullptr;
  const int width = static_cast<int>(shape.width), height = static_cast<int>(shape.height);
  check(heif_image_create(width, height, grey ? heif_colorspace_monochrome : heif_colorspace_YCbCr,
                          grey ? heif_chroma_monochrome : heif_chroma_444, &picture));
  const std::size_t size = size_of(shape.type);
  const int from[] = {grey ? 0 : 1, 2, 0};
  for (int c = 0; c < shape.channels; ++c) {
    const auto channel = static_cast<heif_channel>(c);
    check(heif_image_add_plane(picture, channel, width, height, shape.type == Type::u8 ? 8 : recipe.bits));
    int stride = 0;
    std::uint8_t* const plane = heif_image_get_plane(picture, channel, &stride);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        std::memcpy(plane + std::ptrdiff_t{stride} * y + static_cast<std::size_t>(x) * size,
                    image.view().at(x, y) + static_cast<std::size_t>(from[c]) * size, size);
  }
  return picture;
}

heif_image* picture_of(const Image& image, const HeifRecipe& recipe) {
  const Shape& shape = image.shape();
  if (shape.channels == 1 || recipe.matrix != HeifRecipe{}.matrix) return planes_of(image, recipe);
  heif_image* picture = nullptr;
  const int width = static_cast<int>(shape.width), height = static_cast<int>(shape.height);
  check(heif_image_create(width, height, heif_colorspace_RGB, chroma_of(shape), &picture));
  check(heif_image_add_plane(picture, heif_channel_interleaved, width, height,
                             shape.type == Type::u8 ? 8 : recipe.bits));
  int stride = 0;
  std::uint8_t* const plane = heif_image_get_plane(picture, heif_channel_interleaved, &stride);
  const std::ptrdiff_t row_bytes = interleaved_strides(shape).row;
  for (int y = 0; y < height; ++y)
    std::memcpy(plane + std::ptrdiff_t{stride} * y, image.data() + row_bytes * y,
                static_cast<std::size_t>(row_bytes));
  heif_image_set_premultiplied_alpha(picture, recipe.premultiplied ? 1 : 0);
  if (!recipe.icc.empty())
    check(heif_image_set_raw_color_profile(picture, "prof", recipe.icc.data(), recipe.icc.size()));
  return picture;
}

heif_color_profile_nclx* colour_of(const HeifRecipe& recipe) {
  heif_color_profile_nclx* const nclx = heif_nclx_color_profile_alloc();
  nclx->color_primaries = static_cast<heif_color_primaries>(recipe.primaries);
  nclx->transfer_characteristics = static_cast<heif_transfer_characteristics>(recipe.transfer);
  nclx->matrix_coefficients = static_cast<heif_matrix_coefficients>(recipe.matrix);
  nclx->full_range_flag = recipe.full_range ? 1 : 0;
  return nclx;
}

heif_error append(heif_context*, const void* data, std::size_t size, void* user) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  auto& file = *static_cast<FileBytes*>(user);
  file.insert(file.end(), bytes, bytes + size);
  return {heif_error_Ok, heif_suberror_Unspecified, ""};
}

}  // namespace

FileBytes made_heif(const Image& image, const HeifRecipe& recipe) {
  heif_context* const context = heif_context_alloc();
  heif_encoder* encoder = nullptr;
  check(heif_context_get_encoder_for_format(
      context, recipe.avif ? heif_compression_AV1 : heif_compression_HEVC, &encoder));
  check(heif_encoder_set_lossless(encoder, 1));
  if (recipe.matrix != HeifRecipe{}.matrix)
    check(heif_encoder_set_parameter_string(encoder, "chroma", "444"));
  heif_encoding_options* const options = heif_encoding_options_alloc();
  options->output_nclx_profile = colour_of(recipe);
  options->macOS_compatibility_workaround_no_nclx_profile = 0;
  options->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
  options->image_orientation = static_cast<heif_orientation>(recipe.orientation);
  heif_image* const picture = picture_of(image, recipe);
  check(heif_image_set_nclx_color_profile(picture, options->output_nclx_profile));
  heif_image_handle* handle = nullptr;
  check(heif_context_encode_image(context, picture, encoder, options, &handle));
  if (!recipe.exif.empty())
    check(heif_context_add_exif_metadata(context, handle, recipe.exif.data(),
                                         static_cast<int>(recipe.exif.size())));
  if (!recipe.xmp.empty())
    check(heif_context_add_XMP_metadata(context, handle, recipe.xmp.data(),
                                        static_cast<int>(recipe.xmp.size())));
  for (const Image* further : recipe.further) {
    heif_image* const other = picture_of(*further, recipe);
    check(heif_image_set_nclx_color_profile(other, options->output_nclx_profile));
    check(heif_context_encode_image(context, other, encoder, options, nullptr));
    heif_image_release(other);
  }
  FileBytes file;
  heif_writer writer{1, append};
  check(heif_context_write(context, &writer, &file));
  heif_image_handle_release(handle);
  heif_image_release(picture);
  heif_nclx_color_profile_free(options->output_nclx_profile);
  heif_encoding_options_free(options);
  heif_encoder_release(encoder);
  heif_context_free(context);
  return file;
}

}  // namespace satin::test
