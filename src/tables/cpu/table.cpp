// The table on the CPU: bands of rows, one a thread. Column sums of every band first, their prefix over the
// bands as the table row above each, then each band by row scans onto the row above. The source is read
// twice (but for its last band), the table written once.

#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"
#include "pixels/cpu/rows.h"
#include "pixels/cpu/rows_simd.h"
#include "tables/cpu/scan_simd.h"
#include "tables/table.h"

namespace satin::cpu {
namespace {

constexpr std::int64_t smallest_band = 64;
constexpr std::int64_t smallest_strip = 512;

template <class Sum>
class Table final : public TableOperation {
 public:
  Table(CpuBackend& backend, const TableJob& job)
      : backend_(backend),
        job_(job),
        bands_(std::clamp<std::int64_t>(job.height / smallest_band, 1, backend.threads.count())),
        strips_(std::clamp<std::int64_t>(job.width / smallest_strip, 1, bands_)),
        row_(static_cast<std::size_t>(job.width * job.read.channels)),
        above_(static_cast<std::size_t>(bands_) * row_),
        values_(above_.size()) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return (above_.size() + values_.size()) * sizeof(Sum);
  }

  void run(const ImageView& picture, const Measured* measured, const MutableImageView& table,
           Stream) override {
    const RowReader reader = row_reader(job_.read, measured, job_.squared);
    std::fill(above_.begin(), above_.end(), Sum{0});
    parallel_rows(backend_, (bands_ - 1) * strips_, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) sum_columns(reader, picture, i / strips_, i % strips_);
    });
    for (std::int64_t band = 1; band < bands_; ++band)
      scan(above(band), static_cast<std::size_t>(job_.width), job_.read.channels, above(band - 1),
           above(band));
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
  [[nodiscard]] std::int64_t band_start(std::int64_t band) const { return job_.height * band / bands_; }
  [[nodiscard]] Sum* above(std::int64_t band) {
    return above_.data() + static_cast<std::size_t>(band) * row_;
  }
  [[nodiscard]] Sum* values(std::int64_t band) {
    return values_.data() + static_cast<std::size_t>(band) * row_;
  }

  /// Column sums of a band in one strip of columns, where the row above the next band is to stand.
  void sum_columns(const RowReader& reader, const ImageView& picture, std::int64_t band, std::int64_t strip) {
    const std::int64_t left = job_.width * strip / strips_;
    const auto pixels = static_cast<std::size_t>(job_.width * (strip + 1) / strips_ - left);
    const std::int64_t first = left * job_.read.channels;
    for (std::int64_t y = band_start(band); y < band_start(band + 1); ++y)
      with_values(reader, picture.at(left, y), pixels, values(band) + first, [&](const auto* row) {
        add(row, pixels * static_cast<std::size_t>(job_.read.channels), above(band + 1) + first);
      });
  }

  void scan_band(const RowReader& reader, const ImageView& picture, std::int64_t band,
                 const MutableImageView& table) {
    const auto pixels = static_cast<std::size_t>(job_.width);
    const Sum* previous = above(band);
    for (std::int64_t y = band_start(band); y < band_start(band + 1); ++y) {
      Sum* sums = table.row<Sum>(y);
      with_values(reader, picture.at(0, y), pixels, values(band),
                  [&](const auto* row) { scan(row, pixels, job_.read.channels, previous, sums); });
      previous = sums;
    }
  }

  CpuBackend& backend_;
  TableJob job_;
  std::int64_t bands_;
  std::int64_t strips_;      ///< of columns, while only column sums are made
  std::size_t row_;          ///< entries of one row
  std::vector<Sum> above_;   ///< the table row above every band
  std::vector<Sum> values_;  ///< one row of every band
};

}  // namespace

std::unique_ptr<TableOperation> prepare_table(Backend& backend, const TableJob& job) {
  if (job.accumulator == Accumulator::u32)
    return std::make_unique<Table<std::uint32_t>>(as_cpu(backend), job);
  return std::make_unique<Table<std::uint64_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu
