#pragma once
// The plane of signed radii that a depth image and a lens give to a picture: what depth of field starts from.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.h"
#include "depth/lens_focus.h"
#include "depth/radii_steps.h"
#include "depth/smooth_steps.h"
#include "depth/soft_depth.h"
#include "order/rank.h"
#include "satin/plan.h"

namespace satin {

/// In this order: the depth is replaced by its median if that is wanted, steps of 8-bit depth are smoothed
/// where they would be seen (16/256 pixel of radius or more), values become radii, unknown ones are filled,
/// soft depth is snapped to the picture unless a lens is given, and what has another size than the picture is
/// enlarged.
class LensRadii {
 public:
  /// `depth` of width 0: the depth is in the picture's alpha. Throws Error(usage) for parameters and shapes
  /// that do not fit, and allocates.
  LensRadii(Backend& backend, const Shape& picture, const Shape& depth, const LensFocus& focus);

  [[nodiscard]] std::size_t workspace_bytes() const noexcept;

  /// Fills `radii` (one channel, i32, 1/256 px, of the picture's size, no unknown_radius among them). `spare`
  /// is the same and becomes anything. Single frames in the backend's memory; waits for nothing.
  void run(const ImageView& picture, const ImageView& depth, const MutableImageView& radii,
           const MutableImageView& spare, Stream stream);

  /// The runs that follow take focus and strength from here, where all else is as before. `same_depth`: they
  /// have the depth of the last run, whose median, range and smoothed steps are used again.
  void vary(const LensFocus& focus, bool same_depth);

  /// For PreparedFilter::check(): waits, warns of what may surprise in the runs since the last call, and
  /// throws Error(input) where no focus or no depth was found, and for a focus outside the depth.
  void check(std::vector<std::string>& warnings, Stream stream);

  /// For PreparedFilter::forget().
  void forget(Stream stream);

  /// The findings of the last run before check(): the strength in pixels for a value of 1, the value that is
  /// sharp, the largest radius in pixels, and the share of the silhouettes of the depth that are ramps.
  [[nodiscard]] const std::vector<FoundValue>& found() const noexcept { return found_; }

  /// A flag in the backend's memory: 1 once run() found the depth soft.
  [[nodiscard]] const std::uint32_t* soft() const noexcept {
    return &reinterpret_cast<const DepthSpan*>(span_.get())->soft;
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
  std::unique_ptr<DepthSpanJob::Operation> depth_span_;
  std::unique_ptr<HeldRadiiJob::Operation> held_radii_;  ///< null: none are
  std::unique_ptr<RankOperation> despeckle_;             ///< this and the next three: null where not needed
  std::unique_ptr<SmoothStepsOperation> smooth_steps_;   ///< used if smooths_
  std::unique_ptr<FillRadii> fill_radii_;
  std::unique_ptr<SoftDepthJob::Operation> soft_depth_;
  std::unique_ptr<SnapDepthJob::Operation> snap_depth_;  ///< null with a lens
  std::unique_ptr<EnlargeRadiiJob::Operation> enlarge_radii_;
  std::unique_ptr<CircleOfConfusionJob::Operation> circle_of_confusion_;
  bool analysed_ = false;      ///< the last run found the median and the range of its depth
  bool has_smoothed_ = false;  ///< `smoothed_` is that depth without steps
  bool keeps_depth_ = false;   ///< the runs that follow have the same depth
  bool smooths_ = false;
  Image despeckled_;
  Buffer smoothed_buffer_;
  Buffer samples_buffer_;
  Buffer spare_buffer_;
  Buffer colours_;             ///< of samples that are enlarged
  MutableImageView smoothed_;  ///< codes without steps
  MutableImageView samples_;   ///< radii of the depth image's size
  MutableImageView spare_;     ///< shaped like samples_
  Buffer span_;
  Buffer state_;
};

}  // namespace satin
