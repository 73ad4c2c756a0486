#pragma once
// A vector with inline storage: allocations while a filter is planned would take much of the time of a small
// picture.

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>

namespace satin {

/// A vector of at most `most` elements. Throws std::length_error where it would have more.
template <class T, std::size_t most>
class Few {
 public:
  Few() = default;
  explicit Few(std::size_t size) { resize(size); }
  Few(std::size_t size, const T& value) : Few(size) {
    for (T& element : *this) element = value;
  }
  explicit Few(std::span<const T> elements) : Few(elements.size()) {
    for (std::size_t i = 0; i < size_; ++i) elements_[i] = elements[i];
  }

  void resize(std::size_t size) {
    if (size > most) throw std::length_error("Few");
    for (std::size_t i = size; i < size_; ++i) elements_[i] = T();
    size_ = size;
  }
  void push_back(T element) {
    resize(size_ + 1);
    back() = std::move(element);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* data() noexcept { return elements_.data(); }
  [[nodiscard]] const T* data() const noexcept { return elements_.data(); }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t i) noexcept { return elements_[i]; }
  const T& operator[](std::size_t i) const noexcept { return elements_[i]; }
  T& front() noexcept { return elements_[0]; }
  [[nodiscard]] const T& front() const noexcept { return elements_[0]; }
  T& back() noexcept { return elements_[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return elements_[size_ - 1]; }

 private:
  std::array<T, most> elements_{};
  std::size_t size_ = 0;
};

}  // namespace satin
