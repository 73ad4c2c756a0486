#pragma once
// The pipeline of a batch on the streams of its devices, and how many pictures a device has at a time.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "satin/batch.h"

namespace satin::batch {

/// Plans for pictures of a few numbers of channels. Throws the first Error(usage) if none of them goes.
void check_with_usual_channels(const std::function<void(int channels)>& plan);

/// The pipeline on one stream of a device, with the plans for the shapes that were met last.
class FilterChain {
 public:
  /// `work` must outlive the chain. On a CUDA device the side images that pictures share are copied there.
  FilterChain(const Device& device, const Batch& work);

  /// Throws Error(usage) for parameters that fit no picture: a few usual shapes are tried.
  void check_parameters() const;

  /// Plans the pipeline for a picture of this shape and returns the shape of the result. Throws Error(usage)
  /// for side inputs of another size; `input` is the picture's name for that message, `own_images` are its
  /// own side images, for each step in the order of the record, or nothing: one that is not empty stands in
  /// for the image that all pictures share, and must live until run() is done. `own_steps`, unless empty,
  /// stand in for the steps that all pictures share. Of a series one plan is varied, and what it knows of the
  /// picture `source` of its last run is used again.
  const Shape& plan(const std::filesystem::path& input, const Shape& picture,
                    std::span<const std::vector<Image>> own_images = {}, const Pipeline& own_steps = {},
                    const std::shared_ptr<const void>& source = {});

  [[nodiscard]] const Device& device() const noexcept { return device_; }

  /// The memory that the pipeline takes beside a picture of this shape.
  struct Needs {
    std::uint64_t workspace = 0;
    std::uint64_t result = 0;
  };
  /// Side images that pictures have of their own are taken for grey ones of 8 bits. Throws Error(environment)
  /// if there is no memory for it.
  [[nodiscard]] Needs foresee(const Shape& picture) const;
  /// The memory that the plan made last takes.
  [[nodiscard]] Needs needs() const;

  /// Runs what was planned last, from and to host memory, watched by `progress`; returns warnings.
  std::vector<std::string> run(const ImageView& picture, const MutableImageView& output,
                               const Progress& progress = {});

  /// What that run took from the picture.
  [[nodiscard]] std::vector<FoundValue> found() const { return planned_->found(); }

  /// The same as run() of a pipeline that makes JSON, of the picture in the file `input`: sets `text`, a
  /// line.
  std::vector<std::string> json(const std::filesystem::path& input, const ImageView& picture,
                                std::string& text, const Progress& progress = {});

  /// Gives back the memory of all plans.
  void forget_plans();
  /// Bytes of the device that its plans hold.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// True if a step of what was planned last has no memory for the whole picture.
  [[nodiscard]] bool in_windows() const noexcept;

 private:
  struct ShapedPlan {
    std::vector<Shape> shapes;
    std::string own_steps;  ///< as text; empty: those that all pictures share
    PipelinePlan plan;
    std::weak_ptr<const void> source{};  ///< of the last run
  };

  /// True if it can make a picture of a series with these steps, and will.
  static bool vary(ShapedPlan& planned, const Pipeline& steps, const std::shared_ptr<const void>& source);

  [[nodiscard]] Needs needs_of(const PipelinePlan& plan) const;
  void share(const Image& image);
  [[nodiscard]] std::vector<Shape> shapes_with(const Shape& picture) const;
  [[nodiscard]] Shape usual_shape(int channels) const;
  void check_step(std::size_t step, const std::filesystem::path& input, const Shape& picture) const;

  Device device_;
  const Batch& work_;
  OwnedStream stream_;  // before what is freed in it
  std::vector<Image> device_images_;
  std::vector<ImageView> shared_;  ///< inputs that pictures share: none for the picture, then those of steps
  std::vector<ImageView> inputs_;  ///< of the next run
  std::vector<ShapedPlan> plans_;  ///< the last used one first
  PipelinePlan* planned_ = nullptr;     ///< the plan made last: the first of them
  std::shared_ptr<const void> source_;  ///< of the next run
};

/// The chains of all devices. Each device begins with one. When a run has told what it holds, the device gets
/// the others that keep it busy (Device::runs_at_once()), if all together hold no more than
/// limit_memory() says. Where memory does not suffice after all, the chain that noticed gives way, and the
/// device goes on with the rest.
class FilterChains {
 public:
  /// `work` must outlive the chains.
  FilterChains(std::span<const Device> devices, const Batch& work);

  /// The chains that there are: one a device to begin with.
  [[nodiscard]] std::vector<FilterChain*> first() const;

  /// The state after a run.
  struct Next {
    std::vector<FilterChain*> free;  ///< chains that may take a picture now
    bool again = false;              ///< the run failed for want of memory that others had: do it once more
  };

  /// To be called after every run of a chain, which may be gone afterwards; from any thread. `lost`: it ended
  /// with Error(environment).
  [[nodiscard]] Next after_run(FilterChain& chain, bool lost);

 private:
  struct Member {
    std::unique_ptr<FilterChain> chain;
    bool had_company = false;  ///< since it was made, or since it last began anew alone
  };
  struct OfDevice {
    Device device;
    std::size_t most;  ///< chains
    std::vector<Member> members;

    /// True if so many chains like this one are above the memory limit.
    [[nodiscard]] bool over_limit(const FilterChain& chain, std::size_t count) const;
  };

  [[nodiscard]] OfDevice& device_of(const FilterChain& chain);
  void complete(OfDevice& device, const FilterChain& example, std::vector<FilterChain*>& free) const;

  const Batch& work_;
  std::mutex mutex_;
  std::vector<OfDevice> devices_;
};

}  // namespace satin::batch
