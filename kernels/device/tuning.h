#pragma once
// Tuning constants of the kernels, with the hardware and the figures that they were chosen by.

namespace satin::kernels::tuning {

// Table: tiles are one warp wide; their height is chosen at run time so that the card is full.
inline constexpr int table_warps_per_block = 8;
inline constexpr int table_blocks_per_multiprocessor = 2;  ///< at least: bounds the registers
inline constexpr int table_bytes_in_flight = 96;  ///< bytes of pixels and carries that a lane loads together
inline constexpr int table_most_rows_in_flight = 8;
inline constexpr int table_fewest_tile_rows = 16;
inline constexpr int table_most_tile_rows = 128;
inline constexpr int table_warps_per_multiprocessor = 24;  ///< below it tiles become lower

// Table in a single pass. Tile shapes are in kernels/tables/table_single_pass.cuh.
inline constexpr int single_pass_tile_height = 128;
/// Rows whose stores the compiler may interleave; with more it spills registers.
template <int Step>
inline constexpr int single_pass_rows_ahead = Step == 2 ? 2 : 4;
/// Attempts, of about a microsecond, before a block works alone. A normal wait lasts tens of microseconds.
inline constexpr int single_pass_looks = 1 << 13;

// Carries between the table's tiles: a block scans 32 columns in this many segments.
inline constexpr int carry_segments = 16;
inline constexpr int carry_loads_in_flight = 4;

// Box mean: a block is 32 pixels wide, one pixel per thread.
inline constexpr int box_mean_block_rows = 8;
inline constexpr int box_mean_blocks_per_multiprocessor = 3;  ///< at least: bounds the registers
inline constexpr int frame_block_rows = 4;
inline constexpr int frame_blocks_per_multiprocessor = 3;

// Linear light gathered from a table in memory. H200, UHD RGB, radii to 200, smooth and random: 0.251 and
// 0.78 ms; with 4 blocks 0.250 and 0.98.
inline constexpr int light_gather_rows = 8;    ///< rows of a block, side by side
inline constexpr int light_gather_turns = 8;   ///< rows of a tile, in rows of a block
inline constexpr int light_gather_blocks = 3;  ///< blocks per multiprocessor: bounds the registers

// Means blended under a mask. H200, UHD RGB, random values: 0.047 ms; with 264 rows of blocks and without
// prefetch 0.056.
inline constexpr int blend_rows_at_once = 128;  ///< rows of blocks; each block fills its tables once
inline constexpr int blend_blocks = 4;          ///< blocks per multiprocessor, at least: bounds the registers

// Box mean with running column sums (means/tiling.h).
inline constexpr int running_most_warps = 32;       ///< warps of a block
inline constexpr int running_warps_per_block = 16;  ///< at most, unless one tile has more
/// Warps of a block for masks that exclude. H100, UHD RGB u8, radius 16, a photograph's mask: 0.102 ms; 0.101
/// with 20, which spill a little, 0.106 with 24.
inline constexpr int running_counted_warps = 16;
inline constexpr int running_warps_to_fill = 12;  ///< fewer warps per multiprocessor take as long
inline constexpr int running_start_rows_per_row =
    6;  ///< rows summed at a tile's start in the time of a row of means
inline constexpr int running_largest_direct_reach =
    96;  ///< above it tiles start from sums over groups of rows
/// H200, UHD RGB u8 encoded, radius 1000, and u16 at radius 200, with groups and their scan in two kernels:
/// 0.0903 and 0.194 ms with 16 rows, 0.0928 and 0.197 with 8, 0.0904 and 0.201 with 32.
inline constexpr int running_group_rows = 16;
/// A lane loads 8 rows of bytes together. For the same picture 4 rows took 0.0967 ms and 16 rows 0.0968.
inline constexpr int running_group_batch_words = 24;
/// Groups and their scan in one kernel took 0.0874 ms with these two, 0.0888 with 64 shares.
inline constexpr int running_group_lanes = 8;    ///< lanes of a block: rows of 96 bytes for bytes
inline constexpr int running_group_shares = 72;  ///< shares of the groups, side by side in a block

// Local statistics with running sums: a block does one tile. H200, sauvola 31, u8, 8192 x 8192 and 3840 x
// 2160: 0.277 and 0.050 ms with 1 warp per block and 16 per multiprocessor, 0.264 and 0.050 with 2 and 16,
// 0.285 and 0.045 with 4 and 16, 0.379 and 0.064 with 2 and 8.
inline constexpr int running_stats_most_warps = 16;   ///< warps of a block: bounds the registers
inline constexpr int running_stats_wished_warps = 4;  ///< warps of a block, where possible
inline constexpr int running_stats_warps_per_multiprocessor = 16;
inline constexpr int running_stats_warps_to_fill = 16;  ///< fewer warps per multiprocessor take as long
inline constexpr int running_stats_start_rows_per_row = 20;
inline constexpr int long_stats_warps = 32;  ///< warps of a block; not measured

// Box mean by a map with the table in shared memory, besides 8 warps that scan rows. H200, UHD RGB u8,
// constant map: 0.0575 ms with 2 x 12, 0.0576 with 4 x 12; in an earlier version 0.080 with 2 x 14, 0.083
// with 4 x 14 and 4 x 16, 0.093 with 8 x 16, 0.100 with 4 x 20. More than 24 warps leave too few registers.
inline constexpr int tiled_table_column_warps = 2;   ///< warps that add rows down the columns
inline constexpr int tiled_table_gather_warps = 12;  ///< two for every 32 columns of means

// Sliding minima and maxima. H200, UHD RGB u8, radius 1: 0.066 ms; other values were not tried.
inline constexpr int extreme_row_threads = 256;
inline constexpr int extreme_column_threads = 128;
inline constexpr int extreme_joined_groups = 8;  ///< largest number of groups that one launch joins

// Masked work by windows: the number of pixels that take as long as one more window (run), and the number
// below which the search for active tiles costs more than it saves (least). Estimates for an H200, not
// measured: a window is five launches of 4 us, the search takes 20 us; a million pixels take 30 us for a mean
// under a mask, 8 us for an extreme and 12 us for a mean by one radius of integers without alpha.
inline constexpr long long mean_window_run_pixels = 600'000;
inline constexpr long long mean_window_least_pixels = 5'000'000;
inline constexpr long long sliding_window_run_pixels = 2'500'000;
inline constexpr long long sliding_window_least_pixels = 20'000'000;
inline constexpr int active_tile_threads = 256;

// Distances in masks: not measured.
inline constexpr int distance_column_threads = 128;
inline constexpr int distance_tile_rows = 64;  ///< rows of a column that one thread does, at least
inline constexpr int distance_row_warps = 8;   ///< warps of a block
inline constexpr int distance_segment = 2048;  ///< pixels of a row that one warp scans, at least

// Hidden samples of depth of field. H200: shared memory and registers leave room for two blocks.
inline constexpr int fill_cell_threads = 256;
inline constexpr int fill_blocks_per_multiprocessor = 2;  ///< at least: bounds the registers

inline constexpr int copy_threads = 256;
inline constexpr int copy_rows_per_block = 4;

inline constexpr int measure_threads = 256;
inline constexpr int measure_blocks = 1024;

inline constexpr int to_double_threads = 256;

// Connected components: a tile is 128 x 64 pixels; a thread has one word of 32 pixels, or two below each
// other. Components of a tile beyond the slots, of which noise with 4 neighbours needs about 570, are summed
// in global memory. H200, noise of 8192 x 8192, labels and shapes: 0.69 ms with 4 neighbours, 0.49 with 8; 20
// us more with 6 blocks for the tiles, 10 to 18 us more with 5 blocks and a grid of 660 for the shapes.
inline constexpr int label_word_threads = 256;
inline constexpr int label_parts_in_flight = 3;
inline constexpr int label_tile_blocks = 8;   ///< blocks per multiprocessor
inline constexpr int label_tile_joins = 512;  ///< contacts of a tile in its list
inline constexpr int label_tile_slots = 768;
inline constexpr int label_shape_blocks = 6;       ///< blocks per multiprocessor
inline constexpr unsigned label_shape_grid = 792;  ///< most blocks; each has several tiles
inline constexpr int region_values_threads = 128;
inline constexpr int region_values_rows = 64;    ///< rows of a block
inline constexpr int region_values_slots = 256;  ///< labels of a block

}  // namespace satin::kernels::tuning
