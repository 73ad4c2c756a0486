// The libheif module (interface: module.h): HEIC and AVIF from memory to memory.

#include <libheif/heif.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "io/module.h"

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

struct Failure {
  std::string reason;
  bool lacks = false;  ///< libheif does not support this kind of file
};

void check(const heif_error& error) {
  if (error.code != heif_error_Ok)
    throw Failure{error.message, error.code == heif_error_Unsupported_filetype ||
                                     error.code == heif_error_Unsupported_feature ||
                                     error.code == heif_error_Plugin_loading_error};
}

using Block = std::vector<unsigned char>;

SatinHeifBytes view_of(const Block& block) { return {block.data(), block.size()}; }

Block profile_of(const heif_image_handle* handle) {
  Block block(heif_image_handle_get_raw_color_profile_size(handle));
  if (!block.empty()) check(heif_image_handle_get_raw_color_profile(handle, block.data()));
  return block;
}

/// Returns the first metadata block of this type and content type, or an empty one.
Block metadata_of(const heif_image_handle* handle, const char* type, const char* content_type) {
  std::vector<heif_item_id> ids(
      static_cast<std::size_t>(heif_image_handle_get_number_of_metadata_blocks(handle, type)));
  heif_image_handle_get_list_of_metadata_block_IDs(handle, type, ids.data(), static_cast<int>(ids.size()));
  for (const heif_item_id id : ids) {
    if (std::strcmp(heif_image_handle_get_metadata_content_type(handle, id), content_type) != 0) continue;
    Block block(heif_image_handle_get_metadata_size(handle, id));
    check(heif_image_handle_get_metadata(handle, id, block.data()));
    return block;
  }
  return {};
}

void read_colour(const heif_color_profile_nclx& nclx, SatinHeifItem& item) {
  item.primaries = nclx.color_primaries;
  item.transfer = nclx.transfer_characteristics;
  item.matrix = nclx.matrix_coefficients;
  item.is_limited = nclx.full_range_flag == 0 ? 1 : 0;
}

std::string auxiliary_type_of(const heif_image_handle* handle) {
  const char* text = nullptr;
  check(heif_image_handle_get_auxiliary_type(handle, &text));
  std::string type = text;
  heif_image_handle_free_auxiliary_types(handle, &text);
  return type;
}

/// Reads the meaning of depth codes from the bit stream (ISO/IEC 23008-2, SEI message of depth
/// representation). Nonuniform kinds are ignored.
SatinHeifDepth depth_of(const heif_image_handle* primary, heif_item_id id) {
  // libheif 1.15 reads through a null pointer for a picture without depth, and knows of one depth picture
  // only.
  heif_item_id depth = 0;
  if (heif_image_handle_get_list_of_depth_image_IDs(primary, &depth, 1) != 1 || depth != id) return {};
  const heif_depth_representation_info* found = nullptr;
  if (heif_image_handle_get_depth_image_representation_info(primary, id, &found) == 0) return {};
  const DepthInfo info(found);
  switch (info->depth_representation_type) {
    case heif_depth_representation_type_uniform_disparity:
      return {info->has_d_min && info->has_d_max ? 1 : 0, 0, info->d_min, info->d_max};
    case heif_depth_representation_type_uniform_inverse_Z:
      if (info->has_z_near == 0 || info->has_z_far == 0 || info->z_near == 0 || info->z_far == 0) return {};
      return {1, 0, 1 / info->z_far, 1 / info->z_near};
    case heif_depth_representation_type_uniform_Z:
      return {info->has_z_near && info->has_z_far ? 1 : 0, 1, info->z_near, info->z_far};
    default:
      return {};
  }
}

/// Samples of a decoded picture in the memory of libheif.
struct Plane {
  const unsigned char* data = nullptr;
  int row_bytes = 0;
  int samples = 1;  ///< interleaved samples per pixel
};

Plane plane_of(const heif_image* image, heif_channel channel, const SatinHeifItem& item, int samples) {
  Plane plane;
  plane.samples = samples;
  plane.data = heif_image_get_plane_readonly(image, channel, &plane.row_bytes);
  if (plane.data == nullptr) throw Failure{"a channel is missing"};
  if (heif_image_get_width(image, channel) != item.width ||
      heif_image_get_height(image, channel) != item.height ||
      heif_image_get_bits_per_pixel_range(image, channel) != item.bits)
    throw Failure{"the decoded picture has another size or depth than the file says"};
  return plane;
}

/// Copies the samples of a plane to a picture of `channels` channels, from channel `first` on.
template <class Sample>
void copy_plane(const Plane& plane, const SatinHeifItem& item, int channels, int first, void* pixels) {
  const auto width = static_cast<std::size_t>(item.width);
  const auto stride = static_cast<std::size_t>(channels), samples = static_cast<std::size_t>(plane.samples);
  auto* row = static_cast<Sample*>(pixels) + first;
  for (int y = 0; y < item.height; ++y, row += width * stride) {
    const unsigned char* from = plane.data + std::ptrdiff_t{plane.row_bytes} * y;
    if (samples == stride) {
      std::memcpy(row, from, width * stride * sizeof(Sample));
      continue;
    }
    for (std::size_t x = 0; x < width; ++x)
      std::memcpy(row + x * stride, from + x * samples * sizeof(Sample), samples * sizeof(Sample));
  }
}

}  // namespace

/// An open file: the items and everything that they point to. Deques keep the addresses of their elements.
struct SatinHeifFile {
  SatinHeifFile(const void* data, std::size_t size, heif_item_id picture) : context(heif_context_alloc()) {
    if (context == nullptr) throw std::bad_alloc();
    check(heif_context_read_from_memory_without_copy(context.get(), data, size, nullptr));
    pictures.resize(static_cast<std::size_t>(heif_context_get_number_of_top_level_images(context.get())));
    heif_context_get_list_of_top_level_image_IDs(context.get(), pictures.data(),
                                                 static_cast<int>(pictures.size()));
    heif_item_id number = 0;
    check(heif_context_get_primary_image_ID(context.get(), &number));
    std::erase(pictures, number);
    heif_image_handle* primary = nullptr;
    check(heif_context_get_image_handle(context.get(), picture != 0 ? picture : number, &primary));
    add(primary);
    std::vector<heif_item_id> ids(static_cast<std::size_t>(
        heif_image_handle_get_number_of_auxiliary_images(primary, LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA)));
    heif_image_handle_get_list_of_auxiliary_image_IDs(primary, LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA,
                                                      ids.data(), static_cast<int>(ids.size()));
    for (const heif_item_id id : ids) add_auxiliary(primary, id);
  }

  /// Adds an item. Takes ownership of the handle.
  SatinHeifItem& add(const heif_image_handle* handle) {
    handles.emplace_back(handle);
    SatinHeifItem item{};
    item.auxiliary_type = "";
    item.width = heif_image_handle_get_width(handle);
    item.height = heif_image_handle_get_height(handle);
    item.bits = heif_image_handle_get_luma_bits_per_pixel(handle);
    item.has_alpha = heif_image_handle_has_alpha_channel(handle);
    item.is_premultiplied = heif_image_handle_is_premultiplied_alpha(handle);
    item.primaries = item.transfer = item.matrix = 2;
    heif_color_profile_nclx* profile = nullptr;
    const heif_error found = heif_image_handle_get_nclx_color_profile(handle, &profile);
    const Nclx nclx(profile);
    if (found.code == heif_error_Ok) read_colour(*nclx, item);
    item.icc = view_of(blocks.emplace_back(profile_of(handle)));
    item.exif = view_of(blocks.emplace_back(metadata_of(handle, "Exif", "")));
    item.xmp = view_of(blocks.emplace_back(metadata_of(handle, "mime", "application/rdf+xml")));
    return items.emplace_back(item);
  }

  void add_auxiliary(const heif_image_handle* primary, heif_item_id id) {
    heif_image_handle* handle = nullptr;
    check(heif_image_handle_get_auxiliary_image_handle(primary, id, &handle));
    SatinHeifItem& item = add(handle);
    item.auxiliary_type = types.emplace_back(auxiliary_type_of(handle)).c_str();
    item.depth = depth_of(primary, id);
  }

  Context context;
  std::vector<heif_item_id> pictures;
  std::vector<Handle> handles;
  std::vector<SatinHeifItem> items;
  std::deque<Block> blocks;
  std::deque<std::string> types;
};

namespace {

heif_chroma chroma_of(int channels, int bits) {
  if (channels < 3) return heif_chroma_undefined;
  if (bits == 8) return channels == 3 ? heif_chroma_interleaved_RGB : heif_chroma_interleaved_RGBA;
  return channels == 3 ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RRGGBBAA_LE;
}

void copy_out(const heif_image* image, const SatinHeifItem& item, int channels, void* pixels) {
  const auto copy = item.bits == 8 ? copy_plane<std::uint8_t> : copy_plane<std::uint16_t>;
  if (channels >= 3)
    return copy(plane_of(image, heif_channel_interleaved, item, channels), item, channels, 0, pixels);
  // libheif converts grey tiles to colours.
  const heif_channel grey = heif_image_has_channel(image, heif_channel_Y) ? heif_channel_Y : heif_channel_R;
  copy(plane_of(image, grey, item, 1), item, channels, 0, pixels);
  if (channels == 2) copy(plane_of(image, heif_channel_Alpha, item, 1), item, channels, 1, pixels);
}

/// Decodes an item. Returns false if width and height turned out to be swapped.
bool decode_item(SatinHeifFile& file, std::size_t index, int channels, void* pixels) {
  SatinHeifItem& item = file.items.at(index);
  const Options options(heif_decoding_options_alloc());
  if (options == nullptr) throw std::bad_alloc();
  options->strict_decoding = 1;
  heif_image* decoded = nullptr;
  check(heif_decode_image(file.handles.at(index).get(), &decoded,
                          channels < 3 ? heif_colorspace_undefined : heif_colorspace_RGB,
                          chroma_of(channels, item.bits), options.get()));
  const Pixels image(decoded);
  heif_error warning{};
  if (heif_image_get_decoding_warnings(decoded, 0, &warning, 1) != 0) check(warning);
  const int width = heif_image_get_primary_width(decoded), height = heif_image_get_primary_height(decoded);
  if (width != height && width == item.height && height == item.width) {
    std::swap(item.width, item.height);  // libheif ignores a rotation that precedes the size
    return false;
  }
  copy_out(decoded, item, channels, pixels);
  heif_color_profile_nclx* nclx = nullptr;
  if (item.transfer == 2 && heif_image_get_nclx_color_profile(decoded, &nclx).code == heif_error_Ok)
    read_colour(*Nclx(nclx), item);
  return true;
}

/// Calls work() and stores what it throws as a message.
template <class Work>
bool good(SatinHeifMessage* message, const Work& work) {
  const char* reason = "";
  std::string text;
  try {
    work();
    return true;
  } catch (const Failure& failure) {
    text = failure.reason;
    reason = text.c_str();
    message->lacks = failure.lacks ? 1 : 0;
  } catch (const std::exception& error) {
    text = error.what();
    reason = text.c_str();
  }
  std::snprintf(message->text, sizeof message->text, "%s", reason);
  return false;
}

SatinHeifFile* open(const void* data, std::size_t size, unsigned picture, SatinHeifMessage* message) {
  std::unique_ptr<SatinHeifFile> file;
  static_cast<void>(good(message, [&] { file = std::make_unique<SatinHeifFile>(data, size, picture); }));
  return file.release();
}

void close(SatinHeifFile* file) { delete file; }

const SatinHeifItem* items(const SatinHeifFile* file, int* count) {
  *count = static_cast<int>(file->items.size());
  return file->items.data();
}

const unsigned* pictures(const SatinHeifFile* file, int* count) {
  *count = static_cast<int>(file->pictures.size());
  return file->pictures.data();
}

int decode(SatinHeifFile* file, int item, int channels, void* pixels, SatinHeifMessage* message) {
  int result = 1;
  const auto work = [&] {
    if (!decode_item(*file, static_cast<std::size_t>(item), channels, pixels)) result = 2;
  };
  return good(message, work) ? result : 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const SatinHeif* satin_heif() {
  static const SatinHeif table{satin::io::heif_interface_version, open, close, items, pictures, decode};
  return &table;
}
