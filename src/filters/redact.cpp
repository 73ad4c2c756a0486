// The filter redact: covers boxes or a mask with one colour, a mosaic or a blur.
//
// Boxes or the mask become a plane of weights (masks/coverage.h), which `feather` widens and softens. Solid
// colours and mosaics are painted by the weights (masks/paint.h; a mosaic reads its cells' means from a
// summed-area table). A blur is the filter blur with the weights as its mask. A run that covers nothing is an
// error unless it is allowed.

#include "satin/filters/redact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/backend.h"
#include "core/maths/window.h"
#include "core/plan_operations.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "masks/paint.h"
#include "pixels/maths/plane.h"
#include "pixels/transfer.h"
#include "satin/error.h"
#include "satin/filters/blur.h"
#include "satin/filters/morphology.h"
#include "tables/table.h"

namespace satin {
namespace {

constexpr int largest_cell = 65536;
constexpr double largest_feather = 4096;

enum Input { picture, mask };

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

/// Returns the intersection of the box and the picture, with width 0 if they do not meet.
PixelBox clipped(const PixelBox& box, const Shape& shape) {
  if (box.width < 1 || box.height < 1)
    refuse("box " + print_boxes(std::span(&box, 1)) + ": width and height must be 1 or more.");
  const std::int64_t left = std::max<std::int64_t>(0, box.x);
  const std::int64_t top = std::max<std::int64_t>(0, box.y);
  // Compares what remains of both sizes: right and bottom edges of a box might overflow.
  const std::int64_t width = std::min(shape.width - left, box.width - (left - box.x));
  const std::int64_t height = std::min(shape.height - top, box.height - (top - box.y));
  if (box.x >= shape.width || box.y >= shape.height || width < 1 || height < 1) return {};
  return {left, top, width, height};
}

void check(const Shape& shape, const Shape& mask_shape, const Redact& redact) {
  check_pixels(shape);
  static_cast<void>(checked_mask_maximum(mask_shape, shape));
  if (redact.boxes.empty() && mask_shape.width == 0)
    refuse("There is nothing to cover: give boxes (--box X,Y,W,H) or a mask.");
  if (!redact.boxes.empty() && mask_shape.width != 0)
    refuse("Boxes and a mask both say what to cover: give one of them.");
  check_range("cell", redact.cell, 1, largest_cell);
  check_range("feather", redact.feather, 0, largest_feather);
}

CoverageJob coverage_job(const Shape& shape, const Shape& mask_shape, const Redact& redact) {
  CoverageJob job{shape.width, shape.height, mask_shape.type, {}};
  for (const PixelBox& box : redact.boxes)
    if (const PixelBox inside = clipped(box, shape); inside.width != 0) job.boxes.push_back(inside);
  return job;
}

/// Returns the colour as an 8-bit code for each channel of the picture.
std::array<std::uint8_t, 4> codes_of(const Shape& shape, const Colour& colour) {
  if (shape.channels < 3) return {luminance709(colour.red, colour.green, colour.blue), 255, 0, 0};
  if (shape.order == Order::bgr) return {colour.blue, colour.green, colour.red, 255};
  return {colour.red, colour.green, colour.blue, 255};
}

/// Sets the working values of an opaque pixel of the colour. Floats hold linear light.
void set_colour(PaintJob& job, const Shape& shape, const Colour& colour) {
  const PixelRead& read = job.read;
  const std::array<std::uint8_t, 4> codes = codes_of(shape, colour);
  const bool has_alpha = shape.alpha != Alpha::none;
  const TransferView transfer = host_transfer(shape.type, read.transfer == Transfer::srgb);
  const std::uint32_t factor = shape.type == Type::u16 ? 257 : 1;
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.channels); ++c) {
    const std::uint32_t code = codes[c] * factor;
    if (shape.type == Type::f32) {
      job.colour[c].estimate =
          static_cast<double>(static_cast<float>(srgb_tables8().decode8[code] / 65535.0));
      continue;
    }
    const bool alpha = has_alpha && c + 1 == static_cast<std::size_t>(shape.channels);
    std::uint64_t value = alpha && read.weighted ? code : decode(code, transfer);
    if (read.weighted && !alpha) value *= 255 * factor;
    job.colour[c] = {value, static_cast<double>(value)};
  }
}

PaintJob paint_job(const Shape& shape, const Redact& redact) {
  const Transfer transfer = transfer_for(redact.space, shape.type);
  const bool cells = redact.method == Redaction::mosaic;
  const auto extent = [&](std::int64_t size) {
    return static_cast<std::uint64_t>(cells ? std::min<std::int64_t>(redact.cell, size) : 1);
  };
  const std::uint64_t area = extent(shape.width) * extent(shape.height);
  PaintJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.read = read_pixels(shape, transfer, area);
  job.write = {shape.type, transfer, 0};
  if (cells) {
    job.cell = redact.cell;
    check_alpha_divisor(job.read, area);
    job.accumulator = choose_accumulator(job.read, area, job.read.maximum);
  } else {
    set_colour(job, shape, redact.colour);
  }
  return job;
}

/// Softens the covered area outward: a dilation by half the feather, then a box mean of the same radius. Both
/// radii are whole pixels, so that the weight stays full on all of the area.
class Feather {
 public:
  Feather(const Device& device, const Shape& weights, double radius)
      : grow_(plan(device, weights, Dilate{.radius = radius})),
        fall_(plan(device, weights, Blur{.radius = radius, .space = Space::encoded})) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return grow_.workspace_bytes() + fall_.workspace_bytes();
  }
  /// Both views are overwritten; the result is in `weights`.
  void run(const MutableImageView& weights, const MutableImageView& other, Stream stream) {
    grow_.run(weights, other, stream);
    fall_.run(other, weights, stream);
  }

 private:
  Plan grow_;
  Plan fall_;
};

/// Refuses a run that covers nothing. Masks are searched on the device, and check() reads the result.
class NothingCovered {
 public:
  NothingCovered(Backend& backend, const Shape& shape, const Shape& mask, const Redact& redact) {
    if (redact.allow_nothing) return;
    const auto outside = std::ranges::find_if(
        redact.boxes, [&](const PixelBox& box) { return clipped(box, shape).width == 0; });
    if (outside != redact.boxes.end())
      box_outside_ = "box " + print_boxes(std::span(&*outside, 1)) + " lies outside the picture of " +
                     std::to_string(shape.width) + " x " + std::to_string(shape.height) + " pixels";
    if (mask.width == 0) return;
    const std::int64_t tile = ((mask.width + mask.height) / 2048 + 1) * 64;  // some hundred tiles
    tiles_.resize(
        static_cast<std::size_t>((mask.width + tile - 1) / tile * ((mask.height + tile - 1) / tile)));
    for (std::int64_t frame = 0; frame < mask.frames; ++frame)
      frames_.push_back(backend.prepare(ActiveTilesJob{mask.width, mask.height, mask.type, tile}));
  }

  /// Searches the mask of the next frame. The results of the last run remain, one for each frame.
  void search(const ImageView& mask, Stream stream) {
    if (!frames_.empty()) frames_[next_++ % frames_.size()]->find(mask, stream);
  }

  void check(Stream stream) {
    if (!box_outside_.empty()) refuse_nothing(box_outside_);
    for (std::size_t i = 0; i < std::min(next_, frames_.size()); ++i) {
      frames_[i]->fetch(tiles_.data(), stream);
      if (std::ranges::find(tiles_, 1) == tiles_.end()) refuse_nothing("The mask is 0 everywhere");
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return frames_.empty() ? 0 : frames_.size() * frames_.front()->workspace_bytes();
  }

 private:
  [[noreturn]] static void refuse_nothing(std::string cause) {
    cause += ", so that nothing is covered. Correct it, or accept it with --allow-nothing.";
    refuse(cause);
  }

  std::string box_outside_;
  std::vector<std::unique_ptr<ActiveTilesOperation>> frames_;
  std::vector<std::uint8_t> tiles_;  ///< active tiles of one frame
  std::size_t next_ = 0;
};

class PreparedRedact final : public PreparedFilter {
 public:
  PreparedRedact(const Device& device, const Shape& shape, const Shape& mask_shape, const Redact& redact)
      : coverage_(device.backend().prepare(coverage_job(shape, mask_shape, redact))),
        nothing_covered_(device.backend(), shape, mask_shape, redact),
        weights_(device.backend().allocate({shape.width, shape.height})) {
    Backend& backend = device.backend();
    if (redact.feather > 0) {
      spare_ = backend.allocate(weights_.shape());
      feather_.emplace(device, weights_.shape(), std::ceil(redact.feather / 2));
    }
    const PaintJob job = paint_job(shape, redact);
    if (redact.method != Redaction::blur) {
      paint_ = backend.prepare(job);
      if (job.cell != 0) prepare_table(backend, job);
      return;
    }
    const Blur blur{
        .radius = redact.radius, .kernel = Kernel::gaussian, .space = redact.space, .mask = weights_.view()};
    blur_.emplace(plan(device, resized(shape, shape.width, shape.height), blur));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = coverage_->workspace_bytes() + nothing_covered_.workspace_bytes() +
                        (feather_ ? feather_->workspace_bytes() : 0) +
                        (blur_ ? blur_->workspace_bytes() : 0) +
                        (table_ != nullptr ? table_->workspace_bytes() : 0);
    for (const Image* image : {&weights_, &spare_, &sums_})
      bytes += image->empty() ? 0 : byte_size(image->shape());
    return bytes;
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    const MutableImageView weights = weights_.view();
    nothing_covered_.search(inputs[mask], stream);
    coverage_->run({inputs[mask], weights}, stream);
    if (feather_) feather_->run(weights, spare_.view(), stream);
    if (blur_) {
      const std::array<ImageView, 3> blur_inputs = {inputs[picture], ImageView{}, weights};
      blur_->run(blur_inputs, output, stream);
    } else {
      if (table_ != nullptr) table_->run(inputs[picture], measured, sums_.view(), stream);
      paint_->run({inputs[picture], weights, output, measured, sums_.view()}, stream);
    }
  }

  void check(std::vector<std::string>& /*warnings*/, Stream stream) override {
    nothing_covered_.check(stream);
  }

 private:
  /// Prepares the table that gives the means of cells.
  void prepare_table(Backend& backend, const PaintJob& job) {
    table_ = backend.prepare(TableJob{job.width, job.height, job.read, false, job.accumulator});
    sums_ = backend.allocate({job.width, job.height, job.read.channels,
                              job.accumulator == Accumulator::u32 ? Type::u32 : Type::u64});
  }

  std::unique_ptr<CoverageJob::Operation> coverage_;
  NothingCovered nothing_covered_;
  Image weights_, spare_;
  std::optional<Feather> feather_;
  std::unique_ptr<PaintJob::Operation> paint_;
  std::unique_ptr<TableOperation> table_;
  Image sums_;  ///< the table
  std::optional<Plan> blur_;
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Redact& redact) {
  check(shapes[picture], shapes[mask], redact);
  const auto prepare = [device, shape = shapes[picture], mask_shape = shapes[mask], redact](std::int64_t,
                                                                                            std::int64_t) {
    return std::make_unique<PreparedRedact>(device, shape, mask_shape, redact);
  };
  const bool weighted = shapes[picture].alpha == Alpha::straight;
  return {shapes[picture], {range_of(shapes[picture], {.weighted = weighted})}, {}, prepare};
}

double reach_of(const Redact& redact, const Shape& shape) {
  const double around = redact.method == Redaction::mosaic ? redact.cell
                        : redact.method == Redaction::blur ? larger_radius(redact.radius, shape) + 3
                                                           : 0;
  return std::max(around, redact.feather + 2);
}

}  // namespace

const FilterRecord& redact_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "redact",
       .category = "masks",
       .help = "cover boxes or a mask; mosaics and blurs can be reversed in part, so use solid for secrets",
       .parameters =
           {record::choice(
                &Redact::method, {"solid", "mosaic", "blur"},
                {"method", "", "cover with one colour, cells or a blur; previews in the file are dropped"}),
            record::boxes(&Redact::boxes, {"box", "px", "box to cover; may be given several times"}),
            record::colour(&Redact::colour, {"colour", "", "colour of the method solid"}),
            record::integer(&Redact::cell, 1, largest_cell,
                            {"cell", "px", "side of a cell of the method mosaic"}),
            record::radius(&Redact::radius, 0, largest_radius,
                           {"radius", "px", "radius of the method blur: R, RXxRY, or P% of the longer side"}),
            record::real(&Redact::feather, 0, largest_feather,
                         {"feather", "px",
                          "width of the transition around boxes and mask, which stay covered themselves"}),
            record::space(&Redact::space, "mix in linear light, or mix the stored values"),
            record::seldom(record::flag(
                &Redact::allow_nothing,
                {"allow-nothing", "",
                 "accept a mask that is 0 everywhere, or a box outside the picture; otherwise an error", "",
                 ParameterRole::may_vanish}))},
       .inputs = {record::side(
           &Redact::mask,
           {"mask", Role::mask, "in place of boxes: cover every pixel that is not 0, or not transparent"})},
       .traits = {.covers = true},
       .reach = record::reach<Redact>(reach_of)});
  return filter;
}

}  // namespace satin
