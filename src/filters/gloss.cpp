// The filter gloss: an environment map prefiltered for glossy reflections, one map for each roughness.
//
// Each pixel is the mean of the map over a GGX lobe around its direction. A lobe is a stack of boxes
// (lobes/lobe_mean.h), and a summed-area table gives the sum of each box.

#include "satin/filters/gloss.h"

#include <algorithm>
#include <memory>
#include <string>

#include "core/backend.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "core/workspace.h"
#include "lobes/lobe_mean.h"
#include "pixels/transfer.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr int most_levels = 16;
/// Largest height of a map that is higher than it is wide. The time grows with the square of the height,
/// because lobes are sums over rows.
constexpr std::int64_t most_rows_of_narrow_map = 2048;

void check(const Shape& shape, const Gloss& gloss) {
  if (shape.height > std::max(shape.width, most_rows_of_narrow_map))
    throw Error(
        ErrorKind::usage,
        "A map of " + std::to_string(shape.width) + " x " + std::to_string(shape.height) +
            " is not a map of all directions, which is twice as wide as it is high, and its time would grow "
            "with the square of its height. Crop or rotate it.");
  check_range("roughness", gloss.roughness, 0, 1);
  check_range("levels", gloss.levels, 1, most_levels);
}

LobeMeanJob lobe_job(const Shape& shape, const Gloss& gloss) {
  const Transfer transfer = transfer_for(gloss.space, shape.type);
  LobeMeanJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.read = read_for_lobes(shape, transfer);
  job.write = {shape.type, transfer, 0};
  job.row_weights = row_weights(shape.height);
  for (int level = 0; level < gloss.levels; ++level) {
    const double share = gloss.levels == 1 ? 1.0 : level / static_cast<double>(gloss.levels - 1);
    const double roughness = gloss.roughness * share;
    if (roughness > 0) {
      add_ggx_level(job, roughness);
    } else {
      add_copy(job);
    }
  }
  check_lobe_weights(job);
  return job;
}

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Gloss& gloss) {
  check(shapes.front(), gloss);
  const WorkspaceBudget budget(device.backend());  // limits the lobes' memory
  const auto job = std::make_shared<const LobeMeanJob>(lobe_job(shapes.front(), gloss));
  Shape output = shapes.front();
  output.height *= gloss.levels;
  validate(output);
  const auto run = [](LobeMeanOperation& mean, std::span<const ImageView> inputs,
                      const MutableImageView& result, Measured* measured,
                      Stream stream) { mean.run(inputs.front(), measured, result, stream); };
  const auto prepare = [&backend = device.backend(), job, run](std::int64_t, std::int64_t) {
    return std::make_unique<OneOperation<LobeMeanOperation, decltype(run)>>(backend.prepare(*job), run);
  };
  return {output, {range_of(shapes.front(), {.weighted = job->read.weighted})}, {}, prepare};
}

}  // namespace

const FilterRecord& gloss_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "gloss",
       .category = "lighting",
       .help = "prefilter an environment map (latitude and longitude) for glossy reflections",
       .paper = "Karis, Real shading in Unreal Engine 4, 2013; Crow, Summed-area tables, 1984",
       .parameters =
           {record::real(&Gloss::roughness, 0, 1,
                         {"roughness", "",
                          "roughness of the surface, from 0 (mirror) to 1; alpha of GGX is its square"}),
            record::integer(
                &Gloss::levels, 1, most_levels,
                {"levels", "",
                 "number of maps, one below the other, from a mirror to the roughness in even steps"}),
            record::space(&Gloss::space, "average in linear light, or average the stored values")},
       .shape = OutputShape::other,
       .reach = record::reach<Gloss>([](const Gloss& gloss, const Shape& shape) {
         return gloss.roughness > 0 ? longer_side(shape) : 0.0;
       })});
  return filter;
}

}  // namespace satin
