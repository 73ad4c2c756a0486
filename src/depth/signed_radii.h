#pragma once
// Computes the plane of signed radii from the depth of a picture and the parameters of a lens. lens/ makes
// the picture from it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.h"
#include "depth/circle_of_confusion.h"
#include "depth/depth_statistics.h"
#include "depth/enlarge_radii.h"
#include "depth/smooth_steps.h"
#include "depth/soft_depth.h"
#include "order/rank.h"
#include "satin/image.h"
#include "satin/lens_focus.h"
#include "satin/plan.h"

namespace satin {

// Defaults of LensFocus where neither a strength nor a lens is given, and where a lens is.
inline constexpr Length usual_strength{1, true};
inline constexpr double usual_f_number = 2.8;

/// Records of the members of LensFocus; record::within() makes them a filter's own.
[[nodiscard]] std::vector<ParameterRecord> lens_focus_parameters();

/// Throws Error(usage) for values and combinations that are not valid, Error(input) for a focus outside the
/// picture.
[[nodiscard]] DepthRule depth_rule(const LensFocus& focus, const Shape& picture, const Shape& depth);

/// Returns the channel of the depth image that holds the depth. Throws Error(usage) if it has several and
/// none is chosen.
[[nodiscard]] int depth_channel(const LensFocus& focus, const Shape& depth);

class FillRadii;

/// The plane of signed radii of a picture. Its steps, in this order:
///   1. the depth is replaced by its median, if that is wanted;
///   2. steps of 8-bit depth are smoothed if they would be seen (16/256 pixel of radius or more);
///   3. values become radii, and unknown radii are filled;
///   4. soft depth is snapped to the picture;
///   5. radii of a depth image of another size are enlarged.
class SignedRadii {
 public:
  /// `depth` of width 0: the depth is in the picture's alpha. Throws Error(usage) for parameters and shapes
  /// that do not fit, and allocates.
  SignedRadii(Backend& backend, const Shape& picture, const Shape& depth, const LensFocus& focus);
  ~SignedRadii();

  [[nodiscard]] std::size_t workspace_bytes() const noexcept;

  /// Fills `radii`: one channel, i32, 1/256 pixel, of the picture's size, no unknown_radius among them.
  /// `spare`, of the same shape, is overwritten. Views are single frames in the backend's memory. Does not
  /// wait.
  void run(const ImageView& picture, const ImageView& depth, const MutableImageView& radii,
           const MutableImageView& spare, Stream stream);

  /// Changes focus and strength for the runs that follow; all other parameters stay. `same_depth`: they have
  /// the depth of the last run, whose median, range and smoothed steps are used again.
  void vary(const LensFocus& focus, bool same_depth);

  /// Implements PreparedFilter::check(): waits, warns of surprises in the runs since the last call, and
  /// throws Error(input) if no focus or no depth was found, or if the focus is outside the depth.
  void check(std::vector<std::string>& warnings, Stream stream);

  /// Implements PreparedFilter::forget().
  void forget(Stream stream);

  /// Findings of the last run before check(): the strength in pixels for a value of 1, the value that is
  /// sharp, the sharp range around it, the largest radius in pixels, the share of the depth's silhouettes
  /// that are ramps, and 1 if the depth is soft.
  [[nodiscard]] const std::vector<FoundValue>& found() const noexcept { return found_; }

  /// A flag in the backend's memory: 1 once run() found the depth soft.
  [[nodiscard]] const std::uint32_t* soft() const noexcept {
    return &reinterpret_cast<const DepthStatistics*>(statistics_.get())->soft;
  }

 private:
  void prepare_despeckling();
  void prepare_rule();
  void prepare_smoothing(CircleOfConfusionJob& job);
  [[nodiscard]] ImageView analyse(const ImageView& depth, Stream stream);
  [[nodiscard]] MutableImageView plane_of_samples(Buffer& buffer) const;

  Backend& backend_;
  Shape picture_;
  Shape source_;  ///< shape of the image that holds the depth
  LensFocus focus_;
  DepthRule rule_;
  std::vector<FoundValue> found_;
  bool depth_in_alpha_;
  std::unique_ptr<DepthStatisticsJob::Operation> depth_statistics_;
  std::unique_ptr<ClampedRadiiJob::Operation> clamped_radii_;  ///< null: the largest radius is 0
  std::unique_ptr<RankOperation> despeckle_;            ///< this and the next three: null if not needed
  std::unique_ptr<SmoothStepsOperation> smooth_steps_;  ///< used if smooths_
  std::unique_ptr<FillRadii> fill_radii_;
  std::unique_ptr<SoftDepthJob::Operation> soft_depth_;
  std::unique_ptr<SnapDepthJob::Operation> snap_depth_;  ///< null with SoftDepth::off
  std::unique_ptr<EnlargeRadiiJob::Operation> enlarge_radii_;
  std::unique_ptr<CircleOfConfusionJob::Operation> circle_of_confusion_;
  bool analysed_ = false;      ///< whether median and range of the last run's depth are known
  bool has_smoothed_ = false;  ///< whether `smoothed_` is that depth without steps
  bool keeps_depth_ = false;   ///< whether the runs that follow have the same depth
  bool smooths_ = false;
  Image despeckled_;  ///< median of the depth
  Image smoothed_;    ///< codes without steps
  Buffer samples_buffer_;
  Buffer spare_buffer_;
  Buffer colours_;            ///< colours of the samples to enlarge
  Buffer scores_;             ///< for snap_depth_
  MutableImageView samples_;  ///< radii of the depth image's size
  MutableImageView spare_;    ///< shaped like samples_
  Buffer statistics_;
  Buffer state_;
};

}  // namespace satin
