#pragma once
// Pictures that are never whole in memory: where their rows come from, and filters that take them row by row.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/pipeline.h"
#include "satin/view.h"

namespace [[gnu::visibility("default")]] satin {

/// The rows of a picture, from the top to the bottom.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource();

  /// The shape of the whole picture: one frame.
  [[nodiscard]] virtual const Shape& shape() const noexcept = 0;
  /// Begins again at the top.
  virtual void rewind() = 0;
  /// Reads the rows that follow, as many as `rows` has, to interleaved host memory. There must be so many.
  virtual void read(const MutableImageView& rows) = 0;
};

/// A pipeline that takes the rows of a picture and gives those of its result: the bytes that a PipelinePlan
/// gives for the whole picture. Each step holds a band of rows as high as its window, twice the reach of its
/// results and 256 rows or twice that reach more, so that memory grows with the width of the picture and not
/// with its height.
///
/// What a step must know of the whole picture (the range of floats, the level of otsu, the deviations of
/// wolf) is measured before the first row is given: the picture is read once more for each.
class RowPipeline final : public RowSource {
 public:
  /// `picture`, and `sides`: those of inputs_of() behind the picture, null for one that is not used. They
  /// must outlive the pipeline; each has one reader. Throws Error(usage) for what the filters refuse and,
  /// with the name of the filter and the reason, for one that looks at the whole picture, at the other end of
  /// it (border wrap), or makes JSON; Error(environment) if there is no memory for a few rows.
  RowPipeline(const Device& device, const Pipeline& pipeline, RowSource& picture,
              std::span<RowSource* const> sides = {});
  ~RowPipeline() override;

  /// The shape of the result.
  [[nodiscard]] const Shape& shape() const noexcept override;
  void rewind() override;  ///< nothing is measured again
  /// Throws Error(input) for values that a filter does not take, as far as they are measured before anything
  /// is read, and what the sources throw.
  void read(const MutableImageView& rows) override;

  /// Bytes that the steps hold.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// How often the picture is read: once, and once more for every measurement of a step.
  [[nodiscard]] int passes() const noexcept;
  /// As PipelinePlan::watch(), from the thread that reads; the share is that of all passes.
  void watch(Progress progress);
  /// As PipelinePlan::check(), once all rows have been read.
  [[nodiscard]] std::vector<std::string> check();

 private:
  struct State;

  void measure();

  std::unique_ptr<State> state_;
};

}  // namespace satin
