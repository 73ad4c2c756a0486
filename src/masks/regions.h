#pragma once
// Operations on connected components: labelling the components of a mask, summing a picture's values under
// every label, and replacing labels.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "masks/maths/region.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

struct LabelOperation;

struct LabelJob {
  using Operation = LabelOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int connectivity = 8;  ///< 4: pixels that share a side are neighbours; 8: or a corner
  bool zeros = false;    ///< whether the pixels that are 0 are labelled instead of the others
};

/// The mask is one channel of u8; every value but 0 is inside. Labels are one channel of u32: 0 outside, and
/// from 1 on, without gaps, in the raster order of the first pixel of each component. Every device finds the
/// same labels.
struct LabelOperation : Operation {
  /// Fills `labels` and returns the number of components. Waits for the device.
  virtual std::uint32_t run(const ImageView& mask, const MutableImageView& labels, Stream stream) = 0;
  /// Returns position and size of every component of the last run, in the order of the labels, in the
  /// backend's memory; valid until the next run.
  [[nodiscard]] virtual const RegionShape* describe(Stream stream) = 0;
};

/// Throws Error(usage) for masks without pixels, and for those of 2^32 pixels or more, where every row counts
/// as the next multiple of 32.
void check_label_size(std::int64_t width, std::int64_t height);

struct RegionValuesOperation;

struct RegionValuesJob {
  using Operation = RegionValuesOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;  ///< u8, u16 or f32
  int fixed_bits = 0;    ///< for floats: fixed_bits_for() the number of pixels
};

struct RegionValuesOperation : Operation {
  /// Fills sums[(label - 1) * channels + channel] for labels 1 to `count`, in the backend's memory. `labels`
  /// is u32; pixels of label 0 count nowhere. Floats are read with the exponent of *measured, and must be
  /// finite.
  virtual void run(const ImageView& labels, const ImageView& picture, const Measured* measured,
                   std::uint32_t count, RegionSums* sums, Stream stream) = 0;
};

template <class T>
struct LookUpLabels {
  Rows<const std::uint32_t> labels;
  const std::uint32_t* table;
  Rows<T> output;

  SATIN_HD void operator()(int x, int y) const { output.row(y)[x] = static_cast<T>(table[labels.row(y)[x]]); }
};

/// Replaces labels: output = table[label], cut to the output's type.
struct RelabelJob {
  using Operation = PixelwiseOperation<RelabelJob>;
  static constexpr const char* doing = "relabelling";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type output = Type::u32;  ///< u8, u16 or u32

  struct Images {
    ImageView labels;                      ///< u32
    const std::uint32_t* table = nullptr;  ///< in the backend's memory: an entry for each label that occurs
    MutableImageView output;               ///< may be `labels` itself, if it is u32
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const auto look_up = [&]<class T>(T) {
      launch(width, height,
             LookUpLabels<T>{Rows<const std::uint32_t>(images.labels), images.table, Rows<T>(images.output)});
    };
    if (output == Type::u8) return look_up(std::uint8_t{});
    if (output == Type::u16) return look_up(std::uint16_t{});
    look_up(std::uint32_t{});
  }
};

}  // namespace satin
