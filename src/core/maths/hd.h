#pragma once
// SATIN_HD marks inline functions that are compiled for host and device, so that both compute the same
// numbers.

#if defined(__CUDACC__)
#define SATIN_HD __host__ __device__ inline
#else
#define SATIN_HD inline
#endif
