#include "kernels/tables/launch.h"
#include "kernels/tables/table.cuh"

namespace satin::kernels {

template void build_table_of<float>(const TableArguments&, StreamHandle);

}  // namespace satin::kernels
