#pragma once
// The tables that unknown radii are filled from: how many are known, and what these sum up to.

#include "lens/fill_radii.h"
#include "tables/plane_table.h"

namespace satin {

/// Of the planes that the backend fills before run(): `counts` with 1 where the radius is known, `sums` with
/// radius + largest there, 0 elsewhere.
struct KnownRadiiTables {
  PlaneTable counts;
  PlaneTable sums;

  KnownRadiiTables(Backend& backend, const FillRadiiJob& job)
      : counts(backend, job.width, job.height, Type::u8, 1, Accumulator::u32),
        sums(backend, job.width, job.height, Type::u32, 2 * static_cast<std::uint64_t>(job.largest),
             Accumulator::u64) {}

  void run(Stream stream) {
    counts.run(stream);
    sums.run(stream);
  }
  [[nodiscard]] KnownRadii known(const FillRadiiJob& job) const {
    return {job.largest, counts.table<std::uint32_t>(), sums.table<std::uint64_t>()};
  }
  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return counts.workspace_bytes() + sums.workspace_bytes();
  }
};

}  // namespace satin
