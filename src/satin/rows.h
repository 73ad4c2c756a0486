#pragma once
// Row-by-row processing of pictures that do not fit in memory: sources of rows, and pipelines that filter
// them.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/pipeline.h"
#include "satin/view.h"

namespace [[gnu::visibility("default")]] satin {

/// A source of the rows of a picture, from top to bottom.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource();

  /// The shape of the whole picture, one frame.
  [[nodiscard]] virtual const Shape& shape() const noexcept = 0;
  /// Starts again at the top.
  virtual void rewind() = 0;
  /// Reads the next rows into `rows`, an interleaved view in host memory. `rows` must not be higher than the
  /// rest of the picture.
  virtual void read(const MutableImageView& rows) = 0;
  /// Returns the largest magnitude of all values of a picture of floats without alpha, if all are finite and
  /// it is found in less time than a pass over the rows takes; otherwise nothing.
  [[nodiscard]] virtual std::optional<double> largest() { return std::nullopt; }
};

/// A pipeline that reads the rows of a picture and provides the rows of its result, with the bytes that a
/// PipelinePlan gives for the whole picture. Each step holds as many rows as twice its reach, and 256 or
/// twice its reach more, so memory grows with the width of the picture but not with its height.
///
/// Measurements of the whole picture that a step needs (the range of floats, the level of otsu, the
/// deviations of wolf) precede the first row. The picture is read once more for each of them.
class RowPipeline final : public RowSource {
 public:
  /// `sides` are the inputs of inputs_of() after the picture, null for unused ones. All sources must outlive
  /// the pipeline, and each may have only one reader. Throws Error(usage) if a filter refuses its parameters,
  /// and with the filter's name and the reason if a filter needs the whole picture or its opposite side
  /// (border wrap), or makes JSON. Throws Error(environment) if there is no memory for a few rows.
  RowPipeline(const Device& device, const Pipeline& pipeline, RowSource& picture,
              std::span<RowSource* const> sides = {});
  ~RowPipeline() override;

  /// The shape of the result.
  [[nodiscard]] const Shape& shape() const noexcept override;
  void rewind() override;  ///< starts again without repeating the measurements
  /// Throws Error(input) for values that a filter refuses, if measurements find them, and whatever the
  /// sources throw.
  void read(const MutableImageView& rows) override;

  /// Returns the bytes that the steps hold.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// Returns how often the picture is read: once, and once more for every measurement.
  [[nodiscard]] int passes() const noexcept;
  /// As PipelinePlan::watch(), called from the thread that reads, with the share of all passes.
  void watch(Progress progress);
  /// As PipelinePlan::check(). Call it after all rows have been read.
  [[nodiscard]] std::vector<std::string> check();

 private:
  struct State;

  void measure();

  std::unique_ptr<State> state_;
};

}  // namespace satin
