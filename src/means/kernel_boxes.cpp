#include "means/kernel_boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "means/box_mean.h"
#include "pixels/premultiplied.h"
#include "pixels/transfer.h"
#include "satin/error.h"

namespace satin {
namespace {

/// Returns the variance of a box along one axis, in square pixels.
double box_variance(Radius256 radius) {
  const int whole_pixels = radius / radius_one;
  const double whole = whole_pixels;
  const double fraction = static_cast<double>(radius % radius_one) / radius_one;
  const double squares = whole * (whole + 1) * (2 * whole + 1) / 3 + 2 * fraction * (whole + 1) * (whole + 1);
  return squares / (2 * whole + 1 + 2 * fraction);
}

/// Smallest radius for which boxes of neighbouring whole radii approximate the gaussian well enough.
constexpr Radius256 least_whole = 4 * radius_one;

/// Returns radii of `boxes` successive boxes whose variances add up to `wanted` as nearly as the quantum
/// allows: the largest equal radii that do not exceed it, some of them enlarged by one quantum.
OfBoxes<Radius256> equal_radii(double wanted, int boxes) {
  Radius256 low = 0;
  Radius256 high = largest_radius * radius_one;
  while (low < high) {
    const Radius256 middle = (low + high + 1) / 2;
    if (boxes * box_variance(middle) <= wanted) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const double missing = wanted - boxes * box_variance(low);
  const double quantum = box_variance(low + 1) - box_variance(low);
  const int enlarged = std::clamp(static_cast<int>(std::floor(missing / quantum + 0.5)), 0, boxes);
  OfBoxes<Radius256> radii(static_cast<std::size_t>(boxes), low);
  std::fill_n(radii.begin(), enlarged, low + 1);
  return radii;
}

/// Returns radii whose variances add up to sigma squared. All but the last are neighbouring whole radii,
/// which are faster; the last box supplies the rest. The largest distance from the gaussian stays below 6.1
/// % of its peak (tested by BlurShape).
OfBoxes<Radius256> radii_for_sigma(double sigma, int boxes) {
  const double wanted = sigma * sigma;
  OfBoxes<Radius256> radii = equal_radii(wanted, boxes);
  if (boxes < 3 || radii.back() < least_whole) return radii;
  const Radius256 whole = radii.back() / radius_one * radius_one;
  const double less = box_variance(whole);
  const double more = box_variance(whole + radius_one);
  const double larger = (boxes - 1) * (wanted / boxes - less) / (more - less);
  const int enlarged = std::clamp(static_cast<int>(std::floor(larger + 0.5)), 0, boxes - 1);
  std::fill(radii.begin(), radii.end() - 1, whole);
  std::fill_n(radii.begin(), enlarged, whole + radius_one);
  radii.back() = equal_radii(wanted - enlarged * more - (boxes - 1 - enlarged) * less, 1).front();
  return radii;
}

/// Returns radii of `boxes` successive boxes that together reach as far as one of `radius`; of three or more
/// boxes only the last may be fractional.
OfBoxes<Radius256> radii_for_reach(Radius256 radius, int boxes) {
  const Radius256 unit = boxes >= 3 && radius / boxes >= least_whole ? radius_one : 1;
  const Radius256 units = radius / unit;
  OfBoxes<Radius256> radii(static_cast<std::size_t>(boxes), units / boxes * unit);
  std::for_each(radii.begin(), radii.begin() + units % boxes, [&](Radius256& r) { r += unit; });
  radii.back() += radius % unit;
  return radii;
}

/// Pairs the radii along both axes, and drops boxes of radius 0 after the first.
OfBoxes<RadiusField> fields_of(const OfBoxes<Radius256>& x, const OfBoxes<Radius256>& y) {
  OfBoxes<RadiusField> fields;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0 && y[i] == 0 && !fields.empty()) continue;
    fields.push_back({.x = x[i], .y = y[i]});
  }
  return fields;
}

/// Returns the jobs for values that are already premultiplied, where all channels are averaged alike.
OfBoxes<BoxMeanJob> plain_jobs(std::span<const BoxMeanJob> jobs) {
  OfBoxes<BoxMeanJob> plain(jobs);
  PixelRead values = working_pixels(jobs.front().read);
  values.premultiplied = false;
  values.alpha_maximum = 0;
  for (BoxMeanJob& job : plain) {
    job.read = values;
    if (!job.write.working) job.write = written_as(values);
    job.mask_maximum = 0;
  }
  return plain;
}

/// Successive boxes of bytes with straight alpha: pixels are premultiplied once, averaged, and
/// unpremultiplied at the end unless the last job writes working values.
class PremultipliedBoxes final : public BoxMeanOperation {
 public:
  PremultipliedBoxes(Backend& backend, std::span<const BoxMeanJob> jobs)
      : boxes_(prepare_boxes(backend, plain_jobs(jobs))) {
    const BoxMeanJob& first = jobs.front();
    const BoxMeanJob& last = jobs.back();
    const PremultipliedJob ends{first.width, first.height, first.read, last.mask_maximum};
    premultiply_ = backend.prepare(PremultiplyJob{ends});
    if (!last.write.working) unpremultiply_ = backend.prepare(UnpremultiplyJob{ends});
    shape_ = {first.width, first.height, first.read.channels, ends.values_type()};
    for (Buffer& buffer : values_) buffer = backend.allocate(byte_size(shape_));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = premultiply_->workspace_bytes();
    if (unpremultiply_ != nullptr) bytes += unpremultiply_->workspace_bytes();
    for (const auto& box : boxes_) bytes += box->workspace_bytes();
    for (const Buffer& buffer : values_) bytes += buffer.size;
    return bytes;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    const auto values = [&](std::size_t i) {
      return mutable_view_of(values_[i % 2].get(), shape_, images.output.memory);
    };
    premultiply_->run({images.source, values(0)}, stream);
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      BoxMeanImages box;
      box.source = box.original = values(i);
      const bool writes_result = i + 1 == boxes_.size() && unpremultiply_ == nullptr;
      box.output = writes_result ? images.output : values(i + 1);
      boxes_[i]->run(box, stream);
    }
    if (unpremultiply_ == nullptr) return;
    unpremultiply_->run({values(boxes_.size()), images.original, images.mask, images.output}, stream);
  }

 private:
  std::unique_ptr<PremultiplyJob::Operation> premultiply_;
  OfBoxes<std::unique_ptr<BoxMeanOperation>> boxes_;
  std::unique_ptr<UnpremultiplyJob::Operation>
      unpremultiply_;             ///< null if the last job writes working values
  std::array<Buffer, 2> values_;  ///< input and output of a box, in turns
  Shape shape_;
};

}  // namespace

Radius256 quantised_radius(double pixels) {
  return static_cast<Radius256>(std::floor(pixels * radius_one + 0.5));
}

double checked_radius(double pixels, const char* name) {
  if (!(pixels >= 0) || pixels > largest_radius)
    throw Error(ErrorKind::usage, std::string(name) + " " + print_real(pixels) +
                                      " pixels: must be from 0 to " + std::to_string(largest_radius) + ".");
  return pixels;
}

OfBoxes<RadiusField> fields_for_sigma(double sigma, int boxes) {
  if (!(sigma >= 0) || sigma > largest_sigma)
    throw Error(ErrorKind::usage, "sigma " + print_real(sigma) + ": must be from 0 to " +
                                      print_real(largest_sigma) + " pixels.");
  const OfBoxes<Radius256> radii = radii_for_sigma(sigma, boxes);
  return fields_of(radii, radii);
}

OfBoxes<RadiusField> fields_for_radius(const Radius& radius, const Shape& shape, int boxes) {
  const auto longer = static_cast<double>(std::max(shape.width, shape.height));
  const auto radii = [&](const Length& along) {
    return radii_for_reach(quantised_radius(checked_radius(along.pixels(longer), "radius")), boxes);
  };
  return fields_of(radii(radius.x), radii(radius.y));
}

SuccessiveBoxes successive_boxes(const Shape& shape, Space space, Border border,
                                 const OfBoxes<RadiusField>& radii) {
  const auto largest = [&](const RadiusField& radius) {
    return largest_box(shape.width, shape.height, radius, border);
  };
  std::uint64_t area = 1;
  for (const RadiusField& radius : radii) area = std::max(area, largest(radius));
  SuccessiveBoxes boxes{read_pixels(shape, transfer_for(space, shape.type), area)};
  if (radii.size() > 1) boxes.stored = successive_pixels(boxes.stored);
  const PixelRead working = working_pixels(boxes.stored);
  for (const RadiusField& radius : radii) {
    BoxMeanJob job;
    job.width = shape.width;
    job.height = shape.height;
    job.radius = radius;
    job.border = border;
    job.read = boxes.jobs.empty() ? boxes.stored : working;
    job.write = written_as(working);
    check_alpha_divisor(job.read, largest(radius));
    job.accumulator = choose_accumulator(job.read, largest(radius), job.read.maximum);
    boxes.jobs.push_back(job);
  }
  return boxes;
}

OfBoxes<std::unique_ptr<BoxMeanOperation>> prepare_boxes(Backend& backend, std::span<const BoxMeanJob> jobs) {
  OfBoxes<std::unique_ptr<BoxMeanOperation>> boxes;
  if (jobs.size() > 1) {
    if (auto chain = backend.prepare(BoxChainJob{jobs})) {
      boxes.push_back(std::move(chain));
      return boxes;
    }
  }
  if (jobs.front().read.premultiplied) {
    boxes.push_back(std::make_unique<PremultipliedBoxes>(backend, jobs));
    return boxes;
  }
  for (const BoxMeanJob& job : jobs) boxes.push_back(backend.prepare(job));
  return boxes;
}

Reach reach_of(std::span<const BoxMeanJob> jobs) {
  const auto whole = [](Radius256 radius) { return (std::int64_t{radius} + radius_one - 1) / radius_one; };
  Reach reach;
  reach.wraps = jobs.front().border == Border::wrap;
  for (const BoxMeanJob& job : jobs) {
    const Radius256 largest = std::max(job.radius.low, job.radius.high);
    reach.x += whole(job.radius.from_map ? largest : job.radius.x);
    reach.y += whole(job.radius.from_map ? largest : job.radius.y);
  }
  return reach;
}

OfBoxes<BoxMeanJob> resized(const OfBoxes<BoxMeanJob>& jobs, std::int64_t width, std::int64_t height) {
  OfBoxes<BoxMeanJob> sized = jobs;
  for (BoxMeanJob& job : sized) {
    job.width = width;
    job.height = height;
  }
  return sized;
}

}  // namespace satin
