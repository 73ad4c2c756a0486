// OpenEXR: float pictures with named channels, of which Z is depth. R, G, B (or Y) and A are the picture, in
// the size of the data window. Every other channel is kept under its name. A file may have several parts,
// each a picture of its own. The module satin_io_exr holds the library.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <new>

#include "io/codec_steps.h"
#include "io/module.h"
#include "satin/error.h"

namespace satin::io {
namespace {

constexpr const char* format = "OpenEXR";
constexpr const char* save_with_zip = "Save it with ZIP compression.";

const SatinExr& open_exr() {
  static const Module<SatinExr> module("satin_io_exr.so", exr_entry_name, exr_interface_version);
  if (module.functions == nullptr)
    throw Error(ErrorKind::environment, "OpenEXR needs Satin's OpenEXR module, and it could not be loaded (" +
                                            module.error +
                                            "). Install it with OpenEXR, or use .tiff or .pfm.");
  return *module.functions;
}

void require_exr() { static_cast<void>(open_exr()); }

using Channels = std::span<SatinExrChannel>;

SatinExrChannel* find(Channels channels, std::string_view name) {
  const auto found = std::find_if(channels.begin(), channels.end(),
                                  [&](const SatinExrChannel& channel) { return channel.name == name; });
  return found == channels.end() ? nullptr : &*found;
}

/// Returns the channels of the picture in their order.
std::vector<SatinExrChannel*> colours_of(Channels channels) {
  std::vector<SatinExrChannel*> colours{find(channels, "R"), find(channels, "G"), find(channels, "B")};
  if (std::find(colours.begin(), colours.end(), nullptr) != colours.end()) colours = {find(channels, "Y")};
  if (channels.size() == 1) colours = {channels.data()};  // for example, a picture of depth alone
  if (colours.front() == nullptr) {
    std::vector<std::string> names;
    for (const SatinExrChannel& channel : channels.first(std::min<std::size_t>(channels.size(), 8)))
      names.emplace_back(channel.name);
    unsupported(format, "the channels " + one_of(names) + " alone", "Save it with R, G and B, or with Y.");
  }
  if (SatinExrChannel* alpha = find(channels, "A"); alpha != nullptr && channels.size() > 1)
    colours.push_back(alpha);
  for (const SatinExrChannel* colour : colours)
    if (colour->subsampled != 0 || colour->type == satin_exr_uint)
      unsupported(format, "integer colours, or colours at a lower resolution", "Save it with R, G and B.");
  if (find(channels, "RY") != nullptr && colours.size() <= 2)
    unsupported(format, "luminance and chroma", "Save it with R, G and B.");
  return colours;
}

PixelBox box_of(const SatinExrWindow& window) {
  return {window.left, window.top, std::int64_t{window.right} - window.left + 1,
          std::int64_t{window.bottom} - window.top + 1};
}

SatinExrWindow window_of(const PixelBox& box) {
  return {static_cast<int>(box.x), static_cast<int>(box.y), static_cast<int>(box.x + box.width - 1),
          static_cast<int>(box.y + box.height - 1)};
}

struct Receiver {
  const ReadOptions& options;
  Picture picture;
  std::exception_ptr error;

  void place(const SatinExrPart& part) {
    const Channels channels(part.channels, static_cast<std::size_t>(part.count));
    const PixelBox data = box_of(part.data);
    const auto width = static_cast<std::uint64_t>(data.width);
    const auto height = static_cast<std::uint64_t>(data.height);
    const ReadLimits& limits = options.limits;
    check_limits(width, height, 1, Type::f32, limits);
    if (channels.size() > limits.bytes / (width * height * sizeof(float)))
      throw Error(ErrorKind::input, "the picture has " + std::to_string(channels.size()) +
                                        " channels and is over the limit of " + std::to_string(limits.bytes) +
                                        " bytes. Raise it (--max-bytes), or store fewer channels.");
    const std::vector<SatinExrChannel*> colours = colours_of(channels);
    const int count = static_cast<int>(colours.size());
    picture.image = allocate(width, height, count, Type::f32,
                             count % 2 == 0 ? Alpha::premultiplied : Alpha::none, options);
    picture.metadata.half_floats = colours.front()->type == satin_exr_half;
    picture.metadata.exr = ExrHeader{data,
                                     box_of(part.display),
                                     part.pixel_aspect,
                                     part.name,
                                     part.view,
                                     channels.size() == 1 ? channels.front().name : ""};
    clear(picture.image);
    for (std::size_t c = 0; c < colours.size(); ++c) point(*colours[c], picture.image, c);
    ReadOptions of_planes = options;
    of_planes.filterable = false;  // integers are read although filters do not accept them
    for (SatinExrChannel& channel : channels) {
      if (channel.data != nullptr) continue;
      if (channel.subsampled != 0) {
        picture.warnings.push_back("the channel " + std::string(channel.name) +
                                   " has a lower resolution and is left out.");
        continue;
      }
      const Type type = channel.type == satin_exr_uint ? Type::u32 : Type::f32;
      NamedChannel& named = picture.channels.emplace_back(
          NamedChannel{channel.name, allocate(width, height, 1, type, Alpha::none, of_planes)});
      clear(named.plane);
      point(channel, named.plane, 0);
    }
  }

 private:
  /// Clears a picture of which rows may be missing.
  void clear(Image& image) const {
    if (options.allow_partial) std::memset(image.data(), 0, byte_size(image.shape()));
  }

  static void point(SatinExrChannel& channel, Image& image, std::size_t index) {
    const Strides strides = interleaved_strides(image.shape());
    channel.data = reinterpret_cast<char*>(image.data()) + index * sizeof(float);
    channel.pixel_stride = static_cast<std::size_t>(strides.pixel);
    channel.row_stride = static_cast<std::size_t>(strides.row);
  }
};

int on_place(void* user, const SatinExrPart* part) {
  auto& receiver = *static_cast<Receiver*>(user);
  try {
    receiver.place(*part);
    return 1;
  } catch (...) {
    receiver.error = std::current_exception();
    return 0;
  }
}

int on_name(void* user, const char* name) {
  try {
    auto& pictures = *static_cast<std::vector<FilePicture>*>(user);
    pictures.push_back({name, pictures.size()});
    return 1;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::vector<FilePicture> list_parts(Bytes bytes, const ReadOptions& /*options*/) {
  std::vector<FilePicture> parts;
  SatinExrMessage message{};
  if (open_exr().list(reinterpret_cast<const char*>(bytes.data()), bytes.size(), on_name, &parts, &message) !=
      satin_exr_good)
    not_decoded(format, "OpenEXR", message.text, save_with_zip);
  return parts;
}

Picture decode_part(Bytes bytes, const FilePicture& part, const ReadOptions& options) {
  Receiver receiver{options, {}, {}};
  SatinExrMessage message{};
  const SatinExrResult result =
      open_exr().decode(reinterpret_cast<const char*>(bytes.data()), bytes.size(), static_cast<int>(part.at),
                        options.allow_partial ? 1 : 0, on_place, &receiver, &message);
  if (receiver.error != nullptr) std::rethrow_exception(receiver.error);
  const std::string_view reason(message.text);
  if (result == satin_exr_failed) {
    if (reason == "deep data")
      unsupported(format, "deep data", "Flatten it first, for example with oiiotool.");
    not_decoded(format, "OpenEXR", message.text, save_with_zip);
  }
  if (result == satin_exr_partial) receiver.picture.warnings.push_back(partial_warning(format));
  return std::move(receiver.picture);
}

/// Whether all finite values fit half floats, which hold up to 65504.
bool fits_half(const ImageView& image) {
  constexpr float largest = 65504.0F;
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    const auto* row = image.row<float>(y);
    const std::int64_t count = image.shape.width * image.shape.channels;
    if (std::any_of(row, row + count, [](float v) { return std::isfinite(v) && std::abs(v) > largest; }))
      return false;
  }
  return true;
}

SatinExrChannel channel_of(const char* name, SatinExrType type, const ImageView& view, int index) {
  // The module only reads from here. The interface has one structure for reading and writing.
  auto* data = const_cast<char*>(reinterpret_cast<const char*>(view.at(0, 0, index)));
  const auto pixel = static_cast<std::size_t>(view.strides.pixel);
  const auto row = static_cast<std::size_t>(view.strides.row);
  return {name, type, 0, data, pixel, row};
}

/// Returns the header of the file that the picture was read from, if the picture still has that size.
ExrHeader header_of(const ImageView& image, const Metadata& metadata) {
  const PixelBox whole{0, 0, image.shape.width, image.shape.height};
  ExrHeader header = metadata.exr.value_or(ExrHeader{whole, whole});
  if (header.data.width != whole.width || header.data.height != whole.height)
    header.data = header.display = whole;
  return header;
}

/// Returns the channels of a picture as the file stores them.
std::vector<SatinExrChannel> stored_channels(const ImageView& image, const WriteOptions& options) {
  constexpr std::array<const char*, 4> rgba{"R", "G", "B", "A"};
  constexpr std::array<const char*, 2> grey{"Y", "A"};
  const Shape& shape = image.shape;
  const std::optional<ExrHeader>& header = options.metadata.exr;
  const SatinExrType type =
      options.metadata.half_floats && fits_half(image) ? satin_exr_half : satin_exr_float;
  std::vector<SatinExrChannel> channels;
  for (int c = 0; c < shape.channels; ++c) {
    const auto index = static_cast<std::size_t>(c);
    channels.push_back(channel_of(shape.channels >= 3 ? rgba[index] : grey[index], type, image, c));
  }
  if (shape.channels == 1 && header && !header->channel.empty())
    channels.front().name = header->channel.c_str();
  for (const NamedChannel& named : options.channels) {
    const Shape& plane = named.plane.shape();
    if (plane.width != shape.width || plane.height != shape.height)
      continue;  // belongs to a picture of another size
    const SatinExrType stored = plane.type == Type::u32 ? satin_exr_uint : satin_exr_float;
    channels.push_back(channel_of(named.name.c_str(), stored, named.plane.view(), 0));
  }
  return channels;
}

/// Gives all parts one display window, the smallest that contains all of theirs, and different names.
void make_parts(std::span<ExrHeader> headers) {
  PixelBox display = headers.front().display;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const PixelBox& own = headers[i].display;
    const std::int64_t right = std::max(display.x + display.width, own.x + own.width);
    const std::int64_t bottom = std::max(display.y + display.height, own.y + own.height);
    display.x = std::min(display.x, own.x);
    display.y = std::min(display.y, own.y);
    display.width = right - display.x;
    display.height = bottom - display.y;
    if (headers[i].part.empty()) headers[i].part = std::to_string(i + 1);
  }
  for (ExrHeader& header : headers) {
    header.display = display;
    header.pixel_aspect = headers.front().pixel_aspect;
  }
}

FileBytes encode_parts(std::span<const ImageView> images, std::span<const WriteOptions> options) {
  std::vector<ExrHeader> headers;
  std::vector<std::vector<SatinExrChannel>> channels;
  for (std::size_t i = 0; i < images.size(); ++i) {
    headers.push_back(header_of(images[i], options[i].metadata));
    channels.push_back(stored_channels(images[i], options[i]));
  }
  if (images.size() > 1) make_parts(headers);
  std::vector<SatinExrPart> parts;
  for (std::size_t i = 0; i < images.size(); ++i)
    parts.push_back({headers[i].part.c_str(), headers[i].view.c_str(), window_of(headers[i].data),
                     window_of(headers[i].display), headers[i].pixel_aspect, channels[i].data(),
                     static_cast<int>(channels[i].size())});
  Sink sink;
  SatinExrMessage message{};
  const SatinExrResult result =
      open_exr().encode(parts.data(), static_cast<int>(parts.size()), write_to_sink, &sink, &message);
  if (result != satin_exr_good) not_encoded(format, message.text);
  return std::move(sink.bytes);
}

FileBytes encode_exr(const ImageView& image, const WriteOptions& options) {
  return encode_parts({&image, 1}, {&options, 1});
}

}  // namespace

Codec exr_codec() {
  Codec codec{format, {".exr"}, sniff_exr, nullptr, encode_exr, {}, "", require_exr};
  codec.several = {"part", list_parts, decode_part, encode_parts};
  codec.holds.types = set_of(Type::f32);
  codec.holds.channels = set_of(1, 2, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::premultiplied);
  codec.holds.metadata = set_of(Carried::channels, Carried::windows);
  return codec;
}

}  // namespace satin::io
