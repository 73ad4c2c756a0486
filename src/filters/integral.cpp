#include "satin/filters/integral.h"

#include "core/backend.h"
#include "core/prepared_filter.h"
#include "core/record.h"
#include "filters/registry.h"
#include "pixels/measure.h"
#include "satin/error.h"
#include "tables/table.h"

namespace satin {
namespace {

/// Rows are scanned, then columns (Crow 1984); the sums of the whole picture must fit, not only those of a
/// box.
class PreparedIntegral final : public PreparedFilter {
 public:
  PreparedIntegral(Backend& backend, const TableJob& job, const Shape& shape) : table_(backend.prepare(job)) {
    if (!job.read.fixed_point) return;
    measure_ = backend.prepare(MeasureJob{shape.width, shape.height, shape.channels, false});
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return table_->workspace_bytes(); }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    if (measure_ != nullptr) {
      measure_->clear(measured, stream);
      measure_->measure(inputs[0], measured, stream);
    }
    table_->run(inputs[0], measured, output, stream);
    if (measure_ != nullptr) table_->to_double(output, measured, stream);
  }

 private:
  std::unique_ptr<TableOperation> table_;
  std::unique_ptr<MeasureOperation> measure_;
};

Shape unweighted(Shape shape) {
  shape.alpha = Alpha::none;  // sums of the values as stored
  return shape;
}

TableJob table_job(const Shape& shape, bool squared) {
  const std::uint64_t area =
      static_cast<std::uint64_t>(shape.width) * static_cast<std::uint64_t>(shape.height);
  TableJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.read = read_pixels(unweighted(shape), Transfer::identity, area);
  job.squared = squared;
  const bool square_integers = squared && !job.read.fixed_point;
  job.accumulator = choose_accumulator(
      job.read, area, square_integers ? job.read.maximum * job.read.maximum : job.read.maximum);
  return job;
}

Shape table_shape(const Shape& shape, Accumulator accumulator) {
  Shape result = unweighted(shape);
  result.type = shape.type == Type::f32 ? Type::f64 : accumulator == Accumulator::u32 ? Type::u32 : Type::u64;
  return result;
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const Integral& parameters) {
  validate(shape);
  const TableJob job = table_job(shape, parameters.squared);
  auto filter = std::make_unique<PreparedIntegral>(device.backend(), job, shape);
  return make_plan(device, {{shape}, table_shape(shape, job.accumulator), job.read.fixed_point},
                   std::move(filter));
}

Image integral(const Device& device, const ImageView& image, const Integral& parameters) {
  return run_once(device, plan(device, image.shape, parameters), std::span(&image, 1));
}

FilterRecord integral_record() {
  FilterRecord filter;
  filter.name = "integral";
  filter.category = "tables";
  filter.help = "summed-area table: the sum of all pixels above and to the left";
  filter.paper = "Crow, Summed-area tables for texture mapping, 1984";
  filter.parameters = {
      record::flag(&Integral::squared, {"squared", "", "sum the squares of the values"}),
  };
  filter.output = OutputKind::table;
  filter.space = Space::encoded;
  filter.defaults = [] { return std::make_shared<Integral>(); };
  filter.reach = [](const void*, const Shape& shape) {
    return static_cast<double>(std::max(shape.width, shape.height));
  };
  filter.plan = [](const Device& device, std::span<const Shape> shapes, const void* parameters) {
    return plan(device, shapes[0], record::as<Integral>(parameters));
  };
  return filter;
}

}  // namespace satin
