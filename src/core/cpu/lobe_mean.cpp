// Means over lobes on the CPU: a table of weighed values, then every row of results band by band, each band
// as running columns of two rows of the table, carried on around the circle.

#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/rows.h"
#include "core/maths/mean.h"
#include "core/operations/with_type.h"
#include "core/transfer.h"

namespace satin::cpu {
namespace {

/// What one thread works on.
struct Workspace {
  std::vector<std::uint64_t> columns;  ///< sums over a band's rows of all columns up to each
  std::vector<WideSum> totals;
};

class LobeMean final : public LobeMeanOperation {
 public:
  LobeMean(CpuBackend& backend, const LobeMeanJob& job)
      : backend_(backend),
        job_(job),
        row_(static_cast<std::size_t>(job.width * job.read.channels)),
        shape_{job.width, job.height, job.read.channels, Type::u64},
        weighed_(backend.allocate(byte_size(shape_))),
        table_(backend.allocate(byte_size(shape_))),
        workspaces_(static_cast<std::size_t>(backend.threads.count())) {
    build_ =
        prepare_table(backend, {job.width, job.height, weighed_pixels(job.read), false, Accumulator::u64});
    for (Workspace& workspace : workspaces_) {
      workspace.columns.resize(2 * row_ + static_cast<std::size_t>(job.read.channels));
      workspace.totals.resize(row_);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return weighed_.size + table_.size + build_->workspace_bytes();
  }

  void run(const ImageView& source, const Measured* measured, const MutableImageView& output,
           Stream stream) override {
    const RowReader reader = row_reader(job_.read, measured);
    const MutableImageView weighed = mutable_view_of(weighed_.get(), shape_);
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) weigh_row(reader, source, weighed, y);
    });
    build_->run(weighed, measured, mutable_view_of(table_.get(), shape_), stream);

    MeanRule rule;
    rule.weighted = job_.read.weighted;
    rule.fixed_point = job_.read.fixed_point;
    rule.transfer = host_transfer(job_.write.type, job_.write.transfer == Transfer::srgb);
    const auto rows = static_cast<std::int64_t>(job_.rows.size());
    const auto store = [&]<class T>() {
      with_channels(job_.read.channels, [&]<int Channels>() {
        backend_.threads.for_rows(rows, 4, [&](std::int64_t first, std::int64_t last, int slot) {
          for (std::int64_t y = first; y < last; ++y)
            mean_row<Channels, T>(workspaces_[static_cast<std::size_t>(slot)], rule, reader.exponents, source,
                                  output, y);
        });
      });
    };
    if (job_.write.type == Type::u8) return store.template operator()<std::uint8_t>();
    if (job_.write.type == Type::u16) return store.template operator()<std::uint16_t>();
    store.template operator()<float>();
  }

 private:
  void weigh_row(const RowReader& reader, const ImageView& source, const MutableImageView& weighed,
                 std::int64_t y) const {
    auto* values = weighed.row<std::uint64_t>(y);
    read_row(reader, source.at(0, y), static_cast<std::size_t>(job_.width), values);
    const std::uint64_t weight = job_.row_weights[static_cast<std::size_t>(y)];
    for (std::size_t i = 0; i < row_; ++i) values[i] *= weight;
  }

  template <int Channels, class T>
  void mean_row(Workspace& workspace, const MeanRule& rule, FixedExponents exponents, const ImageView& source,
                const MutableImageView& output, std::int64_t y) const {
    const LobeRow& row = job_.rows[static_cast<std::size_t>(y)];
    const T* original = source.row<T>(y % job_.height);
    T* out = output.row<T>(y);
    if (row.bands == 0) {
      std::copy_n(original, row_, out);
      return;
    }
    std::fill(workspace.totals.begin(), workspace.totals.end(), WideSum{});
    for (std::uint32_t band = row.first_band; band < row.first_band + row.bands; ++band)
      add_band_row<Channels>(workspace, job_.bands[band]);
    const WideSum* totals = workspace.totals.data();
    for (std::int64_t x = 0; x < job_.width; ++x, totals += Channels, original += Channels, out += Channels) {
      if constexpr (std::is_same_v<T, float>) {
        store_float_mean<Channels>(totals, row.weight, original, 0, rule, exponents, out);
      } else {
        store_integer_mean<Channels>(totals, row.weight, original, 0, rule, out);
      }
    }
  }

  /// add_band() for all columns.
  template <int Channels>
  void add_band_row(Workspace& workspace, const LobeBand& band) const {
    const auto* table = reinterpret_cast<const std::uint64_t*>(table_.get());
    const std::uint64_t* below = table + static_cast<std::size_t>(band.last_row) * row_;
    const std::uint64_t* above =
        band.first_row == 0 ? nullptr : table + static_cast<std::size_t>(band.first_row - 1) * row_;
    const auto sum_at = [&](std::size_t i) { return above == nullptr ? below[i] : below[i] - above[i]; };
    WideSum* totals = workspace.totals.data();
    if (band.reach == LobeBand::whole_circle) {
      for (std::size_t i = 0; i < row_; ++i)
        add_weighted(totals[i], band.inner, sum_at(row_ - Channels + i % Channels), true);
      return;
    }
    const std::size_t margin = static_cast<std::size_t>(band.reach + (band.outer != 0 ? 1 : 0)) * Channels;
    fill_columns<Channels>(workspace.columns.data(), margin, sum_at);
    const std::uint64_t* columns = workspace.columns.data();
    const std::size_t inner_low = margin - static_cast<std::size_t>(band.reach) * Channels;
    const std::size_t inner_high = margin + static_cast<std::size_t>(band.reach + 1) * Channels;
    for (std::size_t i = 0; i < row_; ++i) {
      add_weighted(totals[i], band.inner, columns[i + inner_high] - columns[i + inner_low], true);
      if (band.outer != 0)
        add_weighted(totals[i], band.outer, columns[i + 2 * margin + Channels] - columns[i], true);
    }
  }

  /// columns[i] = the sum up to entry i - margin - Channels of the row, on both sides around the circle.
  template <int Channels, class SumAt>
  void fill_columns(std::uint64_t* columns, std::size_t margin, const SumAt& sum_at) const {
    const std::size_t before = margin + Channels;
    for (std::size_t i = 0; i < before; ++i)
      columns[i] = sum_at(row_ - before + i) - sum_at(row_ - Channels + i % Channels);
    for (std::size_t i = 0; i < row_; ++i) columns[before + i] = sum_at(i);
    for (std::size_t i = 0; i < margin; ++i)
      columns[before + row_ + i] = sum_at(i) + sum_at(row_ - Channels + i % Channels);
  }

  CpuBackend& backend_;
  LobeMeanJob job_;
  std::size_t row_;  ///< entries of one row
  Shape shape_;
  Buffer weighed_;
  Buffer table_;
  std::unique_ptr<TableOperation> build_;
  std::vector<Workspace> workspaces_;  ///< one a thread
};

}  // namespace

std::unique_ptr<LobeMeanOperation> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job) {
  return std::make_unique<LobeMean>(as_cpu(backend), job);
}

}  // namespace satin::cpu
