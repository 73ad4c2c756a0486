// The parameters of a lens for one photograph (satin/photo_depth.h).

#include <algorithm>

#include "depth/lens_focus.h"
#include "satin/error.h"
#include "satin/photo_depth.h"

namespace satin {
namespace {

bool has_lens(const LensFocus& lens) { return lens.f_number || lens.focal_length || lens.sensor_width; }

Point percent(const Point& point, const Shape& picture) {
  const auto part = [](const Length& length, std::int64_t size) {
    return length.percent ? length : Length{100 * length.value / static_cast<double>(size), true};
  };
  return {part(point.x, picture.width), part(point.y, picture.height)};
}

/// What was chosen, before it is completed.
std::string source_of_focus(const LensFocus& lens, const Photo& photo) {
  if (lens.focus) return "--focus";
  if (lens.focus_at) return "--focus-at";
  return photo.focus ? photo.focus->source : "the middle";
}

/// The state of a run whose depth is this photograph's.
LensState state_of(const LensFocus& lens, const PhotoDepth& depth, const Shape& picture) {
  const Shape& shape = depth.values.shape();
  const DepthRule rule = depth_rule(lens, picture, shape);
  const auto* values = reinterpret_cast<const float*>(depth.values.data());
  LensState state;
  find_focus(state, rule, shape.width, shape.height,
             [&](std::int64_t x, std::int64_t y) { return values[y * shape.width + x]; });
  return state;
}

}  // namespace

void set_by_photo(LensFocus& lens, const Photo& photo) {
  if (!photo.depth) return;
  lens.depth_kind = photo.depth->kind;
  if (has_lens(lens) && !lens.focal_length) lens.focal_length = photo.focal_length;
  if (lens.focus || lens.focus_at || !photo.focus) return;
  if (photo.focus->distance) {
    const bool distances = photo.depth->kind == DepthKind::depth;
    const double focus = distances ? *photo.focus->distance : 1 / *photo.focus->distance;
    // The depth picture may be coarser than what the camera focused by.
    lens.focus = std::clamp(focus, double{photo.depth->lowest}, double{photo.depth->highest});
  } else {
    lens.focus_at = photo.focus->place;
  }
}

PhotoBlur photo_blur(LensFocus lens, const Photo& photo, const Shape& picture) {
  if (!photo.depth) throw Error(ErrorKind::input, "the photograph has no depth. Give --depth FILE.");
  PhotoBlur blur;
  blur.source = source_of_focus(lens, photo);
  const bool by_hand = lens.focus || lens.focus_at;
  const bool open_length = has_lens(lens) && !lens.focal_length;
  set_by_photo(lens, photo);
  if (open_length && !lens.focal_length)
    blur.warnings.emplace_back(
        "EXIF tells no FocalLengthIn35mmFilm: the lens is taken for one of 50 mm. --focal-length tells "
        "another.");
  if (has_lens(lens) && !photo.depth->metric)
    blur.warnings.emplace_back(
        "the file tells no unit of its depth: the lens takes it for metres. --depth-scale changes that.");
  lens.sharp_range = 0;
  const LensState state = state_of(lens, *photo.depth, picture);
  if (state.problems != 0) return blur;  // the run itself says what is wrong
  blur.disparity = state.near_edge;
  blur.largest = lens.max_radius;
  if (!by_hand && photo.focus) blur.place = photo.focus->place;
  if (!lens.focus) blur.place = percent(lens.focus_at.value_or(Point{{50, true}, {50, true}}), picture);
  return blur;
}

}  // namespace satin
