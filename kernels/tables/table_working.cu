#include "kernels/tables/launch.h"
#include "kernels/tables/table.cuh"

namespace satin::kernels {

template void build_table_of<std::uint32_t>(const TableArguments&, StreamHandle);
template void build_table_of<std::uint64_t>(const TableArguments&, StreamHandle);

}  // namespace satin::kernels
