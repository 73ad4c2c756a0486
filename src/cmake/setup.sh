# Sourced by samples/run and tests/run: the packages that a build needs, and where to build.

satin_python_packages="python3-dev python3-venv"
satin_build_packages="g++ cmake ninja-build ccache libhwy-dev libtbb-dev libcli11-dev nlohmann-json3-dev libstb-dev
  libpng-dev libjpeg-dev libtiff-dev libopenexr-dev liblcms2-dev libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev"
satin_test_packages="clang clang-format doxygen dpkg-dev libdlpack-dev libgtest-dev pkg-config python3 python3-pytest python3-numpy python3-pil valgrind"

# install_packages NAME...: installs those that are missing, as root or through sudo.
install_packages() {
  local missing=() name as_root=()
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "Satin needs these Debian packages, or what your system calls them: ${missing[*]}" >&2
    return 0
  fi
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Missing packages: ${missing[*]}. Install them as root: apt-get install ${missing[*]}" >&2
      return 3
    fi
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null
}

# build_folder ROOT: ROOT/.build, or one of the user's own where that one is not writable.
build_folder() {
  local folder="$1/.build"
  if mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ]; then
    echo "$folder"
  elif mkdir -p "$folder-$(id -un)" 2>/dev/null && [ -w "$folder-$(id -un)" ]; then
    echo "$folder-$(id -un)"
  else
    folder="${XDG_CACHE_HOME:-$HOME/.cache}/satin-build"
    mkdir -p "$folder"
    echo "$folder"
  fi
}

# cache_objects ROOT BUILD: what one build under BUILD compiled, the others take: most of their objects are the same.
# A launcher that the user has set stays.
cache_objects() {
  command -v ccache >/dev/null || return 0
  export CCACHE_DIR="${CCACHE_DIR:-$2/ccache}" CCACHE_BASEDIR="$1" CCACHE_NOHASHDIR=1
  export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}"
  export CMAKE_CUDA_COMPILER_LAUNCHER="${CMAKE_CUDA_COMPILER_LAUNCHER:-ccache}"
}

# find_nvcc: puts nvcc on the PATH where the toolkit is in its usual place.
find_nvcc() {
  command -v nvcc >/dev/null && return 0
  [ -x /usr/local/cuda/bin/nvcc ] || return 1
  PATH="$PATH:/usr/local/cuda/bin"
  export PATH
}
