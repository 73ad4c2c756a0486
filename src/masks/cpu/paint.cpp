// One colour, or the means of cells from a table of the whole picture.

#include <algorithm>
#include <iterator>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "masks/paint.h"
#include "means/maths/mean.h"
#include "pixels/cpu/rows.h"
#include "pixels/transfer.h"
#include "tables/maths/cell.h"
#include "tables/table.h"

namespace satin::cpu {
namespace {

MeanRule rule_of(const PaintJob& job) {
  MeanRule rule;
  rule.weighted = job.read.weighted;
  rule.fixed_point = job.read.fixed_point;
  rule.mask_maximum = 0xFF;
  rule.transfer = host_transfer(job.write.type, job.write.transfer == Transfer::srgb);
  return rule;
}

template <class Sum>
class Paint final : public PaintOperation {
 public:
  Paint(CpuBackend& backend, const PaintJob& job)
      : backend_(backend), job_(job), table_shape_{job.width, job.height, job.read.channels, sum_type} {
    if (job.cell == 0) return;
    table_ = backend.allocate(byte_size(table_shape_));
    TableJob table;
    table.width = job.width;
    table.height = job.height;
    table.read = job.read;
    table.accumulator = job.accumulator;
    build_ = backend.prepare(table);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return table_.size + (build_ == nullptr ? 0 : build_->workspace_bytes());
  }

  void run(const PaintImages& images, Stream stream) override {
    if (build_ != nullptr)
      build_->run(images.source, images.measured, mutable_view_of(table_.get(), table_shape_), stream);
    const MeanRule rule = rule_of(job_);
    FixedExponents exponents{};
    if (job_.cell != 0) exponents = row_reader(job_.read, images.measured).exponents;
    with_pixels([&]<int Channels, class T>() {
      parallel_rows(backend_, job_.height, 4, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t y = first; y < last; ++y) paint_row<Channels, T>(rule, exponents, images, y);
      });
    });
  }

 private:
  static constexpr Type sum_type = sizeof(Sum) == 4 ? Type::u32 : Type::u64;

  template <class Call>
  void with_pixels(const Call& call) const {
    const auto of_type = [&]<class T>() {
      with_channels(job_.read.channels, [&]<int Channels>() { call.template operator()<Channels, T>(); });
    };
    if (job_.write.type == Type::u8) return of_type.template operator()<std::uint8_t>();
    if (job_.write.type == Type::u16) return of_type.template operator()<std::uint16_t>();
    of_type.template operator()<float>();
  }

  template <int Channels, class T>
  void paint_row(const MeanRule& rule, FixedExponents exponents, const PaintImages& images,
                 std::int64_t y) const {
    const TableView<Sum> table{reinterpret_cast<const Sum*>(table_.get()), job_.width * Channels, job_.width,
                               job_.height};
    const T* original = images.source.row<T>(y);
    const auto* weights = images.weights.row<std::uint8_t>(y);
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x, original += Channels, out += Channels) {
      if (weights[x] == 0) {
        std::copy_n(original, Channels, out);
        continue;
      }
      WideSum sums[4];
      std::uint64_t count = 1;
      if (job_.cell == 0)
        std::copy(std::begin(job_.colour), std::end(job_.colour), sums);
      else
        count = cell_sums<Channels>(table, x, y, job_.cell, rule.fixed_point, sums);
      if constexpr (std::is_same_v<T, float>) {
        store_float_mean<Channels>(sums, count, original, weights[x], rule, exponents, out);
      } else {
        store_integer_mean<Channels>(sums, count, original, weights[x], rule, out);
      }
    }
  }

  CpuBackend& backend_;
  PaintJob job_;
  Shape table_shape_;
  Buffer table_;
  std::unique_ptr<TableOperation> build_;
};

}  // namespace

std::unique_ptr<PaintOperation> prepare_paint(Backend& backend, const PaintJob& job) {
  if (job.accumulator == Accumulator::u32)
    return std::make_unique<Paint<std::uint32_t>>(as_cpu(backend), job);
  return std::make_unique<Paint<std::uint64_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu
