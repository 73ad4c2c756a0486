#pragma once
// Filter chains: the pipeline of a batch on streams of its devices, and the number of pictures a device
// filters at a time.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/row_files.h"
#include "satin/rows.h"

namespace satin::batch {

/// Calls `plan` for a few numbers of channels until one succeeds. Throws the first Error(usage) if none does.
void check_with_usual_channels(const std::function<void(int channels)>& plan);

/// Inputs of a chain that belong to a picture of a batch, beside its pixels.
struct ChainInput {
  std::filesystem::path name;  ///< name of the picture for messages
  /// Side images of this picture, for each step in the order of the record, or empty. An image that is not
  /// empty replaces the shared one and must live until FilterChain::run() is done.
  std::span<const std::vector<Image>> own_images{};
  /// Steps for this picture; null or empty: the shared steps.
  const Pipeline* own_steps = nullptr;
  /// Identity of the picture. In a series one plan is varied, and keeps what it knows of the picture if this
  /// is the source of its last run.
  std::shared_ptr<const void> source{};
};

/// A pipeline that filters a picture by rows, with its side images.
struct ChainRows {
  std::vector<std::unique_ptr<ImageRows>> sides;
  std::optional<RowPipeline> pipeline;
};

/// The pipeline on one stream of a device, with plans for the shapes used last.
class FilterChain {
 public:
  /// `work` must outlive the chain. On a CUDA device, shared side images are copied there.
  FilterChain(const Device& device, const Batch& work);

  /// Throws Error(usage) for parameters that fit no picture. Tries a few usual shapes.
  void check_parameters() const;

  /// Plans the pipeline for a picture of this shape and returns the shape of the result. Throws Error(usage)
  /// for side inputs of another size.
  ///
  /// `base`, if given, says that the picture is its restored light. It becomes the guide of a first step that
  /// has none, so that both have the same weights. It must live until run() is done.
  const Shape& plan(const ChainInput& input, const Shape& picture, const ImageView& base = {});

  /// Returns the pipeline for pictures by rows, with the inputs of plan(). Null if it needs whole pictures,
  /// or more than a quarter of the memory of this one. `picture` and `base` must outlive the result.
  [[nodiscard]] std::unique_ptr<ChainRows> rows(const ChainInput& input, RowSource& picture,
                                                const ImageView& base);

  [[nodiscard]] const Device& device() const noexcept { return device_; }

  /// Memory in bytes that the pipeline needs beside a picture.
  struct Needs {
    std::uint64_t workspace = 0;
    std::uint64_t result = 0;
  };
  /// Returns the needs for a shape. Side images of a picture's own count as grey with 8 bits. Throws
  /// Error(environment) if there is not enough memory.
  [[nodiscard]] Needs foresee(const Shape& picture) const;
  [[nodiscard]] Needs needs() const;

  /// Runs the last plan, observed by `progress`. Returns warnings.
  std::vector<std::string> run(const ImageView& picture, const MutableImageView& output,
                               const Progress& progress = {});

  /// Returns the parameters that the last run measured in the picture.
  [[nodiscard]] std::vector<FoundValue> found() const { return planned_->found(); }

  /// Runs a pipeline that makes JSON on the picture of the file `input`, and sets `text` to one line.
  std::vector<std::string> json(const std::filesystem::path& input, const ImageView& picture,
                                std::string& text, const Progress& progress = {});

  /// Frees the memory of all plans.
  void forget_plans();
  /// Returns the bytes of device memory that the plans hold.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// Whether a step of the last plan cuts the picture into chunks because it has no memory for the whole.
  [[nodiscard]] bool in_windows() const noexcept;

 private:
  struct ShapedPlan {
    std::vector<Shape> shapes;
    std::string own_steps;  ///< text of the steps; empty for the shared steps
    PipelinePlan plan;
    std::weak_ptr<const void> source{};  ///< picture of the last run
  };

  /// Sets the side inputs of the next run.
  void take_sides(const ChainInput& input, const ImageView& base);
  [[nodiscard]] const Pipeline& steps_of(const ChainInput& input) const;

  /// Varies a plan for the next picture of a series. Returns false if the plan cannot be varied to these
  /// steps.
  static bool vary(ShapedPlan& planned, const Pipeline& steps, const std::shared_ptr<const void>& source);

  [[nodiscard]] Needs needs_of(const PipelinePlan& plan) const;
  void share(const Image& image);
  [[nodiscard]] std::vector<Shape> shapes_with(const Shape& picture) const;
  [[nodiscard]] Shape usual_shape(int channels) const;

  Device device_;
  const Batch& work_;
  OwnedStream stream_;  // before what is freed in it
  std::vector<Image> device_images_;
  std::vector<ImageView> shared_;  ///< shared inputs: an empty view for the picture, then those of the steps
  std::vector<ImageView> inputs_;  ///< inputs of the next run
  std::vector<ShapedPlan> plans_;  ///< most recently used first
  /// The folder of a camera has upright and horizontal pictures, and gain maps double them. More plans would
  /// hold device memory for little.
  static constexpr std::size_t kept_plans = 2;
  std::size_t kept_plans_ = kept_plans;
  PipelinePlan* planned_ = nullptr;     ///< plan to run next, the first of `plans_`
  std::shared_ptr<const void> source_;  ///< picture of the next run
};

/// The chains of all devices. A device begins with one chain. When a run has shown how much memory a chain
/// holds, the device gets as many more as keep it busy (Device::runs_at_once()), if all together stay below
/// memory_limit(). If memory runs out all the same, the chain that noticed is removed, and the device
/// continues with the others.
class FilterChains {
 public:
  /// `work` must outlive the chains.
  FilterChains(std::span<const Device> devices, const Batch& work);

  /// Returns the first chains, one per device.
  [[nodiscard]] std::vector<FilterChain*> first() const;

  /// Continuation after a run.
  struct Next {
    std::vector<FilterChain*> free;  ///< chains that can filter a picture now
    bool again = false;              ///< the run failed because other chains held memory: repeat it
  };

  /// Call this after every run, from any thread. The chain may be gone afterwards. `lost` says that the run
  /// ended with Error(environment).
  [[nodiscard]] Next after_run(FilterChain& chain, bool lost);

 private:
  struct Member {
    std::unique_ptr<FilterChain> chain;
    bool had_company = false;  ///< other chains existed since it was created or last reset
  };
  struct OfDevice {
    Device device;
    std::size_t most;  ///< largest number of chains
    std::vector<Member> members;

    /// Whether `count` chains like this one exceed the memory limit.
    [[nodiscard]] bool over_limit(const FilterChain& chain, std::size_t count) const;
  };

  [[nodiscard]] OfDevice& device_of(const FilterChain& chain);
  void complete(OfDevice& device, const FilterChain& example, std::vector<FilterChain*>& free) const;

  const Batch& work_;
  std::mutex mutex_;
  std::vector<OfDevice> devices_;
};

}  // namespace satin::batch
