#pragma once
// Small vectors, integer hashes, noise and sample sequences for the scene renderer. Randomness comes from
// hashes of indices alone, so that a scene is the same on every run and with any number of threads.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace scene {

inline constexpr double pi = std::numbers::pi;

struct Vec2 {
  double x = 0, y = 0;
};

struct Vec3 {
  double x = 0, y = 0, z = 0;
};

constexpr Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Vec3 operator*(Vec3 a, Vec3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
constexpr Vec3 operator*(Vec3 a, double s) { return {a.x * s, a.y * s, a.z * s}; }
constexpr Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
constexpr Vec3& operator+=(Vec3& a, Vec3 b) { return a = a + b; }

constexpr double dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(Vec3 a) { return std::sqrt(dot(a, a)); }
inline Vec3 normalize(Vec3 a) { return a * (1 / length(a)); }
constexpr Vec3 mix(Vec3 a, Vec3 b, double t) { return a * (1 - t) + b * t; }
constexpr double mix(double a, double b, double t) { return a * (1 - t) + b * t; }
constexpr Vec3 reflect(Vec3 direction, Vec3 normal) {
  return direction - normal * (2 * dot(direction, normal));
}
/// Returns the luminance, by the weights of Rec. 709.
constexpr double luminance(Vec3 c) { return 0.2126 * c.x + 0.7152 * c.y + 0.0722 * c.z; }

inline double fraction(double x) { return x - std::floor(x); }
inline double saturate(double x) { return std::clamp(x, 0.0, 1.0); }
inline double smoothstep(double from, double to, double x) {
  const double t = saturate((x - from) / (to - from));
  return t * t * (3 - 2 * t);
}

/// Rotation about the y axis, kept as cosine and sine.
struct Turn {
  double c = 1, s = 0;

  static Turn degrees(double angle) { return {std::cos(angle * pi / 180), std::sin(angle * pi / 180)}; }
  [[nodiscard]] Vec3 apply(Vec3 v) const { return {c * v.x - s * v.z, v.y, s * v.x + c * v.z}; }
  [[nodiscard]] Vec3 undo(Vec3 v) const { return {c * v.x + s * v.z, v.y, -s * v.x + c * v.z}; }
};

/// Mixes the bits of a 32-bit word (the finalizer of MurmurHash3).
constexpr std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  return x ^ (x >> 16);
}
constexpr std::uint32_t hash(std::uint32_t a, std::uint32_t b) { return hash(a * 0x9e3779b9U + hash(b)); }

constexpr double unit_interval(std::uint32_t bits) { return static_cast<double>(bits) * 0x1p-32; }

/// Returns the random number in [0, 1) of an integer cell.
inline double random_of(int a, int b = 0, int c = 0) {
  return unit_interval(hash(hash(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)),
                            static_cast<std::uint32_t>(c)));
}

/// Value noise in [0, 1]: random on the integer lattice, smooth in between.
inline double noise(Vec3 p) {
  const int x = static_cast<int>(std::floor(p.x)), y = static_cast<int>(std::floor(p.y)),
            z = static_cast<int>(std::floor(p.z));
  const auto fade = [](double t) { return t * t * (3 - 2 * t); };
  const double u = fade(p.x - x), v = fade(p.y - y), w = fade(p.z - z);
  const auto edge = [&](int j, int k) {
    return mix(random_of(x, y + j, z + k), random_of(x + 1, y + j, z + k), u);
  };
  return mix(mix(edge(0, 0), edge(1, 0), v), mix(edge(0, 1), edge(1, 1), v), w);
}

/// Octaves of noise, each of half the amplitude and twice the frequency; in [0, 1].
inline double fractal_noise(Vec3 p, int octaves) {
  double sum = 0, amplitude = 0.5, total = 0;
  for (int octave = 0; octave < octaves; ++octave) {
    sum += amplitude * noise(p);
    total += amplitude;
    amplitude *= 0.5;
    p = p * 2.03 + Vec3{17.1, 5.3, 9.7};
  }
  return sum / total;
}

constexpr std::uint32_t reverse_bits(std::uint32_t x) {
  x = (x << 16) | (x >> 16);
  x = ((x & 0x00ff00ffU) << 8) | ((x & 0xff00ff00U) >> 8);
  x = ((x & 0x0f0f0f0fU) << 4) | ((x & 0xf0f0f0f0U) >> 4);
  x = ((x & 0x33333333U) << 2) | ((x & 0xccccccccU) >> 2);
  return ((x & 0x55555555U) << 1) | ((x & 0xaaaaaaaaU) >> 1);
}

/// Owen scrambling of a reversed word by hashing (Laine and Karras 2011, constants of Vegdahl).
constexpr std::uint32_t owen_scramble(std::uint32_t x, std::uint32_t seed) {
  x = reverse_bits(x);
  x ^= x * 0x3d20adeaU;
  x += seed;
  x *= (seed >> 16) | 1U;
  x ^= x * 0x05526c56U;
  x ^= x * 0x53a22864U;
  return reverse_bits(x);
}

/// Samples of one pixel: a scrambled Sobol (0,2) sequence, shuffled anew for every use within the pixel. Any
/// power-of-two prefix is stratified for each use, and uses are independent of each other (Burley 2020).
class Sampler {
 public:
  Sampler(std::uint32_t pixel, std::uint32_t index) : seed_(hash(pixel, 0x5a7105U)), index_(index) {}

  [[nodiscard]] Vec2 next() {
    const std::uint32_t seed = hash(seed_, use_++);
    const std::uint32_t index = owen_scramble(index_, seed);
    return {unit_interval(owen_scramble(reverse_bits(index), hash(seed, 1))),
            unit_interval(owen_scramble(sobol(index), hash(seed, 2)))};
  }

 private:
  /// Second dimension of Sobol's sequence.
  static constexpr std::uint32_t sobol(std::uint32_t index) {
    std::uint32_t result = 0;
    for (std::uint32_t direction = 1U << 31; index != 0; index >>= 1, direction ^= direction >> 1) {
      if ((index & 1U) != 0) result ^= direction;
    }
    return result;
  }

  std::uint32_t seed_;
  std::uint32_t index_;
  std::uint32_t use_ = 0;
};

}  // namespace scene
