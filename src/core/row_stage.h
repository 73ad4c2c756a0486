#pragma once
// One filter on a picture that is never whole in memory, band after band of its rows.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/maths/rectangle.h"
#include "core/prepared_filter.h"
#include "core/watch.h"
#include "satin/rows.h"

namespace satin {

/// Takes the rows of the filter's inputs and gives those of its result. Windows have the picture's width and
/// one height; each lies in the picture as WindowedFilter lays it, so that the bytes are those of the whole.
/// Windows only go down, so every row of an input is read once a pass.
class RowStage final : public RowSource {
 public:
  /// `filter` has a reach that does not wrap, or adds up. `inputs` are those of the filter, null for one that
  /// is not used, and outlive the stage. `held`: bytes that others hold of the memory that is limited. Throws
  /// NoMemory if it does not suffice for bands of 16 rows.
  RowStage(Backend& backend, std::shared_ptr<const FilterPlan> filter, std::vector<RowSource*> inputs,
           std::size_t held);

  [[nodiscard]] const Shape& shape() const noexcept override { return planned_->output; }
  void rewind() override;
  void read(const MutableImageView& rows) override;

  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  [[nodiscard]] int measurements() const noexcept { return filter_->measurements(); }
  /// Windows of one pass; each is a step of the watch.
  [[nodiscard]] std::int64_t windows() const noexcept;
  /// Runs all measurements, each by a pass through the inputs, and checks what they found: as check().
  void measure(std::vector<std::string>& warnings);
  /// Adds warnings and throws Error(input) as Plan::check().
  void check(std::vector<std::string>& warnings);
  /// Told of every window from now on; outlives the stage.
  void watch(Watch& watch) noexcept { watch_ = &watch; }

 private:
  /// One input: rows of the window in the host's memory and, where that is another, in the backend's.
  struct Input {
    RowSource* source = nullptr;  ///< null: not used
    Image rows;
    Image on_device;
  };

  void prepare(std::int64_t inner_height);
  [[nodiscard]] Stretch inner(std::int64_t index) const noexcept;
  /// Moves the windows of all inputs down to this part.
  void load(std::int64_t index);
  void load_rows(Input& input, std::int64_t kept);
  void run_next();
  /// The results of the window in the host's memory.
  [[nodiscard]] Image& result() noexcept { return backend_.host_memory ? output_ : host_output_; }

  Backend& backend_;
  std::shared_ptr<const FilterPlan> planned_;
  std::vector<Input> inputs_;
  std::vector<ImageView> views_;  ///< of inputs_, as the filter takes them
  std::int64_t reach_ = 0;        ///< in rows
  std::int64_t inner_height_ = 0;
  std::int64_t height_ = 0;  ///< of the windows
  std::unique_ptr<PreparedFilter> filter_;
  Buffer measured_;         ///< one Measured, or nothing
  Image output_;            ///< results of a window
  Image host_output_;       ///< the same where the backend's memory is not the host's
  std::int64_t next_ = 0;   ///< window that is run next
  Stretch loaded_;          ///< rows of the picture that the windows hold
  Stretch ready_;           ///< rows of the result that were not read yet
  Watch* watch_ = nullptr;  ///< null: nobody watches
};

}  // namespace satin
