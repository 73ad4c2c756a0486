#include "kernels/extremes/sliding_extreme_launch.cuh"

namespace satin::kernels {

template int prepare_rows<FloatKey>(Extreme);
template void launch_rows<FloatKey>(const RowExtremeArguments&, StreamHandle);
template void launch_columns<FloatKey>(const ColumnExtremeArguments&, StreamHandle);

}  // namespace satin::kernels
