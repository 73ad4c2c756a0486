#pragma once
// Resampling: a box of a picture becomes a picture of another size, by rows and then by columns.

#include <cstdint>

#include "core/operation.h"
#include "core/with_type.h"
#include "pixels/maths/rows.h"
#include "pixels/pixels.h"
#include "pixels/pixelwise.h"
#include "resample/maths/resample.h"
#include "resample/weights.h"

namespace satin {

struct ResampleOperation;

/// Lanczos or area. Nearest pixels are a NearestPixelsJob.
struct ResampleJob {
  using Operation = ResampleOperation;

  std::int64_t width = 0;  ///< of the picture
  std::int64_t height = 0;
  Rectangle box;                  ///< pixels of the picture that are resampled
  std::int64_t result_width = 0;  ///< 1 / 4096 to 64 times that of the box
  std::int64_t result_height = 0;
  PixelRead read;  ///< type, channels, transfer and weights by alpha
  ResampleKernel kernel = ResampleKernel::lanczos;
};

/// Rows of one frame. `picture` begins with row `first_read` of the picture and holds the rows that the
/// results depend on; `output` begins with row `first` of the result.
struct ResampleImages {
  ImageView picture;
  std::int64_t first_read = 0;
  MutableImageView output;
  std::int64_t first = 0;
};

struct ResampleOperation : Operation {
  virtual void run(const ResampleImages& images, Stream stream) = 0;
};

/// Values that are summed, and between rows and columns.
enum class ResampleSums : std::uint8_t {
  rounded,    ///< double, between them float: lanczos of integers
  precise,    ///< double: floats, and area of integers where it is exact
  integers64  ///< unsigned integers of 64 bits: other areas
};

/// The weights of both axes, and what they need.
struct ResamplePlan {
  AxisWeights x;
  AxisWeights y;
  ResampleSums sums = ResampleSums::rounded;
  ResampleRule rule;  ///< without transfer tables
};

/// Returns the sums for area of values up to `largest` with weights that add up to `weights` along both axes.
/// Doubles are exact while twice the sum and the divisor stay below 2^53. Throws Error(usage) where 64 bits
/// do not suffice.
[[nodiscard]] ResampleSums choose_area_sums(std::uint64_t largest, std::uint64_t weights);

[[nodiscard]] ResamplePlan resample_plan(const ResampleJob& job);

/// Calls function.operator()<T, Sum, Between>() with the stored type, the type of sums, and that of values
/// between rows and columns.
template <class Function>
decltype(auto) with_resample_types(Type type, ResampleSums sums, const Function& function) {
  return with_pixel_type(type, [&]<class T>() -> decltype(auto) {
    if constexpr (!std::is_same_v<T, float>) {
      if (sums == ResampleSums::rounded) return function.template operator()<T, double, float>();
      if (sums == ResampleSums::integers64)
        return function.template operator()<T, std::uint64_t, std::uint64_t>();
    }
    return function.template operator()<T, double, double>();
  });
}

/// Copies the pixel of the box under the centre of each pixel of the result.
template <class Pixel>
struct NearestPixels {
  NearestAxis x;
  NearestAxis y;
  Rows<const Pixel> picture;
  Rows<Pixel> output;

  struct Row {
    NearestAxis x;
    const Pixel* from;
    Pixel* to;
    SATIN_HD void operator()(int column) const { to[column] = from[x.pixel(column)]; }
  };
  [[nodiscard]] SATIN_HD Row row(int line) const { return {x, picture.row(y.pixel(line)), output.row(line)}; }
};

struct NearestPixelsJob {
  using Operation = PixelwiseOperation<NearestPixelsJob>;
  static constexpr const char* doing = "choosing the nearest pixels";

  std::int64_t width = 0;  ///< of the picture
  std::int64_t height = 0;
  Rectangle box;
  std::int64_t result_width = 0;
  std::int64_t result_height = 0;
  int channels = 1;
  Type type = Type::u8;

  using Images = ResampleImages;

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const NearestAxis x{box.x.size(), result_width, 0, box.x.first};
    const NearestAxis y{box.y.size(), result_height, images.first, box.y.first - images.first_read};
    with_pixel_type(type, [&]<class T>() {
      const auto run = [&]<int Channels>() {
        using Pixel = PixelOf<T, Channels>;
        launch(images.output.shape.width, images.output.shape.height,
               NearestPixels<Pixel>{x, y, Rows<const Pixel>(images.picture), Rows<Pixel>(images.output)});
      };
      with_channels(channels, run);
    });
  }
};

}  // namespace satin
