#pragma once
// ONNX Runtime, which is loaded when a model first needs it and never linked.
//
// Its C API is a table of functions whose order is documented and never changes (onnxruntime_c_api.h, under
// the MIT licence). Debian 12 and PyPI have no package with that header, so the functions that Satin calls
// are declared here, at their places in the table.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace satin::models {

// Types that only the runtime knows.
struct Status;
struct Environment;
struct Session;
struct SessionOptions;
struct RunOptions;
struct Value;
struct TypeInfo;
struct TensorInfo;
struct MemoryInfo;

/// Types of a tensor's elements that Satin reads or writes.
enum ElementType : int { element_f32 = 1, element_u8 = 2 };

/// An allocator as the runtime calls it.
struct AllocatorTable {
  std::uint32_t version;  ///< version of the table; later versions have more members
  void* (*allocate)(AllocatorTable* self, std::size_t bytes);
  void (*free)(AllocatorTable* self, void* memory);
  const MemoryInfo* (*info)(const AllocatorTable* self);
};

/// The runtime's table of functions. Comments are the positions of the members that follow.
struct Functions {
  const void* unused_0[2];
  const char* (*message)(const Status*);                                             // 2
  Status* (*create_environment)(int severity, const char* name, Environment** out);  // 3
  const void* unused_4[2];
  Status* (*disable_telemetry)(const Environment*);                                                       // 6
  Status* (*create_session)(const Environment*, const char* path, const SessionOptions*, Session** out);  // 7
  const void* unused_8;
  Status* (*run)(Session*, const RunOptions*, const char* const* inputs, const Value* const* values,
                 std::size_t input_count, const char* const* outputs, std::size_t output_count,
                 Value** results);                          // 9
  Status* (*create_session_options)(SessionOptions** out);  // 10
  const void* unused_11[13];
  Status* (*set_threads)(SessionOptions*, int count);  // 24
  const void* unused_25[5];
  Status* (*input_count)(const Session*, std::size_t* out);   // 30
  Status* (*output_count)(const Session*, std::size_t* out);  // 31
  const void* unused_32;
  Status* (*input_type)(const Session*, std::size_t index, TypeInfo** out);   // 33
  Status* (*output_type)(const Session*, std::size_t index, TypeInfo** out);  // 34
  const void* unused_35;
  Status* (*input_name)(const Session*, std::size_t index, AllocatorTable*, char** out);   // 36
  Status* (*output_name)(const Session*, std::size_t index, AllocatorTable*, char** out);  // 37
  const void* unused_38;
  Status* (*create_run_options)(RunOptions** out);  // 39
  const void* unused_40[6];
  Status* (*set_terminate)(RunOptions*);  // 46
  const void* unused_47[2];
  Status* (*create_tensor)(const MemoryInfo*, void* data, std::size_t bytes, const std::int64_t* shape,
                           std::size_t dimensions, int element_type, Value** out);  // 49
  const void* unused_50;
  Status* (*tensor_data)(Value*, void** out);  // 51
  const void* unused_52[3];
  Status* (*tensor_of_type)(const TypeInfo*, const TensorInfo** out);  // 55
  const void* unused_56[4];
  Status* (*element_type)(const TensorInfo*, int* out);                                // 60
  Status* (*dimension_count)(const TensorInfo*, std::size_t* out);                     // 61
  Status* (*dimensions)(const TensorInfo*, std::int64_t* out, std::size_t count);      // 62
  Status* (*dimension_names)(const TensorInfo*, const char** out, std::size_t count);  // 63
  const void* unused_64;
  Status* (*tensor_of_value)(const Value*, TensorInfo** out);  // 65
  const void* unused_66[3];
  Status* (*create_cpu_memory_info)(int allocator_type, int memory_type, MemoryInfo** out);  // 69
  const void* unused_70[6];
  Status* (*allocator_free)(AllocatorTable*, void* memory);  // 76
  const void* unused_77;
  Status* (*default_allocator)(AllocatorTable** out);  // 78
  const void* unused_79[14];
  void (*release_status)(Status*);                   // 93
  void (*release_memory_info)(MemoryInfo*);          // 94
  void (*release_session)(Session*);                 // 95
  void (*release_value)(Value*);                     // 96
  void (*release_run_options)(RunOptions*);          // 97
  void (*release_type_info)(TypeInfo*);              // 98
  void (*release_tensor_info)(TensorInfo*);          // 99
  void (*release_session_options)(SessionOptions*);  // 100
  const void* unused_101[29];
  Status* (*add_session_entry)(SessionOptions*, const char* key, const char* value);  // 130
  const void* unused_131[45];
  Status* (*register_allocator)(Environment*, AllocatorTable*);  // 176
};

constexpr std::size_t place(std::size_t offset) { return offset / sizeof(void*); }
static_assert(place(offsetof(Functions, run)) == 9 && place(offsetof(Functions, set_threads)) == 24 &&
              place(offsetof(Functions, output_name)) == 37 &&
              place(offsetof(Functions, create_tensor)) == 49 &&
              place(offsetof(Functions, element_type)) == 60 &&
              place(offsetof(Functions, default_allocator)) == 78 &&
              place(offsetof(Functions, release_status)) == 93 &&
              place(offsetof(Functions, add_session_entry)) == 130 &&
              place(offsetof(Functions, register_allocator)) == 176);

/// The loaded runtime, of which a process has one.
class Runtime {
 public:
  /// Loads the runtime on the first call: from SATIN_ONNXRUNTIME, a file or the folder in which pip installed
  /// it, or else from the usual places. Throws Error(environment) with the remedy.
  [[nodiscard]] static Runtime& get();

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const Functions& functions() const noexcept { return *functions_; }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
  [[nodiscard]] const Environment* environment() const noexcept { return environment_; }
  [[nodiscard]] const MemoryInfo* memory() const noexcept { return memory_; }

  /// Returns the message of a status, and releases it; empty for success.
  [[nodiscard]] std::string message_of(Status* status) const;
  /// Throws Error(environment) for an unsuccessful call that never depends on the model.
  void check(Status* status) const;

  /// Held while a session is opened or runs, so that the memory counted meanwhile is its own.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  /// Returns the bytes that sessions hold.
  [[nodiscard]] std::uint64_t held() const noexcept { return held_; }
  /// Sets the largest number of bytes that sessions may hold; 0 for no limit.
  void limit(std::uint64_t bytes) noexcept { limit_ = bytes; }
  /// Returns whether memory beyond the limit was asked for since the last call.
  [[nodiscard]] bool was_limited() noexcept { return limited_.exchange(false); }

 private:
  Runtime();

  struct Allocator : AllocatorTable {
    Runtime* runtime;
  };
  static void* allocate(AllocatorTable* self, std::size_t bytes);
  static void free(AllocatorTable* self, void* memory);

  const Functions* functions_ = nullptr;
  std::string version_;
  std::filesystem::path file_;
  Environment* environment_ = nullptr;
  MemoryInfo* memory_ = nullptr;
  Allocator allocator_{};
  std::mutex mutex_;
  std::atomic<std::uint64_t> held_{0};
  std::atomic<std::uint64_t> limit_{0};
  std::atomic<bool> limited_{false};
};

/// An object of the runtime, released by one of its functions.
template <class Object>
using Owned = std::unique_ptr<Object, void (*)(Object*)>;

/// Returns what `create(Object** out)` makes. Throws as Runtime::check().
template <class Object, class Create>
[[nodiscard]] Owned<Object> owned(const Runtime& runtime, void (*release)(Object*), const Create& create) {
  Object* object = nullptr;
  runtime.check(create(&object));
  return {object, release};
}

}  // namespace satin::models
