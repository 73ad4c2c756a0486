// Cases of pictures: tables and means against NPP, filters under masks, regions, depth of field, pipelines,
// and the plain function on small pictures.

#include <algorithm>
#include <array>
#include <cmath>

#include "masks/regions.h"
#include "satin/filters.h"
#include "satin/pipeline.h"
#include "satin/regions.h"
#include "tests/bench/bench.h"

namespace satin::bench {
namespace {

constexpr Shape uhd{3840, 2160, 3, Type::u8};

std::string size_of_picture(const Shape& shape) {
  return std::to_string(shape.width) + "x" + std::to_string(shape.height);
}

/// A linear congruential generator.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}
  std::int64_t below(std::int64_t end) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<std::int64_t>((std::uint64_t{state_} * static_cast<std::uint64_t>(end)) >> 32);
  }

 private:
  std::uint32_t state_;
};

Image noise_of(const Shape& shape) {
  Image image(shape);
  const std::vector<std::byte> bytes = noise(shape.type, byte_size(shape));
  std::copy_n(bytes.begin(), byte_size(shape), image.data());
  return image;
}

/// Returns an image of bytes by a function of column, row and channel.
template <class Value>
Image image_by(const Shape& shape, const Value& value) {
  Image image(shape);
  auto* next = reinterpret_cast<std::uint8_t*>(image.data());
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) *next++ = static_cast<std::uint8_t>(value(x, y, c));
  return image;
}

Shape one_channel(const Shape& shape) { return {shape.width, shape.height, 1, Type::u8}; }

// --- Tables and means against CUB and NPP. `satin bench` times more of both. ---

Case table_case(const Shape& shape) {
  return {
      "table",
      {{"size", size_of_picture(shape)}, {"channels", std::to_string(shape.channels)}},
      [shape](Bench& bench) {
        auto plan =
            std::make_shared<Plan>(satin::plan(bench.device(), shape, Integral{.modulo = Modulo::two_to_32}));
        const auto pictures = std::make_shared<Pictures>(bench.device(), shape, plan->output_shape());
        const Call run = [&](int i) { plan->run(pictures->input(i), pictures->output(i), bench.stream()); };
        return bench.measure(
            {run, byte_size(shape), byte_size(plan->output_shape()), table_peers(pictures, bench.stream())});
      }};
}

Case mean_case(double radius) {
  return {"mean",
          {{"size", size_of_picture(uhd)},
           {"radius", std::to_string(static_cast<int>(radius))},
           {"space", "encoded"}},
          [radius](Bench& bench) {
            auto plan = std::make_shared<Plan>(
                satin::plan(bench.device(), uhd, Blur{.radius = radius, .space = Space::encoded}));
            const auto pictures = std::make_shared<Pictures>(bench.device(), uhd, uhd);
            const Call run = [&](int i) {
              plan->run(pictures->input(i), pictures->output(i), bench.stream());
            };
            return bench.measure({run, byte_size(uhd), byte_size(uhd),
                                  mean_peers(pictures, static_cast<int>(radius), bench.stream())});
          }};
}

// --- Filters under masks that are active in a share of the picture. ---

/// Returns a mask that is 255 in `percent` of its area: one rectangle in the middle, or random squares of 48
/// pixels.
Image active_mask(double percent, bool scattered) {
  Image mask = image_by(one_channel(uhd), [](auto...) { return 0; });
  std::int64_t active = 0;
  const auto fill = [&](std::int64_t left, std::int64_t top, std::int64_t right, std::int64_t bottom) {
    for (std::int64_t y = top; y < std::min(bottom, uhd.height); ++y)
      for (std::int64_t x = left; x < std::min(right, uhd.width); ++x) {
        auto& value = mask.view().value<std::uint8_t>(x, y);
        active += value == 0 ? 1 : 0;
        value = 255;
      }
  };
  if (!scattered) {
    const double half = std::sqrt(percent / 100) / 2;
    const auto across = static_cast<std::int64_t>(half * static_cast<double>(uhd.width));
    const auto down = static_cast<std::int64_t>(half * static_cast<double>(uhd.height));
    fill(uhd.width / 2 - across, uhd.height / 2 - down, uhd.width / 2 + across, uhd.height / 2 + down);
    return mask;
  }
  Random random(1);
  const double wanted = percent / 100 * static_cast<double>(uhd.width * uhd.height);
  while (static_cast<double>(active) < wanted) {
    const std::int64_t left = random.below(uhd.width), top = random.below(uhd.height);
    fill(left, top, left + 48, top + 48);
  }
  return mask;
}

/// `mask_index`: index of the mask among the inputs of the filter.
template <class Filter>
Case masked_case(const std::string& name, double percent, bool scattered, const Filter& filter,
                 std::size_t mask_index) {
  return {"under a mask",
          {{"filter", name},
           {"active", std::to_string(static_cast<int>(percent))},
           {"mask", scattered ? "squares" : "rectangle"}},
          [=](Bench& bench) {
            const Device& device = bench.device();
            const Image mask = device.upload(active_mask(percent, scattered));
            Filter with_mask = filter;
            with_mask.mask = mask;
            Plan plan = satin::plan(device, uhd, with_mask);
            const Pictures pictures(device, uhd, uhd);
            const Call run = [&](int i) {
              std::vector<ImageView> inputs(mask_index + 1);
              inputs.front() = pictures.input(i);
              inputs.back() = mask;
              plan.run(inputs, pictures.output(i), bench.stream());
            };
            return bench.measure({run, byte_size(uhd) + byte_size(mask.shape()), byte_size(uhd)});
          }};
}

void add_masked_cases(std::vector<Case>& cases) {
  const auto add = [&](double percent, bool scattered) {
    cases.push_back(masked_case("blur radius=16", percent, scattered, Blur{.radius = 16}, 2));
    cases.push_back(masked_case("blur radius=16 space=encoded", percent, scattered,
                                Blur{.radius = 16, .space = Space::encoded}, 2));
    cases.push_back(masked_case("blur radius=16 mask-mode=exclude", percent, scattered,
                                Blur{.radius = 16, .mask_mode = MaskMode::exclude}, 2));
    cases.push_back(masked_case("dilate radius=16", percent, scattered, Dilate{.radius = 16}, 1));
  };
  for (const double percent : {0.0, 1.0, 10.0, 50.0, 100.0}) add(percent, false);
  for (const double percent : {1.0, 10.0}) add(percent, true);
}

// --- Regions of noise, of blobs and specks of smoothed noise, and of strokes like those of text. ---

Image strokes(const Shape& shape) {
  return image_by(shape, [](std::int64_t x, std::int64_t y, int) {
    const std::int64_t letter = (y / 40) * 7919 + x / 24;
    const bool stem = x % 24 > 4 && x % 24 < 9;
    const bool bar = x % 24 > 4 && x % 24 < 20 && (y % 40) / 4 == letter * 31 % 6;
    return y % 40 < 26 && letter % 6 != 0 && (stem || bar) ? 255 : 0;
  });
}

/// Returns a mask in host memory.
Image mask_of(const std::string& kind, const Shape& shape) {
  if (kind == "text") return strokes(shape);
  const Device cpu = Device::open("cpu");
  const Image random = noise_of(shape);
  const auto level = [&](const Image& image, double at) {
    return threshold(cpu, image, {.method = Binarisation::fixed, .level = at});
  };
  if (kind == "noise") return level(random, 0.5);
  if (kind == "blobs") return level(blur(cpu, random, {.sigma = 8, .space = Space::encoded}), 0.5);
  return level(blur(cpu, random, {.sigma = 2, .space = Space::encoded}), 0.53);
}

/// The step to time: labels alone, labels and the shapes of all regions, the sums of a picture under each
/// label, or find_regions().
enum class RegionStep { labels, shapes, values, find };

Result measure_regions(Bench& bench, RegionStep step, const Image& host_mask, int connectivity) {
  const Device& device = bench.device();
  Backend& backend = device.backend();
  const Shape shape = host_mask.shape();
  const Image mask = device.upload(host_mask);
  const Image picture = device.upload(noise_of(shape));
  Image labels = device.allocate(Shape{shape.width, shape.height, 1, Type::u32});
  const auto label = backend.prepare(LabelJob{shape.width, shape.height, connectivity});
  const std::uint32_t count = label->run(mask, labels.view(), {});
  const auto values = backend.prepare(RegionValuesJob{shape.width, shape.height, 1, Type::u8});
  const Buffer sums = backend.allocate(std::max<std::size_t>(count, 1) * sizeof(RegionSums));
  const RegionsOptions options{.connectivity = connectivity == 4 ? Connectivity::four : Connectivity::eight};
  device.synchronize();
  const Call run = [&](int) {
    if (step == RegionStep::labels || step == RegionStep::shapes)
      label->run(mask, labels.view(), bench.stream());
    if (step == RegionStep::shapes) static_cast<void>(label->describe(bench.stream()));
    if (step == RegionStep::values)
      values->run(labels, picture, nullptr, count, reinterpret_cast<RegionSums*>(sums.get()), bench.stream());
    if (step == RegionStep::find) static_cast<void>(find_regions(device, mask, options));
  };
  const std::size_t beside = step == RegionStep::values ? 5 * byte_size(shape) : byte_size(shape);
  Result result = bench.measure({run, beside, step == RegionStep::values ? 0 : 4 * byte_size(shape)});
  result.figures.emplace_back("regions", count);
  return result;
}

void add_region_cases(std::vector<Case>& cases) {
  const std::array steps{
      std::pair{"labels", RegionStep::labels}, std::pair{"labels and shapes", RegionStep::shapes},
      std::pair{"values of regions", RegionStep::values}, std::pair{"find_regions", RegionStep::find}};
  for (const auto& [name, step] : steps)
    for (const Shape& shape : {one_channel(uhd), Shape{8192, 8192, 1, Type::u8}})
      for (const std::string kind : {"noise", "blobs", "specks", "text"})
        for (const int connectivity : {4, 8})
          cases.push_back({name,
                           {{"size", size_of_picture(shape)},
                            {"mask", kind},
                            {"connectivity", std::to_string(connectivity)}},
                           [=, step = step](Bench& bench) {
                             return measure_regions(bench, step, mask_of(kind, shape), connectivity);
                           }});
}

// --- Depth of field of a scene without lamps: a receding floor with eight discs at eight depths. ---

Image scene_disparity() {
  return image_by(one_channel(uhd), [](std::int64_t x, std::int64_t y, int) {
    double value = 40 + 120 * static_cast<double>(y) / static_cast<double>(uhd.height);
    for (int i = 0; i < 8; ++i) {
      const double u = static_cast<double>(x) - (250 + 470 * i);
      const double v = static_cast<double>(y) - (500 + 1300 * ((i * 5) % 8) / 8.0);
      if (u * u + v * v < 230 * 230) value = 80 + 22 * i;
    }
    return value;
  });
}

/// Flat patches under noise.
Image scene_picture() {
  Random random(1);
  return image_by(uhd, [&](std::int64_t x, std::int64_t y, int c) {
    return (x / 90 * 37 + y / 70 * 11 + c * 29) % 200 + random.below(32);
  });
}

/// With the focus on the floor, surfaces hidden by the nearer discs are sharp. With the focus on the nearest
/// disc, nothing hidden is sharp.
Case dof_case(LensQuality quality, double radius, bool focus_on_floor) {
  return {
      "dof",
      {{"quality", quality == LensQuality::fast ? "fast" : "high"},
       {"radius", std::to_string(static_cast<int>(radius))},
       {"focus", focus_on_floor ? "floor" : "nearest"}},
      [=](Bench& bench) {
        const Device& device = bench.device();
        const Image picture = device.upload(scene_picture());
        const Image disparity = device.upload(scene_disparity());
        Image result = device.allocate(uhd);
        constexpr double farthest = 0.15, nearest = 0.9;
        Dof dof;
        dof.depth = disparity;
        dof.style.quality = quality;
        const double focus = focus_on_floor ? 0.45 : nearest;
        dof.lens.focus = focus;
        dof.lens.strength = radius / std::max(nearest - focus, focus - farthest);
        Plan plan = satin::plan(device, uhd, dof);
        const std::array<ImageView, 2> inputs{picture, disparity};
        const Call run = [&](int) { plan.run(inputs, result.view(), bench.stream()); };
        Result found = bench.measure({run, byte_size(uhd) + byte_size(disparity.shape()), byte_size(uhd)});
        found.figures.emplace_back("workspace_bytes", static_cast<double>(plan.workspace_bytes()));
        return found;
      }};
}

// --- Pipelines against their filters alone. ---

/// A plan with its pictures in the device's memory.
struct PreparedPipeline {
  PipelinePlan plan;
  Image input;
  Image output;

  PreparedPipeline(const Device& device, const Pipeline& pipeline, const Shape& shape)
      : plan(device, pipeline, shapes_of(pipeline, shape)),
        input(device.upload(noise_of(shape))),
        output(device.allocate(plan.output_shape())) {}

  static std::vector<Shape> shapes_of(const Pipeline& pipeline, const Shape& picture) {
    std::size_t sides = 0;
    for (const PipelineStep& step : pipeline) sides += step.parameters.filter().inputs.size();
    std::vector<Shape> shapes(1 + sides, Shape{0, 0});
    shapes.front() = picture;
    return shapes;
  }
};

Case pipeline_case(const std::string& text) {
  return {"pipeline", {{"steps", text}}, [text](Bench& bench) {
            const Pipeline whole = parse_pipeline(text);
            const auto prepare = [&](const Pipeline& pipeline, const Shape& shape) {
              return std::make_shared<PreparedPipeline>(bench.device(), pipeline, shape);
            };
            const auto call = [&](const std::shared_ptr<PreparedPipeline>& prepared) {
              return Call([prepared, &bench](int) {
                prepared->plan.run(prepared->input.view(), prepared->output.view(), bench.stream());
              });
            };
            const auto prepared = prepare(whole, uhd);
            Work work{call(prepared), byte_size(uhd), byte_size(prepared->plan.output_shape())};
            Shape shape = uhd;
            for (const PipelineStep& step : whole) {
              const auto alone = prepare({step}, shape);
              shape = alone->plan.output_shape();
              work.peers.push_back({print_pipeline(Pipeline{step}) + " alone", call(alone)});
            }
            return bench.measure(work);
          }};
}

/// The plain function, which plans, allocates its result and runs.
Case plain_case(std::int64_t side, int channels, Space space) {
  const Shape shape{side, side, channels, Type::u8};
  return {"plain blur",
          {{"size", size_of_picture(shape)},
           {"channels", std::to_string(channels)},
           {"radius", "8"},
           {"space", space == Space::encoded ? "encoded" : "linear"}},
          [=](Bench& bench) {
            const Image picture = bench.device().upload(noise_of(shape));
            const Call run = [&](int) {
              static_cast<void>(blur(bench.device(), picture.view(), {.radius = 8, .space = space}));
            };
            return bench.measure({run, byte_size(shape), byte_size(shape)});
          }};
}

}  // namespace

std::vector<Case> picture_cases(bool on_gpu) {
  std::vector<Case> cases;
  for (const std::int64_t side : {2048, 4096, 8192, 16384})
    if (on_gpu || side <= 4096) cases.push_back(table_case({side, side, 1, Type::u8}));
  for (const Shape& shape :
       {Shape{8191, 8101, 1, Type::u8}, {4096, 4096, 3, Type::u8}, {4096, 4096, 4, Type::u8}})
    if (on_gpu) cases.push_back(table_case(shape));
  for (const double radius : {16.0, 64.0}) cases.push_back(mean_case(radius));
  for (const std::int64_t side : {16, 64, 256})
    for (const int channels : {1, 3})
      if (!on_gpu) cases.push_back(plain_case(side, channels, Space::encoded));
  if (!on_gpu) cases.push_back(plain_case(64, 3, Space::linear));
  add_masked_cases(cases);
  add_region_cases(cases);
  for (const double radius : {8.0, 16.0, 32.0, 64.0})
    for (const LensQuality quality : {LensQuality::fast, LensQuality::high})
      for (const bool on_floor : {true, false}) cases.push_back(dof_case(quality, radius, on_floor));
  for (const char* text : {"blur radius=8 | unsharp | threshold method=fixed",
                           "blur radius=8 | dilate radius=2 | unsharp amount=1",
                           "unsharp | threshold method=fixed | mask shrink=1",
                           "blur radius=16 | blur sigma=4 | threshold method=otsu"})
    cases.push_back(pipeline_case(text));
  return cases;
}

}  // namespace satin::bench
