#pragma once
// The steps of each algorithm on eight elements, as printed on the page.

#include <ostream>

namespace study {

void trace_sequential(std::ostream& out);
void trace_hillis_steele(std::ostream& out);
void trace_blelloch(std::ostream& out);
void trace_hillis_steele_blocks(std::ostream& out);
void trace_blelloch_blocks(std::ostream& out);
void trace_chained(std::ostream& out);
void trace_segmented(std::ostream& out);
void trace_moving_average(std::ostream& out);
void trace_bins(std::ostream& out);
void trace_split_sort(std::ostream& out);
void trace_wavelet_matrix(std::ostream& out);
void trace_window_medians(std::ostream& out);

}  // namespace study
