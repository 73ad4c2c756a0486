#pragma once
// What the single-pass table stores of RGB bytes: residues of sums, and coarse words
// (kernels/tables/residue_table.h).

#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/tables/residue_table.h"
#include "kernels/tables/single_pass.cuh"

namespace satin::kernels::single_pass {

/// Where a lane stores the residues of its four pixels, and the coarse word that every second row has of
/// them.
template <bool Edge>
class ResidueColumns {
  static constexpr int pixels = residue::column_step;

 public:
  /// From an element of the picture on, and from an even row.
  __device__ ResidueColumns(const Job& job, int x, int y)
      : job_(job),
        entries_(job.table + y * job.table_row +
                 x / residue::channels * std::int64_t{sizeof(residue::Entry)}),
        coarse_(job.coarse + residue::coarse_row(y) * job.coarse_row +
                residue::coarse_column(x / residue::channels + pixels - 1) *
                    std::int64_t{sizeof(std::uint32_t)}),
        valid_(job.width - x) {}

  __device__ void store(int r, const Vector<std::uint32_t, pixels * residue::channels>& sums) const {
    if (Edge && valid_ <= 0) return;
    residue::Entry entries[pixels];
#pragma unroll
    for (int i = 0; i < pixels; ++i)
      entries[i] = residue::entry_of({sums.of[3 * i], sums.of[3 * i + 1], sums.of[3 * i + 2]});
    auto* row = reinterpret_cast<residue::Entry*>(entries_ + r * job_.table_row);
    if (!Edge || valid_ >= pixels * residue::channels) {
#pragma unroll
      for (int i = 0; i < pixels; i += 2)
        *reinterpret_cast<uint4*>(row + i) =
            make_uint4(entries[i].low, entries[i].high, entries[i + 1].low, entries[i + 1].high);
    } else {
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        if (i * residue::channels < valid_) row[i] = entries[i];
    }
    if (r % residue::row_step == 0) return;
    *reinterpret_cast<std::uint32_t*>(coarse_ + (r + 1) / residue::row_step * job_.coarse_row) =
        residue::coarse_of({sums.of[9], sums.of[10], sums.of[11]});
  }

 private:
  const Job& job_;
  std::byte* entries_;
  std::byte* coarse_;
  int valid_;
};

}  // namespace satin::kernels::single_pass
