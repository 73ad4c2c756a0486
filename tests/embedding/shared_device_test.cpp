// Several callers on one device, and on one device each, get the bytes of a single caller. The variant tsan
// runs the same tests under ThreadSanitizer.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "satin/pipeline.h"
#include "satin/regions.h"
#include "satin/scan.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/filter_case.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr int thread_count = 8;
const Shape shape{211, 157, 3, Type::u8};

/// Filters of every kind of operation, including one that needs lazily built 16-bit tables.
const char* const pipelines[] = {
    "blur radius=5",
    "blur radius=3 radius-map=map radius-max=9 mask=map",
    "smooth sigma=7 | unsharp amount=0.5",
    "edge-smooth sigma-s=9 iterations=1",
    "guided radius=4",
    "dof depth=map strength=6",
    "dilate radius=3 | erode radius=3 | integral",
    "threshold window=21 | mask grow=3 feather=4",
};

/// Returns the results of all filters that one thread runs, as bytes.
std::vector<std::byte> work(const Device& device, int thread) {
  std::vector<std::byte> bytes;
  const auto keep = [&](const Image& image) {
    bytes.insert(bytes.end(), image.data(), image.data() + byte_size(image.shape()));
  };
  Shape own = shape;
  if (thread % 2 == 1) own.type = Type::u16;
  const Image picture = random_picture(own, static_cast<std::uint64_t>(thread));
  const Image map = random_map(shape.width, shape.height, Type::u8, static_cast<std::uint64_t>(thread + 99));
  const NamedView named{"map", map};
  for (std::size_t i = 0; i < std::size(pipelines); ++i) {
    const Pipeline pipeline =
        parse_pipeline(pipelines[(i + static_cast<std::size_t>(thread)) % std::size(pipelines)]);
    const bool sided = print_pipeline(pipeline).find("=map") != std::string::npos;
    keep(run(device, pipeline, picture, std::span(&named, sided ? 1 : 0)));
  }
  const Regions regions = find_regions(device, map);
  keep(regions.labels);
  std::vector<std::uint32_t> sums(10007, 3);
  inclusive_scan(device, sums, sums);
  const std::vector<std::uint32_t> falling(sums.rbegin(), sums.rend());
  radix_sort(device, falling, sums);
  const auto* first = reinterpret_cast<const std::byte*>(sums.data());
  bytes.insert(bytes.end(), first, first + sums.size() * sizeof(sums[0]));
  return bytes;
}

std::vector<std::vector<std::byte>> in_threads(const std::vector<Device>& devices) {
  std::vector<std::vector<std::byte>> results(thread_count);
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      const auto index = static_cast<std::size_t>(t);
      results[index] = work(devices[index % devices.size()], t);
    });
  for (std::thread& thread : threads) thread.join();
  return results;
}

std::vector<std::vector<std::byte>> serial() {
  std::vector<std::vector<std::byte>> results;
  for (int t = 0; t < thread_count; ++t) results.push_back(work(device_under_test(), t));
  return results;
}

/// A filter run and its expected result: the picture, or the text of an analysis.
struct Errand {
  FilterCase filter_case;
  Image picture;
  std::vector<Image> sides;
  Image expected;
  std::string expected_text;

  [[nodiscard]] Image result(const Device& device) const {
    Plan plan = filter_case.plan(device, picture.shape());
    std::vector<ImageView> views{picture.view()};
    for (const Image& side : sides) views.push_back(side.view());
    Image image = poisoned(plan.output_shape());
    plan.run(views, image.view());
    return image;
  }
  [[nodiscard]] std::string text(const Device& device) const {
    return run_to_json(device, parse_pipeline(filter_case.filter->name), picture);
  }
  [[nodiscard]] bool is_text() const { return filter_case.filter->output == OutputKind::json; }
  [[nodiscard]] bool is_right(const Device& device) const {
    return is_text() ? text(device) == expected_text : difference(result(device), expected).empty();
  }
};

/// Returns every filter with every combination of its side inputs, and its result on a device with one
/// caller.
std::vector<Errand> every_errand() {
  const Device quiet = cpu_of_threads(2);
  std::vector<Errand> errands;
  const auto add = [&](const FilterCase& filter_case) {
    Errand errand{filter_case,
                  random_picture(filter_case.shape, filter_case.seed),
                  filter_case.side_images(),
                  Image(),
                  {}};
    if (errand.is_text())
      errand.expected_text = errand.text(quiet);
    else
      errand.expected = errand.result(quiet);
    errands.push_back(std::move(errand));
  };
  for (const FilterRecord& filter : filters()) {
    FilterCase analysis;
    analysis.filter = &filter;
    analysis.shape = {150, 110, 1, Type::u8};
    if (filter.output == OutputKind::json)
      add(analysis);
    else
      for (const FilterCase& filter_case : cases_of_inputs(filter, {150, 110})) add(filter_case);
  }
  return errands;
}

/// Callers start at different filters, so that different plans, and sometimes equal ones, run at the same
/// time.
void expect_right_for_callers(const Device& device, const std::vector<Errand>& errands, int threads) {
  constexpr std::size_t callers = 4;
  std::vector<std::string> wrong(callers);
  std::vector<std::thread> all;
  for (std::size_t caller = 0; caller < callers; ++caller)
    all.emplace_back([&, caller] {
      for (std::size_t i = 0; i < errands.size(); ++i) {
        const Errand& errand = errands[(i + caller / 2 * errands.size() / 2) % errands.size()];
        if (!errand.is_right(device)) wrong[caller] += describe(errand.filter_case) + "\n";
      }
    });
  for (std::thread& thread : all) thread.join();
  for (const std::string& text : wrong) EXPECT_EQ(text, "") << threads << " threads";
}

TEST(Threads, FourCallersOfADeviceGetWhatOneGets) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "threads are the CPU's";
  const std::vector<Errand> errands = every_errand();
  EXPECT_GT(errands.size(), filters().size());
  for (const int threads : {1, 2, 3, 64}) expect_right_for_callers(cpu_of_threads(threads), errands, threads);
}

TEST(Threads, ShareADeviceOrHaveOneEach) {
  const std::string id = device_under_test().info().id;
  // The threads run first, before the device has built its lazy tables.
  const auto shared = in_threads({Device::open(id)});
  std::vector<Device> own;
  for (int t = 0; t < thread_count; ++t) own.push_back(Device::open(id, {.threads = 2}));
  const auto apart = in_threads(own);
  const auto expected = serial();
  for (std::size_t t = 0; t < expected.size(); ++t) {
    EXPECT_TRUE(shared[t] == expected[t]) << "thread " << t << " on the one device";
    EXPECT_TRUE(apart[t] == expected[t]) << "thread " << t << " on its own";
  }
}

}  // namespace
}  // namespace satin::test
