#pragma once
// Operations: what a backend can compute. A job describes an operation; the backend prepares it once, which
// allocates its workspace, and runs it often. Views given to run() are single frames, interleaved, with any
// row stride, in memory of the backend.

#include <any>
#include <cstddef>
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>

#include "satin/stream.h"
#include "satin/view.h"

namespace satin {

struct Backend;

struct Operation {
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;
  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept { return 0; }
};

template <class Job>
using Prepared = std::unique_ptr<typename Job::Operation>;

/// Prepares the operation that a job describes. May throw Error(environment). Returns null where a
/// sequence of other operations serves this job as well.
template <class Job>
using Prepare = Prepared<Job> (*)(Backend& backend, const Job& job);

/// The operations of a backend: a function for each type of job.
class Operations {
 public:
  template <class Job>
  void add(Prepare<Job> prepare) {
    functions_[typeid(Job)] = prepare;
  }
  /// Returns null if the backend does not have the operation.
  template <class Job>
  [[nodiscard]] Prepare<Job> find() const {
    const auto found = functions_.find(typeid(Job));
    return found == functions_.end() ? nullptr : std::any_cast<Prepare<Job>>(found->second);
  }

  /// Adds a table of functions that need no preparation. The table outlives the backend.
  template <class Table>
  void add_table(const Table& table) {
    tables_[typeid(Table)] = &table;
  }
  template <class Table>
  [[nodiscard]] const Table& table() const {
    return *std::any_cast<const Table*>(tables_.at(typeid(Table)));
  }

 private:
  std::unordered_map<std::type_index, std::any> tables_;
  std::unordered_map<std::type_index, std::any> functions_;
};

}  // namespace satin
