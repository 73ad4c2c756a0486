// Pipelines of three filters beside their filters alone, in one run, from device memory to device memory.
//   pipeline_bench [DEVICE [REPEATS]]

#include <functional>

#include "satin/pipeline.h"
#include "tests/bench/cpu_timing.h"

namespace {

using namespace satin::bench;
using satin::Device;
using satin::Image;
using satin::Pipeline;
using satin::PipelinePlan;
using satin::Shape;

/// Of the picture, and of no other one.
std::vector<Shape> shapes_of(const Pipeline& pipeline, const Shape& picture) {
  std::size_t sides = 0;
  for (const satin::PipelineStep& step : pipeline) sides += step.parameters.filter().inputs.size();
  std::vector<Shape> shapes(1 + sides, Shape{0, 0});
  shapes.front() = picture;
  return shapes;
}

/// What a plan takes and gives, in the device's memory.
struct Prepared {
  PipelinePlan plan;
  Image input;
  Image output;

  Prepared(const Device& device, const Pipeline& pipeline, const Shape& shape)
      : plan(device, pipeline, shapes_of(pipeline, shape)),
        input(device.upload(random_image(shape))),
        output(device.allocate(plan.output_shape())) {}
  void run() { plan.run(input.view(), output.view()); }
};

/// Milliseconds of one of many runs that are waited for together.
double time_of_runs(const Device& device, Prepared& prepared) {
  const int runs = device.is_cuda() ? 50 : 1;
  return time_of([&] {
           for (int i = 0; i < runs; ++i) prepared.run();
           device.synchronize();
         }) /
         runs;
}

void report(const Device& device, const char* text, int repeats) {
  const Pipeline whole = satin::parse_pipeline(text);
  std::vector<Prepared> prepared;
  prepared.emplace_back(device, whole, Shape{3840, 2160, 3, satin::Type::u8});
  for (const satin::PipelineStep& step : whole)
    prepared.emplace_back(
        device, Pipeline{step},
        prepared.size() == 1 ? prepared.front().input.shape() : prepared.back().plan.output_shape());
  std::vector<std::vector<double>> times(prepared.size());
  for (int i = -2; i < repeats; ++i)
    for (std::size_t k = 0; k < prepared.size(); ++k) {
      const double time = time_of_runs(device, prepared[k]);
      if (i >= 0) times[k].push_back(time);
    }
  const double pipeline = median(times[0]);
  std::vector<double> alone;
  for (std::size_t k = 1; k < times.size(); ++k) alone.push_back(median(times[k]));
  std::printf("| `%s` | %.3f |", text, pipeline);
  for (const double time : alone) std::printf(" %.3f", time);
  std::sort(alone.begin(), alone.end(), std::greater<>());
  std::printf(" | %.2f |\n", pipeline / (alone[0] + alone[1]));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = Device::open(argc > 1 ? argv[1] : "auto");
  const int repeats = argc > 2 ? satin::bench::number_of(argv[2], 1) : 11;
  std::printf("%s, 3840 x 2160 RGB u8\n\n", device.info().name.c_str());
  std::printf("| pipeline | ms | its filters alone, ms | of its slowest two |\n|---|---|---|---|\n");
  for (const char* text : {"blur radius=8 | unsharp | threshold method=fixed",
                           "blur radius=8 | dilate radius=2 | unsharp amount=1",
                           "unsharp | threshold method=fixed | mask shrink=1",
                           "blur radius=16 | blur sigma=4 | threshold method=otsu"})
    report(device, text, repeats);
  return 0;
}
