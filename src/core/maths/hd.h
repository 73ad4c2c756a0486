#pragma once
// Small inline maths that host and device share, so that both compute the same numbers from the same lines.

#if defined(__CUDACC__)
#define SATIN_HD __host__ __device__ inline
#else
#define SATIN_HD inline
#endif
