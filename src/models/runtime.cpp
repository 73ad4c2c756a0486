#include "models/runtime.h"

#include <dlfcn.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "satin/error.h"

namespace satin::models {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t oldest_version = 16;  ///< API of ONNX Runtime 1.16, which has all that is called
constexpr int fatal_severity = 4;             ///< the runtime prints nothing less
constexpr int plain_allocator = 0;            ///< memory without an arena, as the operating system has it
constexpr std::size_t alignment = 256;        ///< of memory, and room for its size in front of it

struct ApiBase {
  const Functions* (*functions)(std::uint32_t version);
  const char* (*version)();
};

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

/// Adds the libraries in a folder of Python packages.
void add_packages(const fs::path& folder, std::vector<fs::path>& found) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "onnxruntime" / "capi", ignored))
    if (entry.path().filename().string().starts_with("libonnxruntime.so")) found.push_back(entry.path());
}

/// Adds the libraries in lib/python3*/NAME below a folder.
void add_python(const fs::path& folder, const char* name, std::vector<fs::path>& found) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "lib", ignored))
    if (entry.path().filename().string().starts_with("python3")) add_packages(entry.path() / name, found);
}

/// Returns the files that may be the runtime. A name without a folder is searched by the dynamic linker.
std::vector<fs::path> candidates(const fs::path& told) {
  std::vector<fs::path> found;
  if (!told.empty()) {
    std::error_code ignored;
    if (!fs::is_directory(told, ignored)) return {told};
    add_packages(told, found);
    add_packages(told.parent_path(), found);  // the folder is that of the package itself
    return found;
  }
  found = {"libonnxruntime.so", "libonnxruntime.so.1"};
  if (const fs::path folder = text_of("VIRTUAL_ENV"); !folder.empty())
    add_python(folder, "site-packages", found);
  if (const fs::path home = text_of("HOME"); !home.empty())
    add_python(home / ".local", "site-packages", found);
  add_python("/usr", "dist-packages", found);
  add_python("/usr/local", "dist-packages", found);
  return found;
}

constexpr const char* remedy =
    " Install it by pip install --target DIR onnxruntime (1.20 or newer), and set SATIN_ONNXRUNTIME to DIR.";

}  // namespace

Runtime& Runtime::get() {
  static std::mutex mutex;
  static Runtime* runtime = nullptr;  // never destroyed: models may outlive every other static object
  const std::lock_guard lock(mutex);
  if (runtime == nullptr) runtime = new Runtime();
  return *runtime;
}

Runtime::Runtime() {
  const fs::path wanted = text_of("SATIN_ONNXRUNTIME");
  std::string reason = wanted.empty() ? "it was not found" : printable(wanted.native()) + " holds none";
  const ApiBase* base = nullptr;
  for (const fs::path& path : candidates(wanted)) {
    // Never unloaded: the library keeps threads and thread-local data.
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const entry = handle == nullptr ? nullptr : dlsym(handle, "OrtGetApiBase");
    if (entry == nullptr) {
      const char* text = dlerror();
      if (!wanted.empty() && text != nullptr) reason = text;
      continue;
    }
    base = reinterpret_cast<const ApiBase* (*)()>(entry)();
    functions_ = base->functions(oldest_version);
    file_ = path;
    if (functions_ != nullptr) break;
    reason = printable(path.native()) + " is version " + base->version();
  }
  if (functions_ == nullptr)
    throw Error(ErrorKind::environment, "A model needs ONNX Runtime, but " + reason + "." + remedy);
  version_ = base->version();
  check(functions_->create_environment(fatal_severity, "satin", &environment_));
  check(functions_->disable_telemetry(environment_));
  check(functions_->create_cpu_memory_info(plain_allocator, 0, &memory_));
  const auto info = [](const AllocatorTable* self) -> const MemoryInfo* {
    return static_cast<const Allocator*>(self)->runtime->memory_;
  };
  allocator_ = {{oldest_version, &allocate, &free, info}, this};
  check(functions_->register_allocator(environment_, &allocator_));
}

void* Runtime::allocate(AllocatorTable* self, std::size_t bytes) {
  Runtime& runtime = *static_cast<Allocator*>(self)->runtime;
  if (bytes == 0) return nullptr;
  const std::size_t whole = (bytes + 2 * alignment - 1) / alignment * alignment;
  const std::uint64_t limit = runtime.limit_;
  const bool too_many = limit != 0 && runtime.held_ + whole > limit;
  if (too_many) runtime.limited_ = true;
  void* const memory = too_many ? nullptr : std::aligned_alloc(alignment, whole);
  // The runtime's own allocator throws this as well, and the runtime turns it into a status.
  if (memory == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(memory) = whole;
  runtime.held_ += whole;
  return static_cast<std::byte*>(memory) + alignment;
}

void Runtime::free(AllocatorTable* self, void* memory) {
  if (memory == nullptr) return;
  void* const block = static_cast<std::byte*>(memory) - alignment;
  static_cast<Allocator*>(self)->runtime->held_ -= *static_cast<std::size_t*>(block);
  std::free(block);
}

std::string Runtime::message_of(Status* status) const {
  if (status == nullptr) return "";
  std::string message = functions_->message(status);
  functions_->release_status(status);
  return message.empty() ? "unknown error" : message;
}

void Runtime::check(Status* status) const {
  if (status != nullptr) throw Error(ErrorKind::environment, "ONNX Runtime: " + message_of(status));
}

}  // namespace satin::models
