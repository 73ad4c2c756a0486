// Regions of a mask (satin/regions.h): found on a device, with their values, then chosen and sorted on the
// host.

#include "satin/regions.h"
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/backend.h"
#include "core/maths/wide.h"
#include "core/plan_operations.h"
#include "masks/maths/region.h"
#include "masks/regions.h"
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

/// Copies the pictures of one call to the memory of the backend.
class Staged {
 public:
  explicit Staged(const Device& device) : device_(device), backend_(device.backend()) {}

  /// Returns the view itself, or an interleaved copy in the backend's memory.
  ImageView input(const ImageView& view) {
    const bool own = backend_.host_memory || view.memory == Memory::device;
    if (view.empty() || (own && view.interleaved())) return view;
    if (own && view.memory == Memory::device) {
      images_.push_back(device_.allocate(view.shape));
      device_.copy(view, images_.back().view());
    } else if (!own && view.strides == interleaved_strides(view.shape)) {
      images_.push_back(device_.upload(view));
    } else {
      images_.push_back(copy_of(view));
      if (!own) images_.back() = device_.upload(images_.back());
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

struct ValueScale {
  bool floats = false;
  int bits = 0;      ///< `bits` of RegionSums
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

/// The sums of a picture's values under every label. The constructor queues all work, read() waits for it.
class ImageValues {
 public:
  ImageValues(Backend& backend, const ImageView& labels, const ImageView& image, std::uint32_t count)
      : backend_(backend),
        channels_(static_cast<std::size_t>(image.shape.channels)),
        sums_(count * channels_) {
    const Shape& shape = image.shape;
    if (shape.type == Type::f32) {
      scale_ = {true, fixed_bits_for(static_cast<std::uint64_t>(shape.width * shape.height)), 1};
      measured_ = backend.allocate(sizeof(Measured));
      measure_ = backend.prepare(MeasureJob{shape.width, shape.height, shape.channels, false});
      measure_->clear(measured(), {});
      measure_->measure(image, measured(), {});
    }
    of_labels_ = backend.allocate(sums_.size() * sizeof(RegionSums));
    sum_ =
        backend.prepare(RegionValuesJob{shape.width, shape.height, shape.channels, shape.type, scale_.bits});
    sum_->run(labels, image, measured(), count, reinterpret_cast<RegionSums*>(of_labels_.get()), {});
  }

  /// Throws Error(input) if a float picture holds NaN or infinity.
  void read(std::vector<Region>& regions) {
    if (measure_ != nullptr) {
      Measured found{};
      backend_.download(&found, measured(), sizeof found, {});
      if (found.picture_not_finite != 0)
        throw Error(ErrorKind::input,
                    "The image of the regions holds NaN or infinite values: replace them first.");
      scale_.scale = power_of_two(-fixed_exponent(found.largest[0], scale_.bits));
    }
    if (!sums_.empty())
      backend_.download(sums_.data(), of_labels_.get(), sums_.size() * sizeof(RegionSums), {});
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      Region& region = regions[i / channels_];
      region.values.push_back(values_of(sums_[i], static_cast<std::uint32_t>(region.area), scale_));
    }
  }

 private:
  [[nodiscard]] Measured* measured() const { return reinterpret_cast<Measured*>(measured_.get()); }

  Backend& backend_;
  std::size_t channels_;
  ValueScale scale_;
  std::unique_ptr<MeasureOperation> measure_;
  std::unique_ptr<RegionValuesOperation> sum_;
  Buffer measured_;
  Buffer of_labels_;
  std::vector<RegionSums> sums_;
};

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

void check_label_size(std::int64_t width, std::int64_t height) {
  constexpr std::int64_t word = 32;
  constexpr std::int64_t limit = (std::int64_t{1} << 32) / word;
  if (width < 1 || height < 1 || (width - 1) / word + 1 > (limit - 1) / height)
    throw Error(ErrorKind::usage, "A mask of " + std::to_string(width) + " x " + std::to_string(height) +
                                      " has no labels: from 1 to fewer than 2^32 pixels are possible, where "
                                      "rows count as multiples of 32.");
}

Regions find_regions(const Device& device, const ImageView& mask, const RegionsOptions& options) {
  check(mask, options.image);
  Backend& backend = device.backend();
  Staged staged(device);
  const ImageView own_mask = staged.input(mask);
  const ImageView image = staged.input(options.image);
  const LabelJob job{mask.shape.width, mask.shape.height, options.connectivity == Connectivity::four ? 4 : 8,
                     options.zeros};
  const auto label = backend.prepare(job);
  Regions result;
  result.labels = device.allocate({mask.shape.width, mask.shape.height, 1, Type::u32});
  result.largest = label->run(own_mask, result.labels.view(), {});

  // All work for shapes and values is queued before the first result is read.
  const RegionShape* shapes = label->describe({});
  std::optional<ImageValues> values;
  if (!image.empty()) values.emplace(backend, result.labels.view(), image, result.largest);
  std::vector<RegionShape> copied(backend.host_memory ? 0 : result.largest);
  if (!copied.empty()) {
    backend.download(copied.data(), shapes, copied.size() * sizeof(RegionShape), {});
    shapes = copied.data();
  }
  result.found = result.largest;
  result.regions.reserve(result.largest);
  for (std::uint32_t i = 0; i < result.largest; ++i)
    result.regions.push_back(region_of(shapes[i], i + 1, mask.shape));
  if (values) values->read(result.regions);
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
  std::vector<std::pair<double, std::size_t>> order;  // equal keys keep the order that they have
  for (const Region& region : regions)
    order.emplace_back((descending ? -1 : 1) * key_of(region, key, index), order.size());
  std::ranges::sort(order);
  std::vector<Region> sorted;
  for (const auto& [_, i] : order) sorted.push_back(std::move(regions[i]));
  regions = std::move(sorted);
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
      ->run({labels, reinterpret_cast<const std::uint32_t*>(buffer.get()), labels}, {});
  device.synchronize();
  if (staged) regions.labels = device.download(regions.labels);
  for (Region& region : regions.regions) region.label = table[region.label];
  regions.largest = static_cast<std::uint32_t>(regions.regions.size());
}

}  // namespace satin
