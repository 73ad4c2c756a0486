#include "kernels/scan/sort_pairs.cuh"

namespace satin::kernels {

template int sort_pairs_of<std::int32_t>(Space&, const SortArrays&, int, StreamHandle);
template int sort_pairs_of<float>(Space&, const SortArrays&, int, StreamHandle);

}  // namespace satin::kernels
