#pragma once
// Views of DLPack tensors without copies, and tensors that own a Satin picture. Needs <dlpack/dlpack.h>;
// nothing else in Satin includes this header.
//
// DLPack: Open In Memory Tensor Structure, https://dmlc.github.io/dlpack/latest

#include <dlpack/dlpack.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "satin/error.h"
#include "satin/image.h"

namespace satin {

/// Order of a tensor's dimensions. A tensor of 2 dimensions is (height, width) in both layouts.
enum class TensorLayout {
  channels_last,  ///< (height, width, channels), (frames, height, width, channels)
  channels_first  ///< (channels, height, width), (frames, channels, height, width)
};

/// Meaning of a tensor's dimensions and channels, which DLPack does not describe.
struct TensorMeaning {
  TensorLayout layout = TensorLayout::channels_last;  ///< order of the dimensions
  Alpha alpha = Alpha::none;                          ///< meaning of the last of 2 or 4 channels
  Order order = Order::rgb;                           ///< order of the colours
};

/// Returns the DLPack element type for a type of Satin.
[[nodiscard]] inline DLDataType tensor_type(Type type) noexcept {
  const bool real = type == Type::f32 || type == Type::f64;
  const auto code = real ? kDLFloat : type == Type::i32 ? kDLInt : kDLUInt;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

/// Returns the type of a tensor's elements. Throws Error(usage) for element types that Satin does not
/// support.
[[nodiscard]] inline Type type_of_tensor(const DLDataType& elements) {
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::i32, Type::f32, Type::f64}) {
    const DLDataType known = tensor_type(type);
    if (elements.code == known.code && elements.bits == known.bits && elements.lanes == 1) return type;
  }
  throw Error(ErrorKind::usage, "A tensor with elements of code " + std::to_string(elements.code) + " and " +
                                    std::to_string(elements.bits) +
                                    " bits is no picture: convert it to u8, u16 or f32.");
}

/// Views the pixels of a tensor of 2, 3 or 4 dimensions with any strides. The view holds no reference, so the
/// tensor must outlive it. CUDA memory must belong to the device that the view is used with, and the caller
/// must wait for work on other streams. Throws Error(usage) for other dimensions, elements or devices, and
/// for more than 4 channels.
[[nodiscard]] inline MutableImageView mutable_view_of(const DLTensor& tensor,
                                                      const TensorMeaning& meaning = {}) {
  if (tensor.ndim < 2 || tensor.ndim > 4)
    throw Error(ErrorKind::usage, "A tensor of " + std::to_string(tensor.ndim) +
                                      " dimensions is no picture: 2, 3 and 4 are possible.");
  MutableImageView view;
  view.shape.type = type_of_tensor(tensor.dtype);
  const auto size = static_cast<std::int64_t>(size_of(view.shape.type));
  std::array<std::int64_t, 4> strides{};
  std::int64_t dense = 1;
  for (int i = tensor.ndim; i-- > 0; dense *= tensor.shape[i])
    strides[static_cast<std::size_t>(i)] = size * (tensor.strides == nullptr ? dense : tensor.strides[i]);
  const bool first = meaning.layout == TensorLayout::channels_first;
  const int frames = tensor.ndim == 4 ? 0 : -1;
  const int channels = tensor.ndim == 2 ? -1 : first ? frames + 1 : tensor.ndim - 1;
  const int rows = first && channels >= 0 ? channels + 1 : frames + 1;
  const auto stride_of = [&](int dimension) {
    return static_cast<std::ptrdiff_t>(strides[static_cast<std::size_t>(dimension)]);
  };
  view.shape.height = tensor.shape[rows];
  view.shape.width = tensor.shape[rows + 1];
  view.strides.row = stride_of(rows);
  view.strides.pixel = stride_of(rows + 1);
  view.strides.channel = size;
  if (channels >= 0) {
    if (tensor.shape[channels] < 1 || tensor.shape[channels] > 4)
      throw Error(ErrorKind::usage, "A tensor of " + std::to_string(tensor.shape[channels]) +
                                        " channels is no picture: 1 to 4 are possible. Is it " +
                                        (first ? "channels last?" : "channels first?"));
    view.shape.channels = static_cast<int>(tensor.shape[channels]);
    if (view.shape.channels > 1) view.strides.channel = stride_of(channels);
  }
  view.shape.frames = frames < 0 ? 1 : tensor.shape[frames];
  view.strides.frame = frames < 0 ? view.shape.height * view.strides.row : stride_of(frames);
  if (view.shape.channels >= 3) view.shape.order = meaning.order;
  if (view.shape.channels % 2 == 0) view.shape.alpha = meaning.alpha;
  switch (tensor.device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      view.memory = Memory::host;
      break;
    case kDLCUDA:
    case kDLCUDAManaged:
      view.memory = Memory::device;
      break;
    default:
      throw Error(ErrorKind::usage, "The tensor is neither in host memory nor in that of a CUDA device.");
  }
  validate(view.shape);
  view.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  return view;
}

/// Views a tensor read-only; see mutable_view_of().
[[nodiscard]] inline ImageView view_of(const DLTensor& tensor, const TensorMeaning& meaning = {}) {
  return mutable_view_of(tensor, meaning);
}

/// Moves a picture into a tensor of (height, width, channels), or (frames, height, width, channels) for a
/// batch. The tensor's deleter frees the picture. `ordinal` is the N of cuda:N for a picture in device
/// memory.
[[nodiscard]] inline DLManagedTensor* tensor_of(Image image, int ordinal = 0) {
  struct Owner {
    Image image;
    std::array<std::int64_t, 4> shape{};
    DLManagedTensor managed{};
  };
  auto owner = std::make_unique<Owner>();
  const Shape& shape = image.shape();
  const bool batch = shape.frames != 1;
  owner->shape = {shape.frames, shape.height, shape.width, shape.channels};
  DLTensor& tensor = owner->managed.dl_tensor;
  tensor.data = image.data();
  tensor.device = {image.memory() == Memory::host ? kDLCPU : kDLCUDA,
                   image.memory() == Memory::host ? 0 : ordinal};
  tensor.ndim = batch ? 4 : 3;
  tensor.dtype = tensor_type(shape.type);
  tensor.shape = owner->shape.data() + (batch ? 0 : 1);
  owner->image = std::move(image);
  owner->managed.manager_ctx = owner.get();
  owner->managed.deleter = [](DLManagedTensor* self) {
    const std::unique_ptr<Owner> freed(static_cast<Owner*>(self->manager_ctx));
  };
  return &owner.release()->managed;
}

}  // namespace satin
