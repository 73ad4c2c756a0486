#pragma once
// Costs of the algorithms in closed form. The check compares every count with them.

#include "machine.h"

namespace study {

/// Traffic of an algorithm over states: bytes read and written for each value, and bytes of a state.
struct Traffic {
  Index in = 4;
  Index out = 4;
  Index state = 4;
};

Cost cost_of_sequential(Index n);
Cost cost_of_hillis_steele(Index n);
Cost cost_of_blelloch(Index n);
Cost cost_of_blelloch_blocks(Index n, Index block);
Cost cost_of_hillis_steele_blocks(Index n, Index block);
Cost cost_of_chained(Index n, Index tile, Index resident, const Traffic& traffic);
Cost cost_of_split_sort(Index n, Index tile);
Cost cost_of_bins(Index n, Index bins, Index block);

/// Cost of building the matrix and of n queries.
Cost cost_of_wavelet_matrix(Index n, int bits, Index block);
Index scans_of_picture_matrix(Index width, int bits);
Cost cost_of_window_medians(Index width, Index height, int bits, Index block);

}  // namespace study
