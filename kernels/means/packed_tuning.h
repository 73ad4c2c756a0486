#pragma once
// Tuning constants of the box mean of bytes with packed column sums (box_mean_packed.cuh).
//
// H200, UHD RGB, radius 16 and 64, ms by warps a block x blocks a multiprocessor, with 4 rows in flight: 20 x
// 1 0.0394 and 0.0450, 10 x 2 0.0368 and 0.0459, 16 x 1 0.0400 and 0.0469, 24 x 1 (which spills registers)
// 0.0407 and 0.0478. 20 x 1 with 8 rows, 4 where few are left: 0.0372 and 0.0441 where 4 took 0.0390 and
// 0.0458; with 8 everywhere the same, but 1920 x 1080 0.0164 instead of 0.0153.

namespace satin::kernels::packed_tuning {

inline constexpr int warps_per_block = 20;
inline constexpr int blocks_per_multiprocessor = 1;  ///< at least: bounds the registers
inline constexpr int most_blocks = 9;                ///< of a multiprocessor, one after another
/// More leave the L1 too little: 8192 x 8192, radius 16, 0.268 ms with 6, 0.244 with 3.
inline constexpr int most_spans = 4;
inline constexpr int rows_in_flight =
    8;  ///< of a warp at the start of a tile, half as many where few are left
// Counted instructions, where a row that is only summed costs 4.
inline constexpr int cost_of_row = 40;
inline constexpr int cost_of_start = 96;  ///< beside rows that are summed

}  // namespace satin::kernels::packed_tuning
