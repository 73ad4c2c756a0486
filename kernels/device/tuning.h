#pragma once
// Tuning constants of the kernels, apart from the algorithms. Hardware and figures stand with each of them.

namespace satin::kernels::tuning {

// Table: tiles are one warp wide, their height is chosen at run time so that the card is full.
inline constexpr int table_warps_per_block = 8;
inline constexpr int table_blocks_per_multiprocessor = 2;  ///< at least: bounds the registers
inline constexpr int table_bytes_in_flight = 96;  ///< pixels and carries of a lane: rows are loaded in groups
inline constexpr int table_most_rows_in_flight = 8;
inline constexpr int table_fewest_tile_rows = 16;
inline constexpr int table_most_tile_rows = 128;
inline constexpr int table_warps_per_multiprocessor = 24;  ///< wished for; below it tiles become lower

// Table in a single pass; shapes of tiles and what they reach are in kernels/tables/single_pass_launch.cuh.
// Below these many tiles a multiprocessor, of 256 columns or of 96 RGBA pixels, smaller or deeper ones are
// better.
inline constexpr int single_pass_tile_height = 128;
inline constexpr int single_pass_fewest_large_tiles = 2;
inline constexpr int single_pass_fewest_medium_tiles = 1;
inline constexpr int single_pass_fewest_rgba_tiles = 4;
/// Rows whose stores the compiler may mix; with more it runs ahead until it spills registers.
template <int Step>
inline constexpr int single_pass_rows_ahead = Step == 2 ? 2 : 4;
/// Looks, of about a microsecond, before a block works alone. A wait is as long as some blocks take, tens of
/// microseconds.
inline constexpr int single_pass_looks = 1 << 13;

// Carries between the table's tiles: a block scans 32 columns, cut into this many segments.
inline constexpr int carry_segments = 16;
inline constexpr int carry_loads_in_flight = 4;

// Box mean: a block is 32 pixels wide, one pixel a thread.
inline constexpr int box_mean_block_rows = 8;
inline constexpr int box_mean_blocks_per_multiprocessor = 3;  ///< at least: bounds the registers
inline constexpr int frame_block_rows = 4;
inline constexpr int frame_blocks_per_multiprocessor = 3;

// Linear light gathered from a table in blocks. H200, UHD RGB, smooth radii to 200, the gather alone: 0.175
// ms; with 3 blocks of threads a multiprocessor 0.186, with 5 (48 registers) 0.200, with 10 parts 0.187.
inline constexpr int light_gather_rows = 8;    ///< of a block, side by side
inline constexpr int light_gather_blocks = 4;  ///< of a multiprocessor, at least
inline constexpr int light_gather_parts = 13;  ///< of the height: blocks fill their tables once

// Means blended under a mask. H200, UHD RGB, all random: 0.047 ms; with 264 rows of blocks, and no row asked
// for beforehand, 0.056.
inline constexpr int blend_rows_at_once = 128;  ///< of blocks, which fill their tables once
inline constexpr int blend_blocks = 4;          ///< of a multiprocessor, at least: bounds the registers

// Box mean with running column sums: a tile has a warp for each span of its rows (means/tiling.h).
inline constexpr int running_most_warps = 32;       ///< of a block
inline constexpr int running_warps_per_block = 16;  ///< at most, unless one tile has more
/// H100, UHD RGB u8, radius 16, a photograph's mask: 0.102 ms; 0.101 with 20, which spill a little, 0.106
/// with 24.
inline constexpr int running_counted_warps = 16;  ///< of a block, of jobs that are counted
inline constexpr int running_warps_to_fill = 12;  ///< with fewer a multiprocessor takes as long
inline constexpr int running_start_rows_per_row =
    6;  ///< rows summed at a tile's start in the time of a row of means
inline constexpr int running_largest_direct_reach =
    96;  ///< above it tiles start from sums over groups of rows
/// H200, UHD RGB u8 encoded, radius 1000, and u16 at radius 200, when groups and their scan were two kernels:
/// 0.0903 and 0.194 ms with 16 rows, 0.0928 and 0.197 with 8, 0.0904 and 0.201 with 32.
inline constexpr int running_group_rows = 16;
/// A lane loads 8 rows of bytes together. Of the same picture, 4 rows took 0.0967 ms and 16 rows 0.0968.
inline constexpr int running_group_batch_words = 24;
/// Groups and their scan in one kernel took 0.0874 ms with these two, 0.0888 with 64 shares.
inline constexpr int running_group_lanes = 8;    ///< of a block: rows of 96 bytes where pixels are bytes
inline constexpr int running_group_shares = 72;  ///< of groups, side by side in a block

// Local statistics with running sums: a block does one tile. H200, sauvola 31, u8,
// 8192 x 8192 and 3840 x 2160: 0.277 and 0.050 ms with 1 warp a block and 16 a multiprocessor, 0.264 and
// 0.050 with 2 and 16, 0.285 and 0.045 with 4 and 16, 0.379 and 0.064 with 2 and 8.
inline constexpr int running_stats_most_warps = 16;   ///< of a block: bounds the registers
inline constexpr int running_stats_wished_warps = 4;  ///< of a block, where nothing speaks against them
inline constexpr int running_stats_warps_per_multiprocessor = 16;
inline constexpr int running_stats_warps_to_fill = 16;  ///< with fewer a multiprocessor takes as long
inline constexpr int running_stats_start_rows_per_row = 20;
inline constexpr int long_stats_warps = 32;  ///< of a block; not measured

// Box mean by a map with the table in shared memory. H200, UHD RGB u8, constant map: 0.0575 ms with these,
// 0.0576 with 4 x 12; of an earlier version 2 x 14 0.080, 4 x 14 and 4 x 16 0.083, 8 x 16 0.093, 4 x 20
// 0.100. More than 24 warps leave too few registers.
inline constexpr int tiled_table_column_warps =
    2;  ///< that add rows down the columns, beside 8 that scan rows
inline constexpr int tiled_table_gather_warps = 12;  ///< two for every 32 columns of means

// sliding minima and maxima. NVIDIA H200, UHD RGB u8, radius 1: 0.066 ms with these; others were not tried.
inline constexpr int extreme_row_threads = 256;
inline constexpr int extreme_column_threads = 128;
inline constexpr int extreme_joined_groups = 8;  ///< that one launch joins at most

// Masked work by windows: how many pixels take as long as one more window, and below how many the search for
// active tiles is not worth its wait. Estimates for an NVIDIA H200, not yet measured: a window is five
// launches of 4 microseconds, the search 20; a mean under a mask takes 30 of them for a million pixels, an
// extreme 8, and a mean by one radius of a picture of integers without alpha 12.
inline constexpr long long mean_window_run_pixels = 600'000;
inline constexpr long long mean_window_least_pixels = 5'000'000;
inline constexpr long long sliding_window_run_pixels = 2'500'000;
inline constexpr long long sliding_window_least_pixels = 20'000'000;
inline constexpr int active_tile_threads = 256;

// Distances in masks: not yet measured.
inline constexpr int distance_column_threads = 128;
inline constexpr int distance_tile_rows = 64;  ///< of a column that one thread does, at least
inline constexpr int distance_row_warps = 8;   ///< of a block
inline constexpr int distance_segment = 2048;  ///< pixels of a row that one warp scans, at least

// Hidden samples of depth of field. H200: the shared memory of a tile and its registers leave two blocks.
inline constexpr int fill_cell_threads = 256;
inline constexpr int fill_blocks_per_multiprocessor = 2;  ///< at least: bounds the registers

inline constexpr int copy_threads = 256;
inline constexpr int copy_rows_per_block = 4;

inline constexpr int measure_threads = 256;
inline constexpr int measure_blocks = 1024;

inline constexpr int to_double_threads = 256;

// Connected components: a tile is 128 x 64 pixels, one thread a word of 32 or of two below each other.
// Components of a tile beyond the slots, of which noise with 4 neighbours needs about 570, are summed in
// global memory. NVIDIA H200, noise of 8192 x 8192, labels and shapes: 0.69 ms with 4 neighbours, 0.49 with
// 8; 6 blocks for the tiles 20 us more, 5 and 660 for the shapes 10 to 18 more.
inline constexpr int label_word_threads = 256;
inline constexpr int label_parts_in_flight = 3;
inline constexpr int label_tile_blocks = 8;   ///< of a multiprocessor
inline constexpr int label_tile_joins = 512;  ///< contacts of a tile that are kept in a list
inline constexpr int label_tile_slots = 768;
inline constexpr int label_shape_blocks = 6;       ///< of a multiprocessor
inline constexpr unsigned label_shape_grid = 792;  ///< blocks at most, each with several tiles
inline constexpr int region_values_threads = 128;
inline constexpr int region_values_rows = 64;    ///< of a block
inline constexpr int region_values_slots = 256;  ///< labels of a block

}  // namespace satin::kernels::tuning
