#pragma once
// Views of OpenCV matrices without copies. Needs OpenCV's headers; nothing else in Satin includes this
// header, and the library does not link OpenCV because of it.
//
//   cv::Mat soft(photo.size(), photo.type());
//   satin::Plan blur = satin::plan(device, satin::view_of(photo).shape, satin::Blur{.radius = 8});
//   blur.run(satin::view_of(photo), satin::mutable_view_of(soft));

#include <opencv2/core/mat.hpp>
#include <string>
#include <utility>

#if __has_include(<opencv2/core/cuda.hpp>)
#include <opencv2/core/cuda.hpp>
#endif

#include "satin/device.h"
#include "satin/error.h"
#include "satin/image.h"

namespace satin {

/// Meaning of a matrix's channels, which OpenCV does not store. OpenCV's own functions use blue, green, red.
struct MatMeaning {
  Order order = Order::bgr;   ///< order of 3 or 4 channels
  Alpha alpha = Alpha::none;  ///< meaning of the last of 2 or 4 channels
};

/// OpenCV depths and the types of Satin that correspond to them.
inline constexpr std::pair<int, Type> mat_depths[] = {
    {CV_8U, Type::u8}, {CV_16U, Type::u16}, {CV_32S, Type::i32}, {CV_32F, Type::f32}, {CV_64F, Type::f64}};

/// Returns the type for CV_8U, CV_16U, CV_32S, CV_32F or CV_64F. Throws Error(usage) for other depths.
[[nodiscard]] inline Type type_of_depth(int depth) {
  for (const auto& [known, type] : mat_depths)
    if (known == depth) return type;
  throw Error(ErrorKind::usage,
              "A matrix of the depth " + std::to_string(depth) +
                  " has no type in Satin: convert it to CV_8U, CV_16U or CV_32F, as convertTo() does.");
}

/// Returns the OpenCV depth of a type. Throws Error(usage) for u32 and u64, which OpenCV does not have.
[[nodiscard]] inline int depth_of_type(Type type) {
  for (const auto& [depth, known] : mat_depths)
    if (known == type) return depth;
  throw Error(ErrorKind::usage, std::string("OpenCV has no matrices of ") + name_of(type) + ".");
}

/// Returns the shape of a cv::Mat or cv::cuda::GpuMat with 1 to 4 channels.
template <class Matrix>
[[nodiscard]] Shape shape_of_mat(const Matrix& matrix, const MatMeaning& meaning = {}) {
  Shape shape;
  shape.width = matrix.cols;
  shape.height = matrix.rows;
  shape.channels = matrix.channels();
  shape.type = type_of_depth(matrix.depth());
  if (shape.channels >= 3) shape.order = meaning.order;
  if (shape.channels % 2 == 0) shape.alpha = meaning.alpha;
  return shape;
}

/// Views the pixels of a matrix of two dimensions, which may be a region of another matrix. An empty matrix
/// gives an empty view. The view holds no reference, so the matrix must outlive it. Throws Error(usage) for
/// more dimensions, other depths or more channels.
[[nodiscard]] inline MutableImageView mutable_view_of(cv::Mat& matrix, const MatMeaning& meaning = {}) {
  if (matrix.empty()) return {};
  if (matrix.dims != 2)
    throw Error(ErrorKind::usage,
                "A matrix of " + std::to_string(matrix.dims) + " dimensions is no picture.");
  MutableImageView view = mutable_view_of(matrix.data, shape_of_mat(matrix, meaning));
  view.strides.row = static_cast<std::ptrdiff_t>(matrix.step[0]);
  return view;
}

/// The matrix as a view to be read.
[[nodiscard]] inline ImageView view_of(const cv::Mat& matrix, const MatMeaning& meaning = {}) {
  cv::Mat same = matrix;
  return mutable_view_of(same, meaning);
}

/// Makes a matrix header for an interleaved host view of one frame, such as an Image's. The matrix does not
/// own the pixels. Throws Error(usage) for other views, negative row strides, u32 and u64.
[[nodiscard]] inline cv::Mat mat_of(const MutableImageView& view) {
  if (view.empty()) return {};
  if (view.memory != Memory::host || !view.interleaved() || view.shape.frames != 1 || view.strides.row < 0)
    throw Error(ErrorKind::usage,
                "Only interleaved pictures of one frame in host memory, row below row, are matrices.");
  return {static_cast<int>(view.shape.height), static_cast<int>(view.shape.width),
          CV_MAKETYPE(depth_of_type(view.shape.type), view.shape.channels), view.data,
          static_cast<std::size_t>(view.strides.row)};
}

#if __has_include(<opencv2/core/cuda.hpp>)

/// Views the pixels of a matrix in the memory of the CUDA device that the view is used with.
[[nodiscard]] inline MutableImageView mutable_view_of(cv::cuda::GpuMat& matrix,
                                                      const MatMeaning& meaning = {}) {
  if (matrix.empty()) return {};
  MutableImageView view = mutable_view_of(matrix.data, shape_of_mat(matrix, meaning), Memory::device);
  view.strides.row = static_cast<std::ptrdiff_t>(matrix.step);
  return view;
}

/// The matrix as a view to be read.
[[nodiscard]] inline ImageView view_of(const cv::cuda::GpuMat& matrix, const MatMeaning& meaning = {}) {
  cv::cuda::GpuMat same = matrix;
  return mutable_view_of(same, meaning);
}

/// Uses OpenCV's stream for Satin's work. OpenCV's default stream has no handle, which Satin takes for the
/// device's own stream, so construct a stream instead.
[[nodiscard]] inline Stream stream_of(const cv::cuda::Stream& stream) { return {stream.cudaPtr()}; }

#endif

}  // namespace satin
