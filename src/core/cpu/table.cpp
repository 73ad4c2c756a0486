// The table on the CPU: bands of rows, one a thread. Column sums of every band first, their prefix over the
// bands as the table row above each, then each band by row scans onto the row above. The source is read
// twice, the table written once.

#include <algorithm>
#include <array>
#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/rows.h"
#include "core/cpu/rows_simd.h"

namespace satin::cpu {
namespace {

constexpr std::int64_t smallest_band = 64;

template <class Sum>
class Table final : public TableOperation {
 public:
  Table(CpuBackend& backend, const TableJob& job)
      : backend_(backend),
        job_(job),
        bands_(std::clamp<std::int64_t>(job.height / smallest_band, 1, backend.threads.count())),
        row_(static_cast<std::size_t>(job.width * job.read.channels)),
        above_(static_cast<std::size_t>(bands_) * (row_ + scan_slack)),
        values_(above_.size()) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return (above_.size() + values_.size()) * sizeof(Sum);
  }

  void run(const ImageView& picture, const Measured* measured, const MutableImageView& table,
           Stream) override {
    const RowReader reader = row_reader(job_.read, measured, job_.squared);
    std::fill(above_.begin(), above_.end(), Sum{0});
    if (bands_ > 1) {
      parallel_rows(backend_, bands_ - 1, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t band = first; band < last; ++band) sum_columns(reader, picture, band);
      });
      finish_rows_above();
    }
    parallel_rows(backend_, bands_, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t band = first; band < last; ++band) scan_band(reader, picture, band, table);
    });
  }

  void to_double(const MutableImageView& table, const Measured* measured, Stream) override {
    const int exponent = row_reader(job_.read, measured, job_.squared).exponents.colour;
    const double scale = power_of_two(-exponent);
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        auto* row = table.row<std::uint64_t>(y);
        for (std::size_t i = 0; i < row_; ++i)
          row[i] = bits_of(static_cast<double>(static_cast<std::int64_t>(row[i])) * scale);
      }
    });
  }

 private:
  static constexpr std::array<Sum, 4> zeros{};

  [[nodiscard]] std::int64_t band_start(std::int64_t band) const { return job_.height * band / bands_; }
  [[nodiscard]] Sum* above(std::int64_t band) {
    return above_.data() + static_cast<std::size_t>(band) * (row_ + scan_slack);
  }
  [[nodiscard]] Sum* values(std::int64_t band) {
    return values_.data() + static_cast<std::size_t>(band) * (row_ + scan_slack);
  }

  /// Column sums of a band, where the row above the next one is to stand.
  void sum_columns(const RowReader& reader, const ImageView& picture, std::int64_t band) {
    for (std::int64_t y = band_start(band); y < band_start(band + 1); ++y) {
      read_row(reader, picture.at(0, y), static_cast<std::size_t>(job_.width), values(band));
      add(values(band), row_, above(band + 1));
    }
  }

  void finish_rows_above() {
    for (std::int64_t band = 1; band < bands_; ++band) {
      scan(above(band), static_cast<std::size_t>(job_.width), job_.read.channels, zeros.data(),
           above(band - 1), false, above(band));
    }
  }

  void scan_band(const RowReader& reader, const ImageView& picture, std::int64_t band,
                 const MutableImageView& table) {
    const Sum* previous = above(band);
    const bool dense = table.strides.row == static_cast<std::ptrdiff_t>(row_ * sizeof(Sum));
    for (std::int64_t y = band_start(band); y < band_start(band + 1); ++y) {
      read_row(reader, picture.at(0, y), static_cast<std::size_t>(job_.width), values(band));
      Sum* row = table.row<Sum>(y);
      const bool slack =
          dense && y + 1 < band_start(band + 1);  // what follows is this thread's, and yet to be written
      scan(values(band), static_cast<std::size_t>(job_.width), job_.read.channels, zeros.data(), previous,
           slack, row);
      previous = row;
    }
  }

  CpuBackend& backend_;
  TableJob job_;
  std::int64_t bands_;
  std::size_t row_;          ///< entries of one row
  std::vector<Sum> above_;   ///< rows of the bands, each with scan_slack more
  std::vector<Sum> values_;  ///< likewise
};

}  // namespace

std::unique_ptr<TableOperation> prepare_table(Backend& backend, const TableJob& job) {
  if (job.accumulator == Accumulator::u32)
    return std::make_unique<Table<std::uint32_t>>(as_cpu(backend), job);
  return std::make_unique<Table<std::uint64_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu
