#pragma once
// Rows of gpu_bench for tables, beside CUB and NPP.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/backend.h"
#include "satin/filters.h"
#include "tables/table.h"
#include "tests/bench/gpu_rows.cuh"

namespace satin::bench {

/// Tables modulo 2^32, as boxes use them: the operation itself.
inline std::function<void(const ImageView&, const satin::MutableImageView&)> wrapping_table(
    const Device& device, const Shape& shape) {
  satin::TableJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.read = satin::read_pixels(shape, satin::Transfer::identity, 1);
  std::shared_ptr<satin::TableOperation> table = device.backend().prepare(job);
  return [table](const ImageView& in, const satin::MutableImageView& out) {
    table->run(in, nullptr, out, satin::Stream{stream()});
  };
}

enum class Sums { whole, squared, wrapping };

inline void bench_table(const Device& device, const Shape& shape, Sums sums) {
  const std::string name = std::to_string(shape.width) + " x " + std::to_string(shape.height) + ", " +
                           std::to_string(shape.channels) + " x " + satin::name_of(shape.type) + " -> " +
                           (sums == Sums::wrapping  ? "u32, modulo 2^32"
                            : sums == Sums::squared ? "u64, squared"
                                                    : "u64");
  if (!is_wanted(name)) return;
  Shape table = shape;
  std::function<void(const ImageView&, const satin::MutableImageView&)> run;
  if (sums == Sums::wrapping) {
    table.type = Type::u32;
    run = wrapping_table(device, shape);
  } else {
    auto plan = std::make_shared<Plan>(satin::plan(device, shape, Integral{sums == Sums::squared}));
    table = plan->output_shape();
    run = [plan](const ImageView& in, const satin::MutableImageView& to) {
      plan->run(in, to, satin::Stream{stream()});
    };
  }
  const std::size_t in_bytes = satin::byte_size(shape);
  const std::size_t out_bytes = satin::byte_size(table);
  const Rotation in(in_bytes, in_bytes + out_bytes);
  const Rotation out(out_bytes, in_bytes + out_bytes);
  const double ours = time_of([&](int i) {
    run(satin::view_of(in[i], shape, satin::Memory::device),
        satin::mutable_view_of(out[i], table, satin::Memory::device));
  });
  const double copy = time_of_copy(in, in_bytes, out, out_bytes);
  const std::size_t count = in_bytes / satin::size_of(shape.type);
  double cub = 0;
  if (shape.type == Type::u8 && table.type == Type::u32)
    cub = time_of_cub<std::uint8_t, std::uint32_t>(in, out, count);
  if (shape.type == Type::u8 && table.type == Type::u64)
    cub = time_of_cub<std::uint8_t, std::uint64_t>(in, out, count);
  if (shape.type == Type::u16 && table.type == Type::u64)
    cub = time_of_cub<std::uint16_t, std::uint64_t>(in, out, count);
  const bool plain = shape.channels == 1 && shape.type == Type::u8 && sums != Sums::squared;
  const double npp =
      plain ? time_of_npp_table(in, static_cast<int>(shape.width), static_cast<int>(shape.height)) : 0;
  print_row(name, ours, copy, cub, npp);
}

inline void bench_tables(const Device& device) {
  std::printf(
      "\n| table | Satin ms | copy ms | copy / Satin | CUB 1-D ms | NPP ms |\n|---|---|---|---|---|---|\n");
  for (const std::int64_t side : {2048, 4096, 8192, 16384})
    bench_table(device, shape_of(side, side, 1, Type::u8), Sums::wrapping);
  bench_table(device, shape_of(4001, 3003, 1, Type::u8), Sums::wrapping);
  bench_table(device, shape_of(8191, 8101, 1, Type::u8), Sums::wrapping);
  for (const std::int64_t side : {2048, 4096, 8192})
    bench_table(device, shape_of(side, side, 3, Type::u8), Sums::wrapping);
  bench_table(device, shape_of(4001, 3003, 3, Type::u8), Sums::wrapping);
  bench_table(device, shape_of(4096, 4096, 4, Type::u8), Sums::wrapping);
  for (const std::int64_t side : {2048, 4096, 8192})
    bench_table(device, shape_of(side, side, 1, Type::u16), Sums::whole);
  bench_table(device, shape_of(8192, 8192, 1, Type::u8), Sums::whole);
  bench_table(device, shape_of(8192, 8192, 1, Type::u8), Sums::squared);
}

}  // namespace satin::bench
