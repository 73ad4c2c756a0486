#include "satin/regions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/backend.h"
#include "core/maths/wide.h"
#include "masks/label.h"
#include "masks/maths/region_values.h"
#include "masks/region_values.h"
#include "masks/relabel.h"
#include "pixels/measure.h"
#include "pixels/pixels.h"
#include "satin/error.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

void check(const ImageView& mask, const ImageView& image) {
  validate(mask.shape);
  check_label_size(mask.shape.width, mask.shape.height);
  if (mask.shape.channels != 1 || mask.shape.type != Type::u8 || mask.shape.frames != 1)
    refuse("The mask is " + describe(mask.shape) + ": give one frame with one channel of u8.");
  if (image.empty()) return;
  validate(image.shape);
  if (image.shape.type != Type::u8 && image.shape.type != Type::u16 && image.shape.type != Type::f32)
    refuse(std::string("Regions have no values of ") + name_of(image.shape.type) +
           ": u8, u16 and f32 are possible.");
  if (image.shape.frames != 1) refuse("The image of the regions has more than one frame.");
  if (image.shape.width != mask.shape.width || image.shape.height != mask.shape.height)
    refuse("The image is " + describe(image.shape) + ", but the mask is " + describe(mask.shape) +
           ": they must have one size.");
  if (image.memory != mask.memory) refuse("Mask and image must be in the same memory.");
}

/// Pictures of one call in the memory of the backend.
class Staged {
 public:
  explicit Staged(const Device& device) : device_(device), backend_(device.backend()) {}

  /// The view itself, or an interleaved copy in the backend's memory.
  ImageView input(const ImageView& view) {
    const bool own = backend_.host_memory || view.memory == Memory::device;
    if (own && view.interleaved()) return view;
    if (own && view.memory == Memory::device) {
      images_.push_back(device_.allocate(view.shape));
      device_.copy(view, images_.back().view());
    } else {
      images_.push_back(copy_of(view));
      if (!backend_.host_memory) images_.back() = device_.upload(images_.back());
    }
    return images_.back().view();
  }

 private:
  const Device& device_;
  Backend& backend_;
  std::vector<Image> images_;
};

Region region_of(const RegionShape& shape, std::uint32_t label, const Shape& mask) {
  Region region;
  region.label = label;
  region.area = shape.area;
  region.x = shape.left;
  region.y = shape.top;
  region.width = std::int64_t{shape.right} - shape.left + 1;
  region.height = std::int64_t{shape.bottom} - shape.top + 1;
  region.centroid_x = static_cast<double>(shape.sum_x) / static_cast<double>(shape.area);
  region.centroid_y = static_cast<double>(shape.sum_y) / static_cast<double>(shape.area);
  region.touches_border = touches_border(shape, mask.width, mask.height);
  return region;
}

/// How sums of one picture become numbers.
struct ValueScale {
  bool floats = false;
  int bits = 0;      ///< of RegionSums
  double scale = 1;  ///< value = q * scale
};

__extension__ using Unsigned128 = unsigned __int128;

/// mean = S / n; deviation = sqrt(n Q - S^2) / n, where n Q - S^2 is an exact integer below 2^128.
RegionValues values_of(const RegionSums& sums, std::uint32_t area, const ValueScale& scale) {
  const auto count = static_cast<double>(area);
  const auto sum = static_cast<std::int64_t>(sums.sum);
  const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const Unsigned128 squares = (static_cast<Unsigned128>(sums.squares_high) << scale.bits) + sums.squares_low;
  const Unsigned128 numerator = squares * area - static_cast<Unsigned128>(magnitude) * magnitude;
  RegionValues values;
  values.mean = static_cast<double>(sum) / count * scale.scale;
  values.deviation = std::sqrt(to_double({static_cast<std::uint64_t>(numerator >> 64),
                                          static_cast<std::uint64_t>(numerator)})) /
                     count * scale.scale;
  values.minimum = scale.floats ? value_of_float_key(sums.smallest) : sums.smallest;
  values.maximum = scale.floats ? value_of_float_key(sums.largest) : sums.largest;
  return values;
}

/// The range of a float picture. Throws Error(input) if it holds NaN or infinity.
Measured measured_of(Backend& backend, const ImageView& image, const Buffer& buffer) {
  auto* measured = reinterpret_cast<Measured*>(buffer.get());
  const auto measure =
      backend.prepare(MeasureJob{image.shape.width, image.shape.height, image.shape.channels, false});
  measure->clear(measured, {});
  measure->measure(image, measured, {});
  Measured found{};
  backend.download(&found, measured, sizeof found, {});
  if (found.picture_not_finite != 0)
    throw Error(ErrorKind::input,
                "The image of the regions holds NaN or infinite values: replace them first.");
  return found;
}

void add_values(Backend& backend, const ImageView& labels, const ImageView& image, Regions& result) {
  const auto pixels = static_cast<std::uint64_t>(image.shape.width * image.shape.height);
  ValueScale scale;
  Buffer measured;
  if (image.shape.type == Type::f32) {
    measured = backend.allocate(sizeof(Measured));
    scale = {true, fixed_bits_for(pixels), 1};
    const Measured found = measured_of(backend, image, measured);
    scale.scale = power_of_two(-fixed_exponent(found.largest[0], scale.bits));
  }
  const auto channels = static_cast<std::size_t>(image.shape.channels);
  const std::size_t entries = result.regions.size() * channels;
  const Buffer buffer = backend.allocate(entries * sizeof(RegionSums));
  const RegionValuesJob job{image.shape.width, image.shape.height, image.shape.channels, image.shape.type,
                            scale.bits};
  backend.prepare(job)->run(labels, image, reinterpret_cast<const Measured*>(measured.get()), result.largest,
                            reinterpret_cast<RegionSums*>(buffer.get()), {});
  std::vector<RegionSums> sums(entries);
  if (entries > 0) backend.download(sums.data(), buffer.get(), entries * sizeof(RegionSums), {});
  for (std::size_t i = 0; i < result.regions.size(); ++i)
    for (std::size_t c = 0; c < channels; ++c)
      result.regions[i].values.push_back(
          values_of(sums[i * channels + c], static_cast<std::uint32_t>(result.regions[i].area), scale));
}

Shape label_shape(const Shape& mask) {
  Shape shape;
  shape.width = mask.width;
  shape.height = mask.height;
  shape.type = Type::u32;
  return shape;
}

double key_of(const Region& region, RegionKey key, std::size_t channel) {
  switch (key) {
    case RegionKey::label:
      return region.label;
    case RegionKey::area:
      return static_cast<double>(region.area);
    case RegionKey::x:
      return static_cast<double>(region.x);
    case RegionKey::y:
      return static_cast<double>(region.y);
    case RegionKey::width:
      return static_cast<double>(region.width);
    case RegionKey::height:
      return static_cast<double>(region.height);
    case RegionKey::mean:
      return region.values[channel].mean;
    case RegionKey::minimum:
      return region.values[channel].minimum;
    case RegionKey::maximum:
      return region.values[channel].maximum;
    case RegionKey::deviation:
      return region.values[channel].deviation;
  }
  return 0;
}

bool is_of_values(RegionKey key) { return key >= RegionKey::mean; }

/// The new label of every old one.
std::vector<std::uint32_t> new_labels(const Regions& regions) {
  std::vector<std::uint32_t> table(std::size_t{regions.largest} + 1, 0);
  std::uint32_t next = 0;
  for (const Region& region : regions.regions) {
    if (region.label == 0 || region.label > regions.largest || table[region.label] != 0)
      refuse("Label " + std::to_string(region.label) +
             " of a region occurs twice, or not in the picture of " + std::to_string(regions.largest) +
             " labels.");
    table[region.label] = ++next;
  }
  return table;
}

}  // namespace

Regions find_regions(const Device& device, const ImageView& mask, const RegionsOptions& options) {
  check(mask, options.image);
  Backend& backend = device.backend();
  Staged staged(device);
  const LabelJob job{mask.shape.width, mask.shape.height, options.connectivity == Connectivity::four ? 4 : 8,
                     options.zeros};
  const auto label = backend.prepare(job);
  Regions result;
  result.labels = device.allocate(label_shape(mask.shape));
  result.largest = label->run(staged.input(mask), result.labels.view(), {});

  std::vector<RegionShape> copied(backend.host_memory ? 0 : result.largest);
  const RegionShape* shapes = label->describe({});
  if (!copied.empty()) {
    backend.download(copied.data(), shapes, copied.size() * sizeof(RegionShape), {});
    shapes = copied.data();
  }
  result.regions.reserve(result.largest);
  for (std::uint32_t i = 0; i < result.largest; ++i)
    result.regions.push_back(region_of(shapes[i], i + 1, mask.shape));

  if (!options.image.empty()) add_values(backend, result.labels.view(), staged.input(options.image), result);
  if (!backend.host_memory && mask.memory == Memory::host) result.labels = device.download(result.labels);
  return result;
}

bool passes(const Region& region, const RegionFilter& filter) noexcept {
  const auto within = [](std::int64_t value, std::int64_t low, std::int64_t high) {
    return value >= low && value <= high;
  };
  return within(region.area, filter.min_area, filter.max_area) &&
         within(region.width, filter.min_width, filter.max_width) &&
         within(region.height, filter.min_height, filter.max_height) &&
         filter.touches_border.value_or(region.touches_border) == region.touches_border;
}

void sort_by(std::vector<Region>& regions, RegionKey key, bool descending, int channel) {
  const auto index = static_cast<std::size_t>(channel);
  const auto lacks = [&](const Region& region) { return channel < 0 || index >= region.values.size(); };
  if (is_of_values(key) && std::ranges::any_of(regions, lacks))
    refuse("There are no values of channel " + std::to_string(channel) +
           " to sort regions by: find them with an image that has it.");
  std::ranges::stable_sort(regions, [&](const Region& a, const Region& b) {
    const double left = key_of(a, key, index);
    const double right = key_of(b, key, index);
    return descending ? left > right : left < right;
  });
}

void renumber(const Device& device, Regions& regions) {
  const std::vector<std::uint32_t> table = new_labels(regions);
  Backend& backend = device.backend();
  const bool staged = !backend.host_memory && regions.labels.memory() == Memory::host;
  if (staged) regions.labels = device.upload(regions.labels);
  const Buffer buffer = backend.allocate(table.size() * sizeof(std::uint32_t));
  backend.upload(buffer.get(), table.data(), table.size() * sizeof(std::uint32_t), {});
  const MutableImageView labels = regions.labels.view();
  backend.prepare(RelabelJob{labels.shape.width, labels.shape.height, Type::u32})
      ->run(labels, reinterpret_cast<const std::uint32_t*>(buffer.get()), labels, {});
  device.synchronize();
  if (staged) regions.labels = device.download(regions.labels);
  for (Region& region : regions.regions) region.label = table[region.label];
  regions.largest = static_cast<std::uint32_t>(regions.regions.size());
}

}  // namespace satin
