#include "python/layout.h"

#include <algorithm>
#include <utility>

#include "satin/error.h"

namespace satin::python {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

std::string axes_by_dimensions(const Picture& picture) {
  static const char* const known[] = {"HW", "HWC", "NHWC"};
  const std::size_t dimensions = picture.array.sizes.size();
  if (dimensions < 2 || dimensions > 4)
    refuse(picture.name + " has the shape " + describe_sizes(picture.array) +
           ": (height, width), (height, width, channels) or (frames, height, width, channels) is expected.");
  return known[dimensions - 2];
}

void require_axes(const Picture& picture) {
  const std::string& axes = picture.axes;
  const auto times = [&](char axis) { return std::count(axes.begin(), axes.end(), axis); };
  const bool valid = times('H') == 1 && times('W') == 1 && times('N') <= 1 && times('C') <= 1 &&
                     axes.find_first_not_of("NHWC") == std::string::npos;
  if (!valid)
    refuse("layout '" + axes + "': H and W, with N and C where there are frames and channels, each once.");
  if (axes.size() != picture.array.sizes.size())
    refuse(picture.name + " has the shape " + describe_sizes(picture.array) + ", which the layout '" + axes +
           "' does not fit.");
}

struct Axis {
  std::int64_t size;
  std::ptrdiff_t stride;
};

/// The axis, or one of size 1. The stride of a size of 1 is never used: it is `packed`, which plans know.
Axis axis(const Picture& picture, char letter, std::ptrdiff_t packed) {
  const std::size_t at = picture.axes.find(letter);
  if (at == std::string::npos || picture.array.sizes[at] == 1) return {1, packed};
  return {picture.array.sizes[at], picture.array.strides[at]};
}

MutableImageView view_of_axes(const Picture& picture, Alpha alpha, Order order) {
  MutableImageView view{picture.array.data, {}, {}, picture.array.memory};
  const Axis channels = axis(picture, 'C', static_cast<std::ptrdiff_t>(size_of(picture.array.type)));
  if (channels.size > 4)
    refuse(
        picture.name + " has the shape " + describe_sizes(picture.array) + ", read as " + picture.axes +
        ": " + std::to_string(channels.size) +
        " channels, but 1 to 4 are possible. Say layout='CHW' where channels come first, 'NHW' for frames.");
  view.shape.channels = static_cast<int>(channels.size);
  view.shape.type = picture.array.type;
  view.strides = interleaved_strides(view.shape);
  const Axis columns = axis(picture, 'W', view.strides.pixel);
  view.shape.width = columns.size;
  const Axis rows = axis(picture, 'H', view.strides.pixel * columns.size);
  view.shape.height = rows.size;
  const Axis frames = axis(picture, 'N', view.strides.pixel * columns.size * rows.size);
  view.shape.frames = frames.size;
  view.strides = {columns.stride, rows.stride, channels.stride, frames.stride};
  view.shape.alpha = alpha;
  view.shape.order = order;
  return view;
}

}  // namespace

Picture::Picture(nanobind::handle object, std::string name_in_messages,
                 const std::optional<std::string>& told, Alpha alpha, Order order, bool booleans,
                 std::uintptr_t stream)
    : name(std::move(name_in_messages)), array(foreign_array(object, name, stream)) {
  if (array.boolean && !booleans)
    refuse(name + " holds booleans: pass " + name + ".astype('uint8') * 255, white where they are true.");
  axes = told ? *told : axes_by_dimensions(*this);
  require_axes(*this);
  if (std::find(array.sizes.begin(), array.sizes.end(), 0) != array.sizes.end())
    refuse(name + " has the shape " + describe_sizes(array) + ": there is no pixel in it.");
  view = view_of_axes(*this, alpha, order);
}

const MutableImageView& host_view(const Picture& picture) {
  if (picture.array.memory != Memory::host)
    refuse(picture.name + " lies in device memory: copy it to the CPU first.");
  return picture.view;
}

std::string result_axes(const std::string& axes, int channels, const Shape& shape) {
  std::string result = axes;
  if (shape.channels == 1 && channels > 1) std::erase(result, 'C');
  return result;
}

std::vector<std::int64_t> sizes_of(const Shape& shape, const std::string& axes) {
  std::vector<std::int64_t> sizes;
  for (const char letter : axes)
    sizes.push_back(letter == 'N'   ? shape.frames
                    : letter == 'H' ? shape.height
                    : letter == 'W' ? shape.width
                                    : shape.channels);
  return sizes;
}

}  // namespace satin::python
