#include "kernels/tables/launch.h"
#include "kernels/tables/single_pass_launch.cuh"

namespace satin::kernels::single_pass {

template void launch<Pairs<std::uint8_t, 1, std::uint64_t>>(const TableArguments&, const SinglePassTrial&,
                                                            StreamHandle);
template void launch<Pairs<std::uint8_t, 3, std::uint64_t>>(const TableArguments&, const SinglePassTrial&,
                                                            StreamHandle);
template void launch<Pairs<std::uint8_t, 1, std::uint64_t, true>>(const TableArguments&,
                                                                  const SinglePassTrial&, StreamHandle);
template void launch<Pairs<std::uint8_t, 3, std::uint64_t, true>>(const TableArguments&,
                                                                  const SinglePassTrial&, StreamHandle);

}  // namespace satin::kernels::single_pass
