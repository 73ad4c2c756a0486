// OpenEXR: float pictures with named channels, of which Z is depth. R, G, B (or Y) and A are the picture, in
// the size of the data window; every other channel comes along by its name.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>

#include "io/exr_interface.h"
#include "io/module.h"
#include "io/support.h"
#include "satin/error.h"

namespace satin::io {
namespace {

constexpr const char* format = "OpenEXR";

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

/// The channels of the picture in its order.
std::vector<SatinExrChannel*> colours_of(Channels channels) {
  std::vector<SatinExrChannel*> colours{find(channels, "R"), find(channels, "G"), find(channels, "B")};
  if (std::find(colours.begin(), colours.end(), nullptr) != colours.end()) colours = {find(channels, "Y")};
  if (channels.size() == 1) colours = {channels.data()};  // a picture of depth alone, for example
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
      unsupported(format, "colours that are integers or of a lower resolution", "Save it with R, G and B.");
  if (find(channels, "RY") != nullptr && colours.size() <= 2)
    unsupported(format, "luminance and chroma", "Save it with R, G and B.");
  return colours;
}

struct Receiver {
  const ReadOptions& options;
  Picture picture;
  std::exception_ptr error;

  void place(std::uint64_t width, std::uint64_t height, Channels channels) {
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
    clear(picture.image);
    for (std::size_t c = 0; c < colours.size(); ++c) point(*colours[c], picture.image, c);
    for (SatinExrChannel& channel : channels) {
      if (channel.data != nullptr) continue;
      if (channel.subsampled != 0) {
        picture.warnings.push_back("the channel " + std::string(channel.name) +
                                   " has a lower resolution and is left out.");
        continue;
      }
      const Type type = channel.type == satin_exr_uint ? Type::u32 : Type::f32;
      NamedChannel& named = picture.channels.emplace_back(
          NamedChannel{channel.name, allocate(width, height, 1, type, Alpha::none, options)});
      clear(named.plane);
      point(channel, named.plane, 0);
    }
  }

 private:
  /// Rows that are missing stay 0.
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

int on_place(void* user, int width, int height, SatinExrChannel* channels, int count) {
  auto& receiver = *static_cast<Receiver*>(user);
  try {
    receiver.place(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height),
                   {channels, static_cast<std::size_t>(count)});
    return 1;
  } catch (...) {
    receiver.error = std::current_exception();
    return 0;
  }
}

Picture decode_exr(Bytes bytes, const ReadOptions& options) {
  Receiver receiver{options, {}, {}};
  SatinExrMessage message{};
  const SatinExrResult result =
      open_exr().decode(reinterpret_cast<const char*>(bytes.data()), bytes.size(),
                        options.allow_partial ? 1 : 0, on_place, &receiver, &message);
  if (receiver.error != nullptr) std::rethrow_exception(receiver.error);
  const std::string_view reason(message.text);
  if (result == satin_exr_failed) {
    if (reason == "deep data")
      unsupported(format, "deep data", "Flatten it first, for example with oiiotool.");
    damaged(format, message.text);
  }
  if (result == satin_exr_partial) receiver.picture.warnings.push_back(partial_warning(format));
  return std::move(receiver.picture);
}

/// Half floats hold up to 65504.
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
  // The module reads from here; the interface has one structure for both ways.
  auto* data = const_cast<char*>(reinterpret_cast<const char*>(view.at(0, 0, index)));
  const auto pixel = static_cast<std::size_t>(view.strides.pixel);
  const auto row = static_cast<std::size_t>(view.strides.row);
  return {name, type, 0, data, pixel, row};
}

FileBytes encode_exr(const ImageView& image, const WriteOptions& options) {
  constexpr std::array<const char*, 4> rgba{"R", "G", "B", "A"};
  constexpr std::array<const char*, 2> grey{"Y", "A"};
  const Shape& shape = image.shape;
  const SatinExrType type =
      options.metadata.half_floats && fits_half(image) ? satin_exr_half : satin_exr_float;
  std::vector<SatinExrChannel> channels;
  for (int c = 0; c < shape.channels; ++c) {
    const auto index = static_cast<std::size_t>(c);
    channels.push_back(channel_of(shape.channels >= 3 ? rgba[index] : grey[index], type, image, c));
  }
  for (const NamedChannel& named : options.channels) {
    const Shape& plane = named.plane.shape();
    if (plane.width != shape.width || plane.height != shape.height) continue;  // of a picture of another size
    const SatinExrType stored = plane.type == Type::u32 ? satin_exr_uint : satin_exr_float;
    channels.push_back(channel_of(named.name.c_str(), stored, named.plane.view(), 0));
  }
  Sink sink;
  SatinExrMessage message{};
  const SatinExrResult result =
      open_exr().encode(static_cast<int>(shape.width), static_cast<int>(shape.height), channels.data(),
                        static_cast<int>(channels.size()), write_to_sink, &sink, &message);
  if (result != satin_exr_good) not_encoded(format, message.text);
  return std::move(sink.bytes);
}

}  // namespace

Codec exr_codec() {
  Codec codec{format, {".exr"}, sniff_exr, decode_exr, encode_exr, {}, "", require_exr};
  codec.holds.types = set_of(Type::f32);
  codec.holds.channels = set_of(1, 2, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::premultiplied);
  codec.holds.metadata = set_of(Carried::channels);
  return codec;
}

}  // namespace satin::io
