#include <algorithm>
#include <string>
#include <vector>

#include "core/with_type.h"
#include "pixels/maths/luminance.h"
#include "satin/error.h"
#include "satin/statistics.h"

namespace satin {
namespace {

void check(const ImageView& image) {
  validate(image.shape);
  if (image.shape.type != Type::u8 && image.shape.type != Type::u16 && image.shape.type != Type::f32)
    throw Error(ErrorKind::usage,
                std::string("Tones of ") + name_of(image.shape.type) + ": u8, u16 and f32 are possible.");
  if (image.memory != Memory::host || !image.interleaved() || image.shape.frames != 1)
    throw Error(ErrorKind::usage, "Tones are taken of one interleaved frame in host memory.");
}

template <class T>
void weigh_rows(const ImageView& image, const MutableImageView& result) {
  const int channels = image.shape.channels;
  const int red = image.shape.order == Order::rgb ? 0 : 2;
  const int blue = 2 - red;
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    const T* pixel = image.row<T>(y);
    T* to = result.row<T>(y);
    for (std::int64_t x = 0; x < image.shape.width; ++x, pixel += channels)
      to[x] = channels < 3 ? pixel[0] : luminance709(pixel[red], pixel[1], pixel[blue]);
  }
}

template <class T>
void gather_pixels(const ImageView& image, const std::vector<std::uint32_t>& order, ToneZones& zones) {
  const MutableImageView pixels = zones.pixels.view();
  const MutableImageView positions = zones.positions.view();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const std::int64_t x = order[i] % image.shape.width;
    const std::int64_t y = order[i] / image.shape.width;
    std::copy_n(&image.value<T>(x, y), image.shape.channels, pixels.row<T>(row));
    positions.value<std::uint32_t>(0, row) = static_cast<std::uint32_t>(x);
    positions.value<std::uint32_t>(1, row) = static_cast<std::uint32_t>(y);
  }
}

}  // namespace

Image luminance(const ImageView& image) {
  check(image);
  Shape grey = image.shape;
  grey.channels = 1;
  grey.alpha = Alpha::none;
  grey.order = Order::rgb;
  Image result(grey);
  with_pixel_type(image.shape.type, [&]<class T>() { weigh_rows<T>(image, result.view()); });
  return result;
}

ToneZones tone_zones(const Device& device, const ImageView& image, const Bins& bins) {
  const Image tone = luminance(image);
  const std::int64_t pixels = image.shape.width * image.shape.height;
  if (pixels > std::int64_t{0xFFFFFFFF})
    throw Error(ErrorKind::usage,
                "A picture of " + describe(image.shape) + " has too many pixels for zones.");

  const ArrayView tones(tone.data(), pixels, image.shape.type);
  Buffer sorted_tones = allocate_host(byte_size(tone.shape()));
  std::vector<std::uint32_t> order(static_cast<std::size_t>(pixels));
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins.count()));
  extract_bins(device, tones, bins, MutableArrayView(sorted_tones.get(), pixels, image.shape.type), counts,
               order);

  ToneZones result{Image(Shape{image.shape.width, image.shape.height, 1, Type::u16}),
                   {counts.begin(), counts.end()},
                   Image(Shape{image.shape.channels, pixels, 1, image.shape.type}),
                   Image(Shape{2, pixels, 1, Type::u32})};
  auto* zone = reinterpret_cast<std::uint16_t*>(result.zones.data());
  auto next = order.begin();
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
    for (std::uint64_t i = 0; i < counts[bin]; ++i) zone[*next++] = static_cast<std::uint16_t>(bin);
  with_pixel_type(image.shape.type, [&]<class T>() { gather_pixels<T>(image, order, result); });
  return result;
}

}  // namespace satin
