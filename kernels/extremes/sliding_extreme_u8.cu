#include "kernels/extremes/sliding_extreme_launch.cuh"

namespace satin::kernels {

template int prepare_rows<std::uint8_t>(Extreme);
template void launch_rows<std::uint8_t>(const RowExtremeArguments&, StreamHandle);
template void launch_columns<std::uint8_t>(const ColumnExtremeArguments&, StreamHandle);

}  // namespace satin::kernels
