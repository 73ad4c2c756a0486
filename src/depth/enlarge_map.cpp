#include "depth/enlarge_map.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/prepared_filter.h"
#include "core/workspace.h"
#include "satin/enlarged.h"
#include "satin/error.h"

namespace satin {
namespace {

struct RadiusPlane {
  RadiusPlane(Backend& backend, const Shape& shape)
      : buffer(backend.allocate(byte_size(shape))),
        view{buffer.get(), shape, interleaved_strides(shape), backend.memory()} {}

  Buffer buffer;
  MutableImageView view;
};

class PreparedWithMap final : public PreparedFilter {
 public:
  PreparedWithMap(Backend& backend, std::unique_ptr<PreparedFilter> filter, const Shape& picture,
                  const Shape& map, std::size_t input, const MapRange& range)
      : filter_(std::move(filter)),
        input_(input),
        samples_(backend, {map.width, map.height, 1, Type::i32}),
        radii_(backend, {picture.width, picture.height, 1, Type::i32}),
        map_(backend.allocate(enlarged_map_shape(map, picture))),
        colours_(backend.allocate(static_cast<std::size_t>(map.width * map.height) * sizeof(GuideColour))),
        enlarge_(backend.prepare(EnlargeMapJob{{{picture.width, picture.height, map.width, map.height},
                                                picture.type,
                                                picture.channels,
                                                picture.channels >= 3 ? 3 : 1},
                                               map.type,
                                               range})) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return filter_->workspace_bytes() + samples_.buffer.size + radii_.buffer.size + byte_size(map_.shape()) +
           colours_.size;
  }

  ImageView counted(std::span<const ImageView> inputs, Stream stream) override {
    return filter_->counted(inputs, stream);
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    auto* colours = reinterpret_cast<GuideColour*>(colours_.get());
    enlarge_->run(
        {inputs[input_], {inputs.front(), samples_.view, colours, radii_.view}, samples_.view, map_.view()},
        stream);
    OfInputs<ImageView> changed(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) changed[i] = i == input_ ? map_.view() : inputs[i];
    filter_->run(changed, output, measured, stream);
  }

 private:
  std::unique_ptr<PreparedFilter> filter_;
  std::size_t input_;
  RadiusPlane samples_, radii_;
  Image map_;
  Buffer colours_;
  std::unique_ptr<EnlargeMapJob::Operation> enlarge_;
};

}  // namespace

Shape enlarged_map_shape(const Shape& map, const Shape& picture) {
  if (map.width == 0 || (map.width == picture.width && map.height == picture.height)) return map;
  return {picture.width, picture.height, 1, Type::u16};
}

FilterPlan with_enlarged_map(const Device& device, FilterPlan filter, std::span<const Shape> shapes,
                             std::size_t map, const MapRange& range) {
  const Shape enlarged = enlarged_map_shape(shapes[map], shapes.front());
  if (enlarged == shapes[map]) return filter;
  filter.reach.reset();
  filter.prepare = [&backend = device.backend(), prepare = std::move(filter.prepare), map, range,
                    picture = shapes.front(), own = shapes[map]](std::int64_t width, std::int64_t height) {
    return std::make_unique<PreparedWithMap>(backend, prepare(width, height), picture, own, map, range);
  };
  return filter;
}

Image enlarged_along_edges(const Device& device, const ImageView& map, const ImageView& picture) {
  const auto is_readable = [](const ImageView& view) {
    const Type type = view.shape.type;
    return view.memory == Memory::host && view.interleaved() &&
           (type == Type::u8 || type == Type::u16 || type == Type::f32);
  };
  if (device.is_cuda() || !is_readable(map) || !is_readable(picture) || map.shape.channels != 1)
    throw Error(ErrorKind::usage,
                "A map of one channel and its picture, of u8, u16 or f32 in host memory, are enlarged on the "
                "CPU, but these are " +
                    describe(map.shape) + " and " + describe(picture.shape) + ".");
  constexpr MapRange codes{0, 0xFFFF};
  const Shape& size = picture.shape;
  Backend& backend = device.backend();
  const RadiusPlane samples(backend, {map.shape.width, map.shape.height, 1, Type::i32});
  const RadiusPlane radii(backend, {size.width, size.height, 1, Type::i32});
  std::vector<GuideColour> colours(static_cast<std::size_t>(map.shape.width * map.shape.height));
  Image enlarged({size.width, size.height, 1, Type::u16});
  Image mask({size.width, size.height, 1, Type::u8});
  const EnlargeSizes sizes{size.width, size.height, map.shape.width, map.shape.height};
  const EnlargeRadiiJob radii_job{sizes, size.type, size.channels, size.channels >= 3 ? 3 : 1};
  backend.prepare(EnlargeMapJob{radii_job, map.shape.type, codes})
      ->run({map, {picture, samples.view, colours.data(), radii.view}, samples.view, enlarged.view()}, {});
  const auto* code = reinterpret_cast<const std::uint16_t*>(enlarged.data());
  for (std::int64_t i = 0; i < size.width * size.height; ++i)
    mask.data()[i] = static_cast<std::byte>((code[i] + 128) / 257);
  return mask;
}

}  // namespace satin
