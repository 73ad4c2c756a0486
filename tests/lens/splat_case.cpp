#include "tests/lens/splat_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/backend.h"
#include "lens/splat.h"

namespace satin::test {
namespace {

/// A plane in the backend's memory with padding between its rows.
class Plane {
 public:
  Plane(Backend& backend, std::int64_t width, std::int64_t height, int channels, Type type)
      : backend_(backend),
        row_bytes_(static_cast<std::size_t>(width * channels) * size_of(type)),
        row_(row_bytes_ + 3 * size_of(type)),
        bytes_(row_ * static_cast<std::size_t>(height), std::byte{0xCD}),
        buffer_(backend.allocate(bytes_.size())) {
    const auto element = static_cast<std::ptrdiff_t>(size_of(type));
    view_ = {buffer_.get(),
             {width, height, channels, type},
             {element * channels, static_cast<std::ptrdiff_t>(row_), element, 0},
             backend.host_memory ? Memory::host : Memory::device};
    backend_.upload(buffer_.get(), bytes_.data(), bytes_.size(), {});
  }

  template <class T>
  Plane& fill(const std::vector<T>& values) {
    for (std::size_t y = 0; y * row_ < bytes_.size(); ++y)
      std::memcpy(bytes_.data() + y * row_,
                  reinterpret_cast<const std::byte*>(values.data()) + y * row_bytes_, row_bytes_);
    backend_.upload(buffer_.get(), bytes_.data(), bytes_.size(), {});
    return *this;
  }

  /// Returns what was written, and checks that the padding was not.
  std::vector<std::uint32_t> read() {
    backend_.download(bytes_.data(), buffer_.get(), bytes_.size(), {});
    std::vector<std::uint32_t> values(row_bytes_ / 4 * (bytes_.size() / row_));
    for (std::size_t y = 0; y * row_ < bytes_.size(); ++y) {
      std::memcpy(reinterpret_cast<std::byte*>(values.data()) + y * row_bytes_, bytes_.data() + y * row_,
                  row_bytes_);
      for (std::size_t i = row_bytes_; i < row_; ++i)
        EXPECT_EQ(bytes_[y * row_ + i], std::byte{0xCD}) << "behind row " << y;
    }
    return values;
  }

  [[nodiscard]] const MutableImageView& view() const { return view_; }

 private:
  Backend& backend_;
  std::size_t row_bytes_;
  std::size_t row_;
  std::vector<std::byte> bytes_;
  Buffer buffer_;
  MutableImageView view_;
};

template <class Values>
Buffer uploaded(Backend& backend, const Values& values) {
  const std::size_t bytes = values.size() * sizeof(values[0]);
  Buffer buffer = backend.allocate(bytes + 1);
  if (bytes > 0) backend.upload(buffer.get(), values.data(), bytes, {});
  return buffer;
}

}  // namespace

std::vector<std::uint32_t> run_scene(const LensScene& scene, const Device& device, std::uint32_t more) {
  Backend& backend = device.backend();
  SplatJob job = scene.job;
  job.most_listed = static_cast<std::uint32_t>(scene.listed.size());
  job.most_lamps = static_cast<std::uint32_t>(scene.lamps.size());
  if (job.most_lamps > 0) job.lamp_reach = scene.aperture_table.reach;
  const auto plane = [&](int channels, Type type) {
    return Plane(backend, job.width, job.height, channels, type);
  };
  Plane source = plane(job.channels, Type::u32);
  Plane colours = plane(job.channels, Type::u32);
  Plane radii = plane(1, Type::u32);
  Plane groups = plane(1, Type::u8);
  Plane weights = plane(1, Type::u16);
  Plane output = plane(job.channels, Type::u32);
  source.fill(scene.source);
  colours.fill(scene.colours);
  radii.fill(scene.radii);
  groups.fill(scene.groups);
  weights.fill(scene.weights);
  Plane exposed = plane(1, Type::u8);
  if (!scene.exposed.empty()) exposed.fill(scene.exposed);
  const std::size_t list_bytes = scene.listed.size() * sizeof(LensSample);
  const Buffer list = backend.allocate(list_bytes + sizeof(LensSample));
  const Buffer count_buffer = backend.allocate(4);
  const std::uint32_t count = job.most_listed + more;
  if (list_bytes > 0) backend.upload(list.get(), scene.listed.data(), list_bytes, {});
  backend.upload(count_buffer.get(), &count, 4, {});

  const Buffer lamps = uploaded(backend, lamps_of(scene));
  const Buffer lamp_count = uploaded(backend, std::vector<std::uint32_t>{job.most_lamps});
  const Buffer rows = uploaded(backend, scene.aperture_table.rows);
  const Buffer edges = uploaded(backend, scene.aperture_table.edges);
  const auto operation = backend.prepare(job);
  const SplatImages images{source.view(),
                           colours.view(),
                           radii.view(),
                           groups.view(),
                           weights.view(),
                           reinterpret_cast<const LensSample*>(list.get()),
                           reinterpret_cast<const std::uint32_t*>(count_buffer.get()),
                           output.view(),
                           reinterpret_cast<const Lamp*>(lamps.get()),
                           reinterpret_cast<const std::uint32_t*>(lamp_count.get()),
                           aperture_of(scene, reinterpret_cast<const ApertureRow*>(rows.get()),
                                       reinterpret_cast<const ApertureEdge*>(edges.get())),
                           scene.exposed.empty() ? ImageView() : ImageView(exposed.view())};
  operation->run(images, {});
  std::vector<std::uint32_t> first = output.read();
  operation->run(images, {});
  const std::vector<std::uint32_t> second = output.read();
  EXPECT_EQ(first, second) << "the second run";
  return first;
}

std::uint32_t random_colour(const SplatJob& job, Random& random) {
  return static_cast<std::uint32_t>(random.below(std::uint64_t{1} << job.colour_bits));
}

LensScene random_scene(SplatJob job, std::size_t listed, std::uint64_t seed) {
  Random random(seed);
  LensScene scene = empty_scene(job.width, job.height, job.channels);
  scene.job = job;
  const auto radius = [&] {
    return static_cast<std::uint32_t>(
        random.one_in(4) ? random.below(200) : random.below(job.largest_radius + job.largest_radius / 4 + 1));
  };
  const auto group = [&] {
    return static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(job.groups)));
  };
  for (std::uint32_t& colour : scene.source) colour = random_colour(job, random);
  for (std::uint32_t& colour : scene.colours) colour = random_colour(job, random);
  constexpr std::int64_t patch = 16;
  for (std::int64_t top = 0; top < job.height; top += patch)
    for (std::int64_t left = 0; left < job.width; left += patch) {
      const std::uint32_t patch_radius = radius();
      const std::uint8_t patch_group = group();
      for (std::int64_t y = top; y < std::min(job.height, top + patch); ++y)
        for (std::int64_t x = left; x < std::min(job.width, left + patch); ++x) {
          const auto at = static_cast<std::size_t>(y * job.width + x);
          scene.radii[at] = random.one_in(8) ? radius() : patch_radius;
          scene.groups[at] = random.one_in(8) ? group() : patch_group;
          scene.weights[at] = static_cast<std::uint16_t>(random.one_in(4)   ? 0
                                                         : random.one_in(3) ? random.below(lens_full_weight)
                                                                            : lens_full_weight);
        }
    }
  for (std::size_t i = 0; i < scene.pixels(); ++i)
    scene.exposed.push_back(random.one_in(2) ? std::uint8_t{1} : std::uint8_t{0});
  for (std::size_t i = 0; i < listed; ++i) {
    LensSample sample{};
    for (std::uint32_t& colour : sample.colour) colour = random_colour(job, random);
    sample.x = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(job.width)));
    sample.y = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(job.height)));
    sample.radius = radius();
    sample.block = random.one_in(2) ? 2 : 1;
    sample.weight = static_cast<std::uint16_t>(random.below(lens_full_weight * sample.block + 1));
    sample.group = group();
    scene.listed.push_back(sample);
  }
  return scene;
}

void shape_as_polygon(SplatJob& job, int blades, double degrees) {
  LensStyle style;
  style.bokeh = Bokeh::polygon;
  style.blades = blades;
  style.blade_angle = degrees;
  const ApertureTable table = aperture_table(style);
  job.outline = outline_of(table);
  job.lamp_reach = table.reach;
}

SplatJob job_of(std::int64_t width, std::int64_t height, int channels, int groups, double radius) {
  SplatJob job;
  job.width = width;
  job.height = height;
  job.channels = channels;
  job.groups = groups;
  job.largest_radius = static_cast<std::uint32_t>(radius * 256);
  return job;
}

}  // namespace satin::test
