// The filter integral: summed-area tables as pictures (Crow 1984), built by a scan of the rows and one of the
// columns.

#include "satin/filters/integral.h"

#include "core/backend.h"
#include "core/record.h"
#include "satin/error.h"
#include "tables/table.h"

namespace satin {
namespace {

Shape unweighted(Shape shape) {
  shape.alpha = Alpha::none;  // stored values are summed without alpha weights
  return shape;
}

TableJob table_job(const Shape& shape, const Integral& parameters) {
  const std::uint64_t area =
      static_cast<std::uint64_t>(shape.width) * static_cast<std::uint64_t>(shape.height);
  TableJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.read = read_pixels(unweighted(shape), Transfer::identity, area);
  job.squared = parameters.squared;
  if (parameters.modulo == Modulo::two_to_32) return job;
  const bool square_integers = job.squared && !job.read.fixed_point;
  job.accumulator = choose_accumulator(
      job.read, area, square_integers ? job.read.maximum * job.read.maximum : job.read.maximum);
  return job;
}

Shape table_shape(const Shape& shape, Accumulator accumulator) {
  Shape result = unweighted(shape);
  result.type = shape.type == Type::f32 ? Type::f64 : accumulator == Accumulator::u32 ? Type::u32 : Type::u64;
  return result;
}

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Integral& parameters) {
  const Shape shape = shapes.front();
  if (parameters.modulo != Modulo::none && shape.type == Type::f32)
    throw Error(ErrorKind::usage,
                "Sums of floats cannot be taken modulo 2^32: leave modulo out, or convert to u8 or u16.");
  // Without a modulus the sum of the whole picture must fit, not only that of a box.
  const TableJob job = table_job(shape, parameters);
  const auto run = [floats = job.read.fixed_point](TableOperation& table, std::span<const ImageView> inputs,
                                                   const MutableImageView& output, Measured* measured,
                                                   Stream stream) {
    table.run(inputs[0], measured, output, stream);
    if (floats) table.to_double(output, measured, stream);
  };
  FilterPlan plan{table_shape(shape, job.accumulator), {range_of(shape)}, {}, prepare_one(device, job, run)};
  plan.adds_up = !job.read.fixed_point;
  return plan;
}

}  // namespace

const FilterRecord& integral_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "integral",
       .category = "tables",
       .help = "summed-area table: the sum of all pixels above and to the left",
       .paper = "Crow, Summed-area tables for texture mapping, 1984",
       .parameters = {record::flag(&Integral::squared, {"squared", "", "sum the squares of the values"}),
                      record::choice(
                          &Integral::modulo, {"none", "32"},
                          {"modulo", "",
                           "32: sums of integers modulo 2^32; sums of boxes stay exact below 2^32"})},
       .output = OutputKind::table,
       .shape = OutputShape::other,
       .space = Space::encoded});
  return filter;
}

}  // namespace satin
