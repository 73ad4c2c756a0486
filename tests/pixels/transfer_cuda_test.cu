// encode() on the device, for all 24-bit linear values, against the tables.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/means/by_radius/row_means.cuh"
#include "pixels/transfer.h"
#include "satin/array.h"
#include "tests/oracles/device_under_test.h"

namespace satin::test {
namespace {

constexpr std::uint32_t light_values = 1U << 24;

__global__ void encode_all(const TransferView transfer, std::uint16_t* codes) {
  const std::uint32_t value = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t code[] = {value};
  kernels::encode16(code, transfer);
  codes[value] = static_cast<std::uint16_t>(code[0]);
}

TEST(TransferCuda, EncodesEveryLinearValue) {
  const Device& device = device_under_test();
  if (!device.is_cuda()) GTEST_SKIP() << "SATIN_TEST_DEVICE is not a GPU";
  const TransferTables& tables = srgb_tables16();
  const Array thresholds(device, tables.thresholds16);
  Array codes(device, Type::u16, light_values);
  TransferView transfer;
  transfer.thresholds = thresholds.view().values<std::uint32_t>();
  constexpr unsigned threads = 256;
  encode_all<<<light_values / threads, threads>>>(transfer, codes.view().values<std::uint16_t>());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<std::uint16_t> found(light_values);
  codes.download(found);
  const TransferView of_host = host_transfer(Type::u16, true);
  for (std::uint32_t value = 0; value < light_values; ++value)
    ASSERT_EQ(found[value], encode(value, of_host, std::uint16_t{})) << value;
}

}  // namespace
}  // namespace satin::test
