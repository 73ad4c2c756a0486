#pragma once
// The machines on which the algorithms of this folder run. An algorithm is a template over the machine: the
// same code is timed on Bare, counted on Counting, and printed step by step by Counting with a trace.
//
// The model is parallel: any number of processors work in steps. together(k, body) is one step: body(0), ...,
// body(k - 1) happen at the same time, so none may read an element that another one writes. A body may itself
// call together(): a processor is then a group of processors, like a block of threads on a GPU.

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "operators.h"

namespace study {

using Index = std::int64_t;

/// The cost of a run.
struct Cost {
  Index operations = 0;  ///< applications of the operator
  Index depth = 0;       ///< length of the longest chain of dependent operations
  Index bytes = 0;       ///< traffic with memory; registers and memory on the chip are free
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// A single core, which runs the processors of a step one after the other. Counts nothing.
class Bare {
 public:
  template <class Body>
  void together(Index processors, Body body) {
    for (Index k = 0; k < processors; ++k) body(k);
  }
  template <class T>
  [[nodiscard]] T* memory(std::span<T> values) {
    return values.data();
  }
  template <class Op>
  [[nodiscard]] Op operation(Op op) {
    return op;
  }
  template <class Memory>
  void show(const char*, Index, Memory, Index) {}
  void count_scan() {}
};

/// The order in which one core runs the processors of a step. Results must not depend on it. The cost of the
/// look-back of chained.h does: in descending order no processor sees what its left neighbour does in the
/// same step.
enum class Order { ascending, descending };

/// An access or operation in an outermost step, for a picture of the network.
struct Event {
  enum class Kind { read, operation, write };
  Index step;
  Kind kind;
  Index element;
};

class Counting;

/// An element of counted memory. Reading and writing it costs its bytes.
template <class T>
class Cell {
 public:
  Cell(T* value, Index index, Counting* machine) : value_(value), index_(index), machine_(machine) {}
  Cell(const Cell&) = default;
  ~Cell() = default;
  operator std::remove_const_t<T>() const;  // NOLINT(google-explicit-constructor): a cell is its value
  const Cell& operator=(const T& value) const;
  const Cell& operator=(const Cell& other) const { return *this = static_cast<T>(other); }

 private:
  T* value_;
  Index index_;
  Counting* machine_;
};

template <class T>
class Counted {
 public:
  Counted(T* first, Counting* machine) : first_(first), machine_(machine) {}
  Cell<T> operator[](Index i) const { return {first_ + i, i, machine_}; }
  [[nodiscard]] const T& peek(Index i) const { return first_[i]; }

 private:
  T* first_;
  Counting* machine_;
};

/// The output of a trace, and the width of a printed element.
struct Trace {
  std::ostream* out = nullptr;
  int width = 4;
};

class Counting {
 public:
  explicit Counting(Order order = Order::descending, Trace trace = {}, std::vector<Event>* events = nullptr)
      : order_(order), trace_(trace), events_(events) {}

  [[nodiscard]] const Cost& cost() const { return cost_; }
  [[nodiscard]] Index scans() const { return scans_; }
  void count_scan() { ++scans_; }  ///< counts a scan of all elements, besides its operations

  /// The depth grows by that of the deepest processor.
  template <class Body>
  void together(Index processors, Body body) {
    const Index start = cost_.depth;
    Index longest = start;
    ++level_;
    for (Index k = 0; k < processors; ++k) {
      cost_.depth = start;
      body(order_ == Order::ascending ? k : processors - 1 - k);
      longest = std::max(longest, cost_.depth);
    }
    if (--level_ == 0) ++step_;
    cost_.depth = longest;
  }

  template <class T>
  [[nodiscard]] Counted<T> memory(std::span<T> values) {
    return {values.data(), this};
  }

  template <class Op>
  [[nodiscard]] auto operation(Op op) {
    return [op, this](const auto& a, const auto& b) {
      ++cost_.operations;
      ++cost_.depth;
      record(Event::Kind::operation, 0);
      return op(a, b);
    };
  }

  /// Prints the first n elements of memory as a row of the trace.
  template <class T>
  void show(const char* label, Index number, Counted<T> memory, Index n) {
    if (trace_.out == nullptr || level_ > 0) return;
    const std::string name = number < 0 ? label : label + std::to_string(number);
    *trace_.out << std::left << std::setw(14) << name << std::right;
    for (Index i = 0; i < n; ++i) *trace_.out << ' ' << std::setw(trace_.width) << text_of(memory.peek(i));
    *trace_.out << '\n';
  }
  template <class T>  // memory on the chip is not printed
  void show(const char*, Index, T*, Index) {}

  void moved(Event::Kind kind, Index element, std::size_t bytes) {
    cost_.bytes += static_cast<Index>(bytes);
    record(kind, element);
  }

 private:
  void record(Event::Kind kind, Index element) {
    if (events_ != nullptr && level_ > 0) events_->push_back({step_, kind, element});
  }

  Cost cost_;
  Index scans_ = 0;
  Order order_;
  Index level_ = 0;
  Index step_ = 0;
  Trace trace_;
  std::vector<Event>* events_;
};

template <class T>
Cell<T>::operator std::remove_const_t<T>() const {
  machine_->moved(Event::Kind::read, index_, sizeof(T));
  return *value_;
}

template <class T>
const Cell<T>& Cell<T>::operator=(const T& value) const {
  machine_->moved(Event::Kind::write, index_, sizeof(T));
  *value_ = value;
  return *this;
}

}  // namespace study
