#include "kernels/scan/sort_pairs.cuh"

namespace satin::kernels {

template int sort_pairs_of<std::uint32_t>(Space&, const SortArrays&, int, StreamHandle);
template int sort_pairs_of<std::uint64_t>(Space&, const SortArrays&, int, StreamHandle);

}  // namespace satin::kernels
