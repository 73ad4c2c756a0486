// The filter resize: a box of the picture becomes a picture of another size.
//
// resized_box() finds the box and the size. Lanczos and area are resample/resample.h; nearest pixels, and
// sizes that stay, copy pixels.

#include "satin/filters/resize.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/backend.h"
#include "core/geometry.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "pixels/transfer.h"
#include "resample/resample.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr std::int64_t most_reduced = 4096;
constexpr std::int64_t most_enlarged = 64;
constexpr std::int64_t longest_side = std::int64_t{1} << 30;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

/// Returns round(size * to / from), ties up, at least 1. All are up to 2^30.
std::int64_t in_proportion(std::int64_t size, std::int64_t to, std::int64_t from) {
  return std::max<std::int64_t>((2 * size * to + from) / (2 * from), 1);
}

/// Returns the first pixel of a box of `size` pixels on a line.
std::int64_t placed(std::int64_t line, std::int64_t size, const Length& gravity) {
  const auto room = static_cast<double>(line - size);
  const double first =
      gravity.percent ? room * gravity.value / 100 : gravity.value - static_cast<double>(size) / 2;
  return static_cast<std::int64_t>(std::floor(std::clamp(first, 0.0, room) + 0.5));
}

ResizedBox inside(std::int64_t width, std::int64_t height, const Resize& resize) {
  const TargetSize& size = resize.size;
  ResizedBox found{{0, 0, width, height}, width, height};
  if (size.longer.percent) {
    if (size.longer.value > 100 && !resize.enlarge)
      refuse("size " + print_size(size) + " enlarges the picture: add --enlarge.");
    const auto share = [&](std::int64_t side) {
      const double pixels = std::floor(static_cast<double>(side) * size.longer.value / 100 + 0.5);
      return std::max<std::int64_t>(static_cast<std::int64_t>(std::min(pixels, 0x1p40)), 1);
    };
    found.width = share(width);
    found.height = share(height);
    return found;
  }
  const auto longer = static_cast<std::int64_t>(size.longer.value);
  const std::int64_t wide = longer != 0 ? longer : size.width;
  const std::int64_t high = longer != 0 ? longer : size.height;
  const bool by_width = high == 0 || (wide != 0 && wide * height <= high * width);
  if (!resize.enlarge && (by_width ? wide >= width : high >= height)) return found;
  found.width = by_width ? wide : in_proportion(width, high, height);
  found.height = by_width ? in_proportion(height, wide, width) : high;
  return found;
}

ResizedBox covering(std::int64_t width, std::int64_t height, const Resize& resize) {
  const TargetSize& size = resize.size;
  PixelBox box{0, 0, width, height};
  if (width * size.height >= height * size.width) {
    box.width = std::min(in_proportion(height, size.width, size.height), width);
  } else {
    box.height = std::min(in_proportion(width, size.height, size.width), height);
  }
  box.x = placed(width, box.width, resize.gravity.x);
  box.y = placed(height, box.height, resize.gravity.y);
  const bool larger = size.width > box.width || size.height > box.height;
  if (larger && !resize.enlarge) return {box, box.width, box.height};
  return {box, size.width, size.height};
}

void check_factor(std::int64_t from, std::int64_t to) {
  if (to <= longest_side && from <= to * most_reduced && to <= from * most_enlarged) return;
  throw SizeError("A side of " + std::to_string(from) + " pixels cannot become " + std::to_string(to) +
                  ": sizes are from 1/4096 to 64 times that of the picture.");
}

ResizedBox checked_box(std::int64_t width, std::int64_t height, const Resize& resize) {
  const TargetSize& size = resize.size;
  if (std::max(width, height) > longest_side)
    refuse("Pictures above 2^30 pixels wide or high cannot be resized.");
  if (size == TargetSize()) refuse("There is no size: give one, such as --size 1600.");
  const bool numbers = std::min(size.width, size.height) >= 0 &&
                       std::max(size.width, size.height) <= longest_side && size.longer.value >= 0 &&
                       size.longer.value <= static_cast<double>(longest_side) &&
                       (size.longer.percent || size.longer.value == std::floor(size.longer.value));
  if (!numbers) refuse("size: sides are whole pixels from 1 to 2^30, percentages above 0.");
  if (resize.fit == Fit::inside) return inside(width, height, resize);
  if (size.width == 0 || size.height == 0)
    refuse("fit cover and fit stretch need both sides: write the size as WxH, such as --size 1200x630.");
  if (resize.fit == Fit::cover) return covering(width, height, resize);
  return {{0, 0, width, height}, size.width, size.height};
}

Rectangle rectangle_of(const PixelBox& box) {
  return {{box.x, box.x + box.width}, {box.y, box.y + box.height}};
}

/// A filter that is one operation with images of ResampleImages.
template <class Job>
class PreparedResize final : public ReshapingFilter {
 public:
  PreparedResize(Backend& backend, const Job& job) : operation_(backend.prepare(job)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return operation_->workspace_bytes();
  }
  void run_rows(const ImageView& picture, std::int64_t first_read, const MutableImageView& result,
                std::int64_t first, Measured* /*measured*/, Stream stream) override {
    operation_->run({picture, first_read, result, first}, stream);
  }

 private:
  std::unique_ptr<typename Job::Operation> operation_;
};

ResampleKernel kernel_of(const Resize& resize, const ResizedBox& resized) {
  if (resized.box.width == resized.width && resized.box.height == resized.height)
    return ResampleKernel::nearest;
  if (!resize.kernel) return resize.space == Space::linear ? ResampleKernel::lanczos : ResampleKernel::area;
  switch (*resize.kernel) {
    case ResizeKernel::lanczos:
      return ResampleKernel::lanczos;
    case ResizeKernel::area:
      return ResampleKernel::area;
    case ResizeKernel::nearest:
      break;
  }
  return ResampleKernel::nearest;
}

std::shared_ptr<const Geometry> geometry_of(const Rectangle& box, std::int64_t height,
                                            ResampleKernel kernel) {
  const auto rows_read = [=](const Stretch& rows) {
    const Stretch read = pixels_read(kernel, box.y.size(), height, rows);
    return Stretch{read.first + box.y.first, read.last + box.y.first};
  };
  return std::make_shared<Geometry>(Geometry{box, rows_read});
}

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Resize& resize) {
  const Shape& shape = shapes[0];
  check_pixels(shape);
  const ResizedBox resized = resized_box(shape.width, shape.height, resize);
  const ResampleKernel kernel = kernel_of(resize, resized);
  const Rectangle box = rectangle_of(resized.box);
  FilterPlan plan{shape};
  plan.output.width = resized.width;
  plan.output.height = resized.height;
  plan.geometry = geometry_of(box, resized.height, kernel);
  if (kernel != ResampleKernel::nearest) plan.measures = {range_of(shape, {.magnitudes = false})};
  if (kernel == ResampleKernel::nearest) {
    plan.prepare = prepare_sized<PreparedResize<NearestPixelsJob>>(
        device, NearestPixelsJob{shape.width, shape.height, box, resized.width, resized.height,
                                 shape.channels, shape.type});
    return plan;
  }
  const ResampleJob job{
      shape.width,   shape.height,   box,
      resized.width, resized.height, read_pixels(shape, transfer_for(resize.space, shape.type), 1),
      kernel};
  plan.prepare = prepare_sized<PreparedResize<ResampleJob>>(device, job);
  return plan;
}

/// Implements FilterRecord::fit_reduced. A place in pixels would lie elsewhere in the reduced picture.
bool fit_reduced(void* parameters, std::int64_t width, std::int64_t height) {
  auto& resize = record::as<Resize>(parameters);
  if (!resize.gravity.x.percent || !resize.gravity.y.percent) return false;
  const ResizedBox whole = resized_box(width, height, resize);
  resize.size = TargetSize(whole.width, whole.height);
  resize.enlarge = true;
  if (resize.fit == Fit::inside) resize.fit = Fit::stretch;
  return true;
}

}  // namespace

ResizedBox resized_box(std::int64_t width, std::int64_t height, const Resize& resize) {
  const ResizedBox found = checked_box(width, height, resize);
  check_factor(found.box.width, found.width);
  check_factor(found.box.height, found.height);
  return found;
}

const FilterRecord& resize_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "resize",
       .category = "size",
       .help = "change the size: lanczos in linear light, exact areas, or nearest pixels",
       .paper = "Duchon, Lanczos filtering in one and two dimensions, 1979; Turkowski, Filters for common "
                "resampling tasks, 1990",
       .parameters =
           {record::series(record::size(
                &Resize::size,
                {"size", "px",
                 "longer side N, P% of both sides, or sides WxH, Wx, xH; a picture that is smaller "
                 "stays as it is without --enlarge"})),
            record::choice(&Resize::fit, {"inside", "cover", "stretch"},
                           {"fit", "",
                            "how to fit WxH: inside keeps all of the picture, cover cuts off what exceeds "
                            "the aspect, stretch changes the aspect"}),
            record::flag(&Resize::enlarge, {"enlarge", "", "make pictures larger, too"}),
            record::choice(&Resize::kernel, {"lanczos", "area", "nearest"},
                           {"kernel", "",
                            "lanczos: 3 lobes, sharp, rings at edges (clamped to the range, not limited "
                            "further); area: exact means, no ringing; nearest: for labels. Unless given, "
                            "lanczos, and area with space encoded"}),
            record::point(&Resize::gravity,
                          {"gravity", "px", "place that cover keeps, X%,Y% or its centre in pixels"}),
            record::space(&Resize::space, "average linear light, or values as stored")},
       .shape = OutputShape::other,
       .traits = {.keeps_constant = true},
       .frame =
           [](const void* parameters, std::int64_t width, std::int64_t height) {
             const ResizedBox to = resized_box(width, height, record::as<Resize>(parameters));
             return Framing::of(static_cast<double>(width), static_cast<double>(height), to.box, to.width,
                                to.height);
           },
       .fit_reduced = &fit_reduced});
  return filter;
}

}  // namespace satin
