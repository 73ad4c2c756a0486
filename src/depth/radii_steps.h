#pragma once
// Operations on planes of signed radii: made from a depth image or a plane in space, filled where nothing is
// known, enlarged to the size of a picture.

#include <cstdint>
#include <memory>

#include "core/with_type.h"
#include "depth/maths/circle_of_confusion.h"
#include "depth/maths/depth_span.h"
#include "depth/maths/enlarge_radii.h"
#include "depth/maths/fill_radii.h"
#include "depth/maths/planar_radius.h"
#include "pixels/pixelwise.h"
#include "tables/plane_table.h"

namespace satin {

/// The places of steps that have a run of columns each.
[[nodiscard]] inline std::int64_t span_runs(std::int64_t width) { return (width + span_run - 1) / span_run; }

/// The range of the known values of a depth image, and whether the focus lies in it.
struct DepthSpanJob {
  using Operation = PixelwiseOperation<DepthSpanJob>;
  static constexpr const char* doing = "finding the range of depth";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type type = Type::u8;  ///< of the depth image: u8, u16 or f32
  int channels = 1;
  int channel = 0;
  DepthRule rule;
  bool counted = false;  ///< the span holds the counts of the same depth: it is only told for this rule

  struct Images {
    ImageView depth;
    DepthSpan* span = nullptr;  ///< this and the next one: in the backend's memory
    LensState* state = nullptr;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_pixel_type(type, [&]<class T>() {
      const DepthRows<T> depth{Rows<const T>(images.depth), channels, channel};
      for (int pass = counted ? static_cast<int>(sizeof(T)) : 0; pass < static_cast<int>(sizeof(T)); ++pass) {
        launch(span_digits, 1, ClearDepthCounts{images.span, pass});
        launch(span_runs(width), height, CountDepthDigits<T>{rule, depth, width, images.span, pass});
        launch(span_ends, 1, ChooseDepthDigits{images.span, pass});
      }
      launch(1, 1, TellDepthSpan<T>{rule, images.span, images.state});
    });
  }
};

/// Whether most of the known radii reach the largest one, of as many as the span tells.
struct HeldRadiiJob {
  using Operation = PixelwiseOperation<HeldRadiiJob>;
  static constexpr const char* doing = "counting the largest radii";

  std::int64_t width = 0;
  std::int64_t height = 0;
  SignedRadius256 largest = 0;

  struct Images {
    ImageView radii;            ///< one channel, i32; unknown_radius where nothing is known
    DepthSpan* span = nullptr;  ///< this and the next one: in the backend's memory
    LensState* state = nullptr;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(span_runs(width), height,
           CountHeld{Rows<const SignedRadius256>(images.radii), width, largest, images.span});
    launch(1, 1, TellHeld{images.span, images.state});
  }
};

/// A depth image as a plane of signed radii.
struct CircleOfConfusionJob {
  using Operation = PixelwiseOperation<CircleOfConfusionJob>;
  static constexpr const char* doing = "making radii of depth";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type type = Type::u8;  ///< of the depth image: u8, u16 or f32
  int channels = 1;
  int channel = 0;
  DepthRule rule;

  struct Images {
    ImageView depth;
    LensState* state = nullptr;  ///< in the backend's memory
    MutableImageView radii;      ///< one channel, i32; unknown_radius where nothing is known
  };

  /// Finds the focus, then every radius by circle_of_confusion().
  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_pixel_type(type, [&]<class T>() {
      const DepthRows<T> depth{Rows<const T>(images.depth), channels, channel};
      launch(std::int64_t{1}, std::int64_t{1}, FindFocus<T>{rule, depth, width, height, images.state});
      launch(width, height, RadiiOfDepth<T>{rule, depth, images.state, Rows<SignedRadius256>(images.radii)});
    });
  }
};

/// Signed radii of a plane, without a depth image.
struct PlanarRadiiJob {
  using Operation = PixelwiseOperation<PlanarRadiiJob>;
  static constexpr const char* doing = "making radii of a plane";

  std::int64_t width = 0;
  std::int64_t height = 0;
  PlanarFocus focus;

  struct Images {
    MutableImageView radii;  ///< one channel, i32
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(width, height, RadiiOfPlane{focus, Rows<SignedRadius256>(images.radii)});
  }
};

/// Radii of a depth image of another size at the pixels of a picture.
struct EnlargeRadiiJob {
  using Operation = PixelwiseOperation<EnlargeRadiiJob>;
  static constexpr const char* doing = "enlarging radii";

  EnlargeSizes sizes;
  Type type = Type::u8;  ///< of the picture: u8, u16 or f32
  int channels = 1;
  int colours = 1;  ///< that guide: 1 or 3

  struct Images {
    ImageView picture;
    ImageView samples;                  ///< i32, of the depth image's size, no unknown_radius
    GuideColour* of_samples = nullptr;  ///< workspace in the backend's memory: one a sample
    MutableImageView radii;             ///< i32, of the picture's size
  };

  /// By enlarged_radius(); the sample at the pixel's centre where the depth image is wider than the picture.
  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const Rows<const SignedRadius256> samples(images.samples);
    const Rows<SignedRadius256> radii(images.radii);
    if (sizes.depth_width > sizes.width)
      return launch(sizes.width, sizes.height, TakeCentres{sizes, samples, radii});
    with_pixel_type(type, [&]<class T>() {
      const Rows<const T> picture(images.picture);
      launch(sizes.depth_width, sizes.depth_height,
             ColourSamples<T>{sizes, picture, channels, colours, images.of_samples});
      launch(sizes.width, sizes.height,
             EnlargeRadii<T>{sizes, picture, channels, colours, images.of_samples, samples, radii});
    });
  }
};

/// How many are unknown: for backends that know it at once. The others have no such operation.
struct CountUnknownJob {
  using Operation = PixelwiseOperation<CountUnknownJob>;

  std::int64_t width = 0;
  std::int64_t height = 0;

  struct Images {
    ImageView radii;
    std::uint32_t* unknown = nullptr;  ///< is added to
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(std::int64_t{1}, height,
           CountUnknown{Rows<const SignedRadius256>(images.radii), width, images.unknown});
  }
};

/// The planes of the tables: 1 where the radius is known, and radius + largest there; 0 elsewhere.
struct SplitRadiiJob {
  using Operation = PixelwiseOperation<SplitRadiiJob>;
  static constexpr const char* doing = "looking for unknown depth";

  std::int64_t width = 0;
  std::int64_t height = 0;
  SignedRadius256 largest = 0;  ///< magnitude of the known radii

  struct Images {
    ImageView radii;
    MutableImageView known;   ///< u8
    MutableImageView raised;  ///< u32
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(width, height,
           SplitRadii{largest, Rows<const SignedRadius256>(images.radii), Rows<std::uint8_t>(images.known),
                      Rows<std::uint32_t>(images.raised)});
  }
};

/// Counts the unknown radii in *state, and tells there if all are unknown, in which case all become 0; then
/// fills them by filled_radius().
struct FillUnknownJob {
  using Operation = PixelwiseOperation<FillUnknownJob>;
  static constexpr const char* doing = "filling unknown depth";

  std::int64_t width = 0;
  std::int64_t height = 0;

  struct Images {
    KnownRadii known;
    LensState* state = nullptr;
    MutableImageView radii;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(std::int64_t{1}, std::int64_t{1}, TellUnknown{images.known, images.state});
    launch(width, height, FillUnknown{images.known, Rows<SignedRadius256>(images.radii)});
  }
};

/// Unknown radii from the known ones around them, in place, by way of tables of what is known.
class FillRadii {
 public:
  FillRadii(Backend& backend, std::int64_t width, std::int64_t height, SignedRadius256 largest)
      : largest_(largest),
        count_(backend.prepare(CountUnknownJob{width, height})),
        split_(backend.prepare(SplitRadiiJob{width, height, largest})),
        fill_(backend.prepare(FillUnknownJob{width, height})),
        counts_(backend, width, height, Type::u8, 1, Accumulator::u32),
        sums_(backend, width, height, Type::u32, 2 * static_cast<std::uint64_t>(largest), Accumulator::u64) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return counts_.workspace_bytes() + sums_.workspace_bytes();
  }

  /// `radii`: one channel, i32.
  void run(const MutableImageView& radii, LensState* state, Stream stream) {
    if (count_ != nullptr) {
      std::uint32_t unknown = 0;
      count_->run({radii, &unknown}, stream);
      if (unknown == 0) return;
    }
    split_->run({radii, counts_.plane(), sums_.plane()}, stream);
    counts_.run(stream);
    sums_.run(stream);
    fill_->run({{largest_, counts_.table<std::uint32_t>(), sums_.table<std::uint64_t>()}, state, radii},
               stream);
  }

 private:
  SignedRadius256 largest_;
  std::unique_ptr<CountUnknownJob::Operation> count_;  ///< null: the tables are always made
  std::unique_ptr<SplitRadiiJob::Operation> split_;
  std::unique_ptr<FillUnknownJob::Operation> fill_;
  PlaneTable counts_;
  PlaneTable sums_;
};

}  // namespace satin
