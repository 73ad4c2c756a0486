#pragma once
// The geometry of filters whose result has another size than their picture: crop and resize.

#include <cstdint>
#include <functional>

#include "core/prepared_filter.h"
#include "core/windows.h"

namespace satin {

/// How a result lies on the picture: it shows the pixels of `box`, enlarged or reduced to the result's size.
struct Geometry {
  Rectangle box;  ///< pixels of the picture
  /// Returns the rows of the picture that these rows of the result depend on.
  std::function<Stretch(const Stretch& rows)> rows_read;
};

/// A filter that changes the size, without side inputs. It can compute any rows of its result from the rows
/// that they depend on, with the bytes of the whole result.
class ReshapingFilter : public PreparedFilter {
 public:
  /// `picture` holds rows of the picture from row `first_read` on, `result` the rows from `first` on. They
  /// may be fewer than those for which the filter was prepared.
  virtual void run_rows(const ImageView& picture, std::int64_t first_read, const MutableImageView& result,
                        std::int64_t first, Measured* measured, Stream stream) = 0;

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) final {
    run_rows(inputs.front(), 0, output, 0, measured, stream);
  }
};

}  // namespace satin
