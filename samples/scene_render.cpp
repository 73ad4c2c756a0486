// The ray tracer: recursive (Whitted 1980), with sampled area lights (Cook, Porter and Carpenter 1984).
// Renderer follows one ray; Film decides how many rays a pixel needs.

#include "scene_render.h"

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "scene_tone.h"

namespace scene {
namespace {

constexpr int max_bounces = 3;
/// Reflections with less than this share of the pixel are omitted.
constexpr double least_weight = 0.018;
/// Surfaces rougher than this reflect the empty room.
constexpr double dull_roughness = 0.3;
/// Surfaces rougher than this get the highlights of the lights in closed form, without a reflected ray.
constexpr double mirror_roughness = 0.04;

/// Schlick's approximation (1994).
Vec3 fresnel(Vec3 specular, double cosine) {
  const double c = saturate(1 - cosine), c2 = c * c;
  return specular + (Vec3{1, 1, 1} - specular) * (c2 * c2 * c);
}

/// Lobe of Trowbridge and Reitz (GGX) with Smith's shadowing, over 4 (n.l)(n.v); alpha is the squared
/// roughness.
double microfacet(double nl, double nv, double nh, double alpha) {
  const double a2 = alpha * alpha, base = nh * nh * (a2 - 1) + 1;
  const auto smith = [a2](double c) { return c + std::sqrt(a2 + (1 - a2) * c * c); };
  return a2 / (pi * base * base) / (smith(nl) * smith(nv));
}

struct Basis {
  Vec3 x, y, z;

  /// Duff et al. 2017.
  explicit Basis(Vec3 n) : z(n) {
    const double sign = std::copysign(1.0, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
    x = {1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
    y = {b, sign + n.y * n.y * a, -n.y};
  }
};

/// Samples a normal of the microsurface around `normal`, distributed as GGX.
Vec3 sample_microfacet(Vec3 normal, double alpha, Vec2 u) {
  const double cosine2 = (1 - u.x) / (1 + (alpha * alpha - 1) * u.x), cosine = std::sqrt(cosine2);
  const double sine = std::sqrt(std::max(0.0, 1 - cosine2)), angle = 2 * pi * u.y;
  const Basis basis(normal);
  return basis.x * (sine * std::cos(angle)) + basis.y * (sine * std::sin(angle)) + basis.z * cosine;
}

/// Perturbs an upright normal by slow waves, a few for each square of the board.
Vec3 wavy(Vec3 normal, Vec3 local, double slope) {
  const Vec3 p = local * 65.0;
  return normalize(normal + Vec3{noise(p) - 0.5, 0, noise(p + Vec3{31, 17, 5}) - 0.5} * slope);
}

Vec3 size_of_shape(const Shape& shape) {
  if (const auto* box = std::get_if<Box>(&shape)) return box->half;
  if (const auto* lathe = std::get_if<Lathe>(&shape)) return {0, lathe->height(), 0};
  return {};
}

/// The dark room behind the camera: warm near the ceiling, dim below.
Vec3 room(Vec3 direction) {
  const double up = 0.5 + 0.5 * direction.y, right = saturate(direction.x);
  const Vec3 warm = mix({0.020, 0.012, 0.008}, {0.15, 0.10, 0.065}, smoothstep(0.35, 1.0, up));
  const Vec3 behind = Vec3{0.20, 0.135, 0.08} * smoothstep(0.5, 1.0, -direction.z);
  return warm + behind + Vec3{0.01, 0.022, 0.035} * right;
}

class Renderer {
 public:
  /// `pixel_angle`: the side of a pixel at distance 1, for textures without finer detail.
  Renderer(const Scene& scene, double pixel_angle);

  [[nodiscard]] Hit intersect(const Ray& ray) const { return hierarchy_.intersect(ray); }
  /// Returns the radiance that arrives along the ray from the hit.
  [[nodiscard]] Vec3 radiance(const Ray& ray, const Hit& hit, Sampler& sampler) const {
    return hit ? shade(ray, hit, sampler, {}) : Vec3{};
  }

 private:
  /// A ball in place of a part of an object, for ambient occlusion.
  struct Occluder {
    Vec3 centre;
    double radius = 0;
    const Object* object = nullptr;
  };

  /// The path from the camera to the origin of a ray.
  struct Path {
    int bounces = 0;
    double weight = 1;  ///< share of the pixel's light that the ray carries
    double length = 0;
    bool sees_lights =
        false;  ///< whether the ray can hit the lights; otherwise highlights are in closed form
  };

  [[nodiscard]] Vec3 trace(const Ray& ray, Sampler& sampler, const Path& path) const;
  [[nodiscard]] Vec3 shade(const Ray& ray, const Hit& hit, Sampler& sampler, Path path) const;
  [[nodiscard]] Vec3 direct(const Hit& hit, const Surface& surface, Vec3 view, Sampler& sampler,
                            int bounces) const;
  [[nodiscard]] Vec3 from_bulbs(const Hit& hit) const;
  [[nodiscard]] Vec3 ambient(const Hit& hit) const;
  [[nodiscard]] double openness(const Hit& hit) const;
  [[nodiscard]] Vec3 surroundings(const Ray& ray, double limit, bool sees_lights) const;
  void add_occluders(const Object& object);

  const Scene& scene_;
  double pixel_angle_;
  Hierarchy hierarchy_;
  std::vector<Occluder> occluders_;
};

Renderer::Renderer(const Scene& scene, double pixel_angle)
    : scene_(scene), pixel_angle_(pixel_angle), hierarchy_(scene.objects) {
  for (const Object& object : scene.objects) add_occluders(object);
}

void Renderer::add_occluders(const Object& object) {
  if (const auto* sphere = std::get_if<Sphere>(&object.shape); sphere != nullptr && sphere->radius > 0.015) {
    occluders_.push_back({object.position, sphere->radius, &object});
  }
  if (const auto* lathe = std::get_if<Lathe>(&object.shape)) {
    for (double low = 0; low < lathe->height();) {
      const double radius = 0.9 * lathe->radius_between(low, low + 0.012);
      occluders_.push_back({object.position + Vec3{0, low + 0.7 * radius, 0}, radius, &object});
      low += std::max(1.6 * radius, 0.008);
    }
  }
}

Vec3 Renderer::trace(const Ray& ray, Sampler& sampler, const Path& path) const {
  const Hit hit = hierarchy_.intersect(ray);
  const Vec3 lights = surroundings(ray, hit.t, path.sees_lights);
  const Vec3 light = hit && luminance(lights) <= 0 ? shade(ray, hit, sampler, path) : lights;
  const double brightest = path.bounces > 1 ? 1.5 : path.sees_lights ? 60 : 6;  // brighter samples are noise
  return light * std::min(1.0, brightest / std::max(1e-9, luminance(light)));
}

/// Returns the light that a reflected ray receives from the lights nearer than `limit`, or from the room if
/// it hits nothing.
Vec3 Renderer::surroundings(const Ray& ray, double limit, bool sees_lights) const {
  if (sees_lights) {
    for (const RectangleLight& light : scene_.lights) {
      const Vec3 normal = normalize(cross(light.u, light.v));
      const double slope = dot(normal, ray.direction);
      const double t = dot(normal, light.centre - ray.origin) / slope;
      if (!(t > 0 && t < limit)) continue;
      const Vec3 p = ray.at(t) - light.centre;
      const double u = dot(p, light.u) / dot(light.u, light.u), v = dot(p, light.v) / dot(light.v, light.v);
      const bool pane = std::abs(u) > 0.05 && std::abs(v) > 0.04;  // glazing bars
      if (std::abs(u) < 1 && std::abs(v) < 1 && pane) return light.radiance;
    }
  }
  return limit == infinity ? room(ray.direction) : Vec3{};
}

Vec3 Renderer::shade(const Ray& ray, const Hit& hit, Sampler& sampler, Path path) const {
  const Vec3 view = -ray.direction;
  const double facing = dot(hit.normal, view);
  path.length += hit.t;
  const Material& material = scene_.materials[static_cast<std::size_t>(hit.object->material)];
  const View seen{facing, path.length * pixel_angle_ / std::max(0.3, facing)};
  const Surface surface =
      surface_at(material, hit.local, hit.local_normal, size_of_shape(hit.object->shape), seen);
  if (luminance(surface.emission) > 0) return surface.emission;

  Vec3 result = surface.albedo * ambient(hit) + direct(hit, surface, view, sampler, path.bounces);
  if (path.bounces == 0) result += surface.albedo * from_bulbs(hit);
  if (surface.roughness > dull_roughness) {
    return result + fresnel(surface.specular, 0.8) * room(reflect(ray.direction, hit.normal)) * openness(hit);
  }

  const bool mirror = surface.roughness <= mirror_roughness || path.bounces > 0;
  Vec3 normal = surface.waviness > 0 ? wavy(hit.normal, hit.local, surface.waviness) : hit.normal;
  if (!mirror) normal = sample_microfacet(hit.normal, surface.roughness * surface.roughness, sampler.next());
  if (dot(normal, view) <= 0) normal = hit.normal;
  const Vec3 share = fresnel(surface.specular, std::abs(dot(normal, view)));
  path.weight *= std::max({share.x, share.y, share.z});
  if (++path.bounces > max_bounces || path.weight < least_weight) return result;
  path.sees_lights = surface.roughness <= mirror_roughness;

  Vec3 direction = reflect(ray.direction, normal);
  const double above = dot(direction, hit.normal);
  if (above < 0.01) direction = normalize(direction + hit.normal * (0.02 - above));
  return result + share * trace({hit.position + hit.normal * surface_offset, direction}, sampler, path);
}

Vec3 Renderer::direct(const Hit& hit, const Surface& surface, Vec3 view, Sampler& sampler,
                      int bounces) const {
  Vec3 result;
  const Vec3 start = hit.position + hit.normal * (4 * surface_offset);
  const double nv = std::max(1e-3, dot(hit.normal, view));
  for (const RectangleLight& light : scene_.lights) {
    const bool shadows = bounces == 0 || !light.soft;
    const Vec2 sample = sampler.next();
    const Vec3 point = light.centre + light.u * (2 * sample.x - 1) + light.v * (2 * sample.y - 1);
    const Vec3 to = point - start, area = cross(light.u, light.v) * 4.0;
    const double distance = length(to);
    const Vec3 l = to * (1 / distance);
    const double nl = dot(hit.normal, l), shining = -dot(area, l);
    if (nl <= 0 || shining <= 0) continue;
    if (shadows && hierarchy_.occluded({start, l}, distance)) continue;
    const Vec3 irradiance = light.radiance * (nl * shining / (distance * distance));
    result += surface.albedo * irradiance * (1 / pi);
    if (surface.roughness > mirror_roughness) {
      const Vec3 half = normalize(l + view);
      const double alpha = surface.roughness * surface.roughness;
      result += irradiance * fresnel(surface.specular, dot(half, view)) *
                microfacet(nl, nv, dot(half, hit.normal), alpha);
    }
  }
  return result;
}

Vec3 Renderer::from_bulbs(const Hit& hit) const {
  Vec3 result;
  for (const PointLight& bulb : scene_.bulbs) {
    const Vec3 to = bulb.position - hit.position;
    const double square = dot(to, to), nl = dot(hit.normal, to);
    if (nl > 0) result += bulb.intensity * (nl / (square * std::sqrt(square)) / pi);
  }
  return result;
}

/// Light of the room on a surface: warm from above, cool from the window, brown from the table.
Vec3 Renderer::ambient(const Hit& hit) const {
  const Vec3 n = hit.normal;
  const Vec3 above = Vec3{0.080, 0.066, 0.058} * (0.5 + 0.5 * n.y);
  const Vec3 window = Vec3{0.045, 0.062, 0.095} * (0.5 + 0.5 * dot(n, {0.55, 0.25, 0.797}));
  const Vec3 table = Vec3{0.060, 0.030, 0.014} * (0.5 - 0.5 * n.y);
  return (above + window + table) * openness(hit);
}

/// Ambient occlusion by balls: each occludes (n.d) r^2 / d^2 of the light.
double Renderer::openness(const Hit& hit) const {
  double open = 1;
  for (const Occluder& occluder : occluders_) {
    if (occluder.object == hit.object) continue;
    const Vec3 to = occluder.centre - hit.position;
    const double square = dot(to, to), r2 = occluder.radius * occluder.radius;
    if (square > 60 * r2) continue;
    const double cosine = dot(hit.normal, to) / std::sqrt(square);
    const double fade = 1 - square / (60 * r2);
    open *= 1 - saturate(0.25 + 0.75 * cosine) * std::min(1.0, r2 / square) * fade * 0.85;
  }
  return open;
}

struct Pass {
  std::uint32_t samples;  ///< samples of a pixel after the pass, a power of two for stratification
  double tolerance;       ///< standard error of the displayed luminance above which a pixel needs more
};
/// The tolerance grows because the error of stratified samples falls faster than their standard error.
constexpr std::array<Pass, 4> passes{{{4, 0.012}, {8, 0.018}, {16, 0.045}, {32, 0}}};

struct Pixel {
  Vec3 radiance;
  double subject = 0, shown = 0, shown2 = 0;
  std::uint32_t samples = 0;
};

void parallel_rows(int height, unsigned threads, const std::function<void(int)>& work) {
  std::atomic<int> next{0};
  const auto loop = [&] {
    for (int y = next++; y < height; y = next++) work(y);
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(loop);
  loop();
}

double standard_error(const Pixel& pixel) {
  const double n = pixel.samples, mean = pixel.shown / n;
  return std::sqrt(std::max(0.0, pixel.shown2 / n - mean * mean) / (n - 1));
}

class Film {
 public:
  Film(const Renderer& renderer, const Camera& camera, int width, int height)
      : renderer_(renderer), camera_(camera), width_(width), height_(height) {
    pixels_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    wanted_.assign(pixels_.size(), true);
  }

  void sample(unsigned threads) {
    for (const Pass& pass : passes) {
      parallel_rows(height_, threads, [&](int y) {
        for (int x = 0; x < width_; ++x) {
          if (wanted_[index(x, y)] != 0) refine(x, y, pass.samples);
        }
      });
      parallel_rows(height_, threads, [&](int y) {
        for (int x = 0; x < width_; ++x) wanted_[index(x, y)] = needs_more(x, y, pass.tolerance);
      });
    }
  }

  [[nodiscard]] Picture develop(unsigned threads) const {
    Picture picture{width_, height_, std::vector<Vec3>(pixels_.size()), std::vector<double>(pixels_.size()),
                    std::vector<double>(pixels_.size())};
    parallel_rows(height_, threads, [&](int y) {
      for (int x = 0; x < width_; ++x) {
        const std::size_t i = index(x, y);
        const Pixel& pixel = pixels_[i];
        picture.radiance[i] = pixel.radiance * (1.0 / pixel.samples);
        picture.subject[i] = pixel.subject / pixel.samples;
        picture.depth[i] = camera_.depth(renderer_.intersect(camera_.ray(x + 0.5, y + 0.5)).position);
      }
    });
    return picture;
  }

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  void refine(int x, int y, std::uint32_t samples) {
    Pixel& pixel = pixels_[index(x, y)];
    for (; pixel.samples < samples; ++pixel.samples) {
      Sampler sampler(static_cast<std::uint32_t>(index(x, y)), pixel.samples);
      const Vec2 offset = sampler.next();
      const Ray ray = camera_.ray(x + offset.x, y + offset.y);
      const Hit hit = renderer_.intersect(ray);
      const Vec3 radiance = renderer_.radiance(ray, hit, sampler);
      const double shown = luminance(tone_map(radiance));
      pixel.radiance += radiance;
      pixel.subject += hit && hit.object->subject ? 1 : 0;
      pixel.shown += shown;
      pixel.shown2 += shown * shown;
    }
  }

  /// Looks at the neighbours too, because a few samples can agree by chance.
  [[nodiscard]] char needs_more(int x, int y, double tolerance) const {
    double error = 0;
    bool edge = false;
    for (int v = std::max(0, y - 1); v <= std::min(height_ - 1, y + 1); ++v) {
      for (int u = std::max(0, x - 1); u <= std::min(width_ - 1, x + 1); ++u) {
        const Pixel& pixel = pixels_[index(u, v)];
        error = std::max(error, standard_error(pixel) * (u == x && v == y ? 1 : 0.6));
        edge = edge || (pixel.subject > 0 && pixel.subject < pixel.samples);
      }
    }
    return error > tolerance || edge ? 1 : 0;
  }

  const Renderer& renderer_;
  const Camera& camera_;
  int width_, height_;
  std::vector<Pixel> pixels_;
  std::vector<char> wanted_;
};

}  // namespace

Picture render(const Scene& scene, const Camera& camera, int width, int height, unsigned threads) {
  const Renderer renderer(scene, camera.pixel_angle());
  Film film(renderer, camera, width, height);
  film.sample(threads);
  return film.develop(threads);
}

}  // namespace scene
