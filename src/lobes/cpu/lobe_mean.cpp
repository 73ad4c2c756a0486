// Means over lobes on the CPU: a table of working values times row weights, then every row of results box by
// box. A box needs the differences of two rows of the table, continued around the circle. Wide lobes are
// averaged over cells; the rows of pixels between two rows of cells share the cells' values interpolated
// along the row.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lobes/cpu/lobe_mean.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "lobes/cpu/lobe_rows-inl.h"
#include "lobes/lobe_mean.h"
#include "lobes/maths/lobe_cells.h"
#include "means/maths/mean.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Values for the rows of pixels between two rows of cells.
template <class Value>
struct Gap {
  explicit Gap(std::size_t entries) : above(entries), below(entries), between(entries) {}

  WorkspaceVector<Value> above;    ///< the row of cells above, interpolated along the row
  WorkspaceVector<Value> below;    ///< the row of cells below, interpolated along the row
  WorkspaceVector<Value> between;  ///< one row of pixels
};

struct Workspace {
  Workspace(std::size_t entries, const PixelRead& read)
      : columns(2 * entries + static_cast<std::size_t>(read.channels)),
        low(entries),
        estimate(entries),
        pixels(entries),
        integers(read.fixed_point ? 0 : entries),
        floats(read.fixed_point ? entries : 0) {}

  [[nodiscard]] WideSum total(std::size_t i) const { return {low[i], estimate[i]}; }

  template <class T>
  [[nodiscard]] Gap<BetweenCells<T>>& gap() {
    if constexpr (std::is_same_v<T, float>) {
      return floats;
    } else {
      return integers;
    }
  }

  WorkspaceVector<std::uint64_t> columns;  ///< sums over a box's rows, of all columns up to each
  WorkspaceVector<std::uint64_t> low;      ///< WideSum::low of every entry
  WorkspaceVector<double> estimate;        ///< WideSum::estimate of every entry
  PixelRows pixels;
  Gap<std::uint64_t> integers;
  Gap<double> floats;
};

class LobeMean final : public LobeMeanOperation {
 public:
  LobeMean(CpuBackend& backend, const LobeMeanJob& job)
      : backend_(backend),
        job_(job),
        row_(static_cast<std::size_t>(job.width * job.read.channels)),
        levels_(backend, job) {
    WorkspaceBudget::take(bytes_of_lobes(job));  // held by the plan
    for (int i = 0; i < backend.threads.count(); ++i) workspaces_.emplace_back(row_, job.read);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return levels_.bytes() + 2 * bytes_of_lobes(job_);  // and in the plan
  }

  void run(const ImageView& source, const Measured* measured, const MutableImageView& output,
           Stream stream) override {
    const RowReader reader = row_reader(job_.read, measured);
    MeanRule rule;
    rule.weighted = job_.read.weighted;
    rule.fixed_point = job_.read.fixed_point;
    rule.transfer = host_transfer(job_.write.type, job_.write.transfer == Transfer::srgb);
    for (std::size_t i = 0; i < levels_.maps.size(); ++i) {
      const LobeMap& level = levels_.maps[i];
      if (level.build != nullptr) build_table(level, reader, source, measured, stream);
      MutableImageView result = output;
      result.data = output.at(0, static_cast<std::int64_t>(i) * job_.height);
      result.shape.height = job_.height;
      with_pixel_type(job_.write.type, [&]<class T>() {
        with_channels(job_.read.channels, [&]<int Channels>() {
          if (level.level.cell == 1) return mean_pixels<Channels, T>(level, rule, reader, source, result);
          mean_cells<Channels>(level);
          enlarge<Channels, T>(level, {rule, cell_bits(level.level.cell), reader.exponents}, source, result);
        });
      });
    }
  }

 private:
  void build_table(const LobeMap& level, const RowReader& reader, const ImageView& source,
                   const Measured* measured, Stream stream) {
    const MutableImageView weighed = mutable_view_of(levels_.weighed.get(), level.cells);
    const std::int64_t cell = level.level.cell;
    backend_.threads.for_rows(
        level.cells.height, largest_cell / cell, [&](std::int64_t first, std::int64_t last, int thread) {
          for (std::int64_t y = first; y < last; ++y)
            SumCells(reader, source, y * cell,
                     std::span(job_.row_weights)
                         .subspan(static_cast<std::size_t>(y * cell), static_cast<std::size_t>(cell)),
                     workspaces_[static_cast<std::size_t>(thread)].pixels, weighed.row<std::uint64_t>(y));
        });
    level.build->run(weighed, measured, mutable_view_of(levels_.table.get(), level.cells), stream);
  }

  template <int Channels, class T>
  void mean_pixels(const LobeMap& level, const MeanRule& rule, const RowReader& reader,
                   const ImageView& source, const MutableImageView& result) {
    backend_.threads.for_rows(job_.height, 4, [&](std::int64_t first, std::int64_t last, int thread) {
      Workspace& workspace = workspaces_[static_cast<std::size_t>(thread)];
      for (std::int64_t y = first; y < last; ++y) {
        const T* original = source.row<T>(y);
        T* out = result.row<T>(y);
        const LobeRow& row = row_of(level, y);
        if (row.boxes == 0) {
          std::copy_n(original, row_, out);
          continue;
        }
        sum_row<Channels>(workspace, level, row);
        for (std::size_t i = 0; i < row_; i += Channels, original += Channels, out += Channels) {
          WideSum totals[4];
          for (int c = 0; c < Channels; ++c) totals[c] = workspace.total(i + static_cast<std::size_t>(c));
          if constexpr (std::is_same_v<T, float>) {
            store_float_mean<Channels>(totals, row.weight, original, 0, rule, reader.exponents, out);
          } else {
            store_integer_mean<Channels>(totals, row.weight, original, 0, rule, out);
          }
        }
      }
    });
  }

  /// Finds the means of cells, which overwrite the sums that the table was built from.
  template <int Channels>
  void mean_cells(const LobeMap& level) {
    const MutableImageView means = mutable_view_of(levels_.weighed.get(), level.cells);
    const auto entries = static_cast<std::size_t>(level.cells.width * Channels);
    backend_.threads.for_rows(level.cells.height, 1, [&](std::int64_t first, std::int64_t last, int thread) {
      Workspace& workspace = workspaces_[static_cast<std::size_t>(thread)];
      for (std::int64_t y = first; y < last; ++y) {
        const LobeRow& row = row_of(level, y);
        sum_row<Channels>(workspace, level, row);
        auto* mean = means.row<std::uint64_t>(y);
        for (std::size_t i = 0; i < entries; ++i)
          mean[i] = cell_mean(workspace.total(i), row.weight, job_.read.fixed_point);
      }
    });
  }

  template <int Channels, class T>
  void enlarge(const LobeMap& level, const CellRule& rule, const ImageView& source,
               const MutableImageView& result) {
    const ImageView means = view_of(levels_.weighed.get(), level.cells);
    const std::int64_t cell = level.level.cell;
    const auto expand = [&](std::int64_t y, WorkspaceVector<BetweenCells<T>>& pixels) {
      const CellRow place = cell_row(y, level.cells.height);
      ExpandCells(
          {means.row<std::uint64_t>(place.row), static_cast<std::size_t>(level.cells.width * Channels)},
          Channels, rule.cell_bits, place.behind_pole, std::span(pixels));
    };
    backend_.threads.for_rows(
        level.cells.height + 1, 2, [&](std::int64_t first, std::int64_t last, int thread) {
          Workspace& workspace = workspaces_[static_cast<std::size_t>(thread)];
          Gap<BetweenCells<T>>& gap = workspace.gap<T>();
          expand(first - 1, gap.below);
          for (std::int64_t next = first; next < last; ++next) {
            std::swap(gap.above, gap.below);
            expand(next, gap.below);
            const std::int64_t begin = std::max<std::int64_t>(0, next * cell - cell / 2);
            const std::int64_t end = std::min(job_.height, next * cell + cell / 2);
            store_gap<Channels, T>(workspace, rule, begin, end, source, result);
          }
        });
  }

  /// Stores the rows of pixels [begin, end) between two rows of cells.
  template <int Channels, class T>
  void store_gap(Workspace& workspace, const CellRule& rule, std::int64_t begin, std::int64_t end,
                 const ImageView& source, const MutableImageView& result) const {
    Gap<BetweenCells<T>>& gap = workspace.gap<T>();
    std::uint32_t weight = cell_position(begin, rule.cell_bits).weight;
    if constexpr (!std::is_same_v<T, float>) {
      if (!rule.weighted) {
        for (std::size_t i = 0; i < row_; ++i)
          gap.between[i] = between(gap.above[i], gap.below[i], weight, rule.cell_bits);
        for (std::int64_t y = begin; y < end; ++y) {
          RoundAndStep(gap.above.data(), gap.below.data(), row_, rule.cell_bits, gap.between.data(),
                       workspace.pixels.narrow.data());
          EncodeWorking(workspace.pixels.narrow.data(), row_, rule.transfer, result.row<T>(y));
        }
        return;
      }
    }
    for (std::int64_t y = begin; y < end; ++y, weight += 2)
      store_between_rows<Channels>(gap, weight, rule, source.row<T>(y), result.row<T>(y));
  }

  template <int Channels, class T>
  void store_between_rows(Gap<BetweenCells<T>>& gap, std::uint32_t weight, const CellRule& rule,
                          const T* original, T* out) const {
    for (std::size_t i = 0; i < row_; ++i)
      gap.between[i] = between(gap.above[i], gap.below[i], weight, rule.cell_bits);
    for (std::size_t i = 0; i < row_; i += Channels)
      store_between<Channels>(gap.between.data() + i, original + i, rule, out + i);
  }

  [[nodiscard]] const LobeRow& row_of(const LobeMap& level, std::int64_t y) const {
    return job_.rows[level.level.first_row + static_cast<std::size_t>(y)];
  }

  template <int Channels>
  void sum_row(Workspace& workspace, const LobeMap& level, const LobeRow& row) const {
    const auto entries = static_cast<std::size_t>(level.cells.width * Channels);
    std::fill_n(workspace.low.begin(), entries, std::uint64_t{0});
    std::fill_n(workspace.estimate.begin(), entries, 0.0);
    for (std::uint32_t box = row.first_box; box < row.first_box + row.boxes; ++box)
      add_box<Channels>(workspace, entries, job_.boxes[box]);
  }

  template <int Channels>
  void add_box(Workspace& workspace, std::size_t entries, const LobeBox& box) const {
    const auto* table = reinterpret_cast<const std::uint64_t*>(levels_.table.get());
    const std::uint64_t* below = table + static_cast<std::size_t>(box.last_row) * entries;
    const std::uint64_t* above =
        box.first_row == 0 ? nullptr : table + static_cast<std::size_t>(box.first_row - 1) * entries;
    const auto sum_at = [&](std::size_t i) { return above == nullptr ? below[i] : below[i] - above[i]; };
    const auto add = [&](const std::uint64_t* ahead, const std::uint64_t* behind, std::uint32_t weight) {
      AddWeightedDifferences(ahead, behind, entries, weight, workspace.low.data(), workspace.estimate.data());
    };
    std::uint64_t* columns = workspace.columns.data();
    if (box.reach == LobeBox::whole_circle) {
      for (std::size_t i = 0; i < entries; ++i) columns[i] = sum_at(entries - Channels + i % Channels);
      std::fill_n(columns + entries, entries, std::uint64_t{0});
      return add(columns, columns + entries, box.inner);
    }
    const std::size_t margin = static_cast<std::size_t>(box.reach + (box.outer != 0 ? 1 : 0)) * Channels;
    fill_columns<Channels>(columns, entries, margin, sum_at);
    const std::size_t inner_low = margin - static_cast<std::size_t>(box.reach) * Channels;
    const std::size_t inner_high = margin + static_cast<std::size_t>(box.reach + 1) * Channels;
    add(columns + inner_high, columns + inner_low, box.inner);
    if (box.outer != 0) add(columns + 2 * margin + Channels, columns, box.outer);
  }

  /// columns[i] = the sum up to entry i - margin - Channels of the row, continued around the circle on both
  /// sides.
  template <int Channels, class SumAt>
  static void fill_columns(std::uint64_t* columns, std::size_t entries, std::size_t margin,
                           const SumAt& sum_at) {
    const std::size_t before = margin + Channels;
    for (std::size_t i = 0; i < before; ++i)
      columns[i] = sum_at(entries - before + i) - sum_at(entries - Channels + i % Channels);
    for (std::size_t i = 0; i < entries; ++i) columns[before + i] = sum_at(i);
    for (std::size_t i = 0; i < margin; ++i)
      columns[before + entries + i] = sum_at(i) + sum_at(entries - Channels + i % Channels);
  }

  CpuBackend& backend_;
  LobeMeanJob job_;
  std::size_t row_;  ///< entries per row of pixels
  LobeMaps levels_;
  WorkspaceVector<Workspace> workspaces_;  ///< one per thread
};

inline Prepared<LobeMeanJob> PrepareLobeMean(Backend& backend, const LobeMeanJob& job) {
  return std::make_unique<LobeMean>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareLobeMean);

Prepared<LobeMeanJob> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLobeMean)(backend, job);
}

}  // namespace satin::cpu
#endif
