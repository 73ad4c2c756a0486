# Sourced by samples/run, tests/run and tests/try: packages that a build needs, build folders, caches and
# targets.

satin_python_packages="python3-dev python3-venv"
satin_build_packages="g++ cmake make ninja-build ccache dpkg-dev file libhwy-dev libtbb-dev libcli11-dev nlohmann-json3-dev libstb-dev
  libboost-dev libexpat1-dev frei0r-plugins-dev libheif-dev libpng-dev libjpeg-dev libtiff-dev libopenexr-dev liblcms2-dev libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev"
satin_test_packages="chromium chromium-driver clang clang-format doxygen ffmpeg gegl libdlpack-dev libgegl-dev libgtest-dev libheif-examples libimage-exiftool-perl libtiff-tools libvips-dev libvips-tools lld melt openexr parallel pkg-config python3 python3-pytest python3-numpy python3-pil python3-selenium valgrind"

# apt_get ARGUMENT...: runs apt-get as root or through sudo. Waits up to ten minutes while another program
# installs.
apt_get() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 "$@" >/dev/null
}

# install_packages NAME...: installs missing packages, as root or through sudo. One of any architecture will do, unless
# NAME has one, such as libhwy-dev:arm64.
install_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -x installed >/dev/null || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "Satin needs these Debian packages, or what your system calls them: ${missing[*]}" >&2
    return 0
  fi
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "Missing packages: ${missing[*]}. Install them as root: apt-get install ${missing[*]}" >&2
    return 3
  fi
  echo "Installing ${missing[*]}, after what else is being installed"
  apt_get update && apt_get install -y --no-install-recommends "${missing[@]}"
}

# debian_mirror: prints the mirror for Debian 12 of this machine, or nothing on other systems.
debian_mirror() {
  command -v apt-get >/dev/null || return 0
  apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "bookworm" && $2 == "main" { print $3; exit }'
}

# build_folder ROOT: prints ROOT/.build, or a folder of the user if that is not writable.
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

# cache_objects ROOT BUILD: shares compiled objects between the builds under BUILD, most of whose objects are
# equal. Without the sloppiness ccache would cache nothing that uses precompiled headers. A launcher that the
# user has set is kept.
cache_objects() {
  command -v ccache >/dev/null || return 0
  export CCACHE_DIR="${CCACHE_DIR:-$2/ccache}" CCACHE_BASEDIR="$1" CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros
  export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}"
  export CMAKE_CUDA_COMPILER_LAUNCHER="${CMAKE_CUDA_COMPILER_LAUNCHER:-ccache}"
}

# other_targets: prints Highway's SIMD targets that the processor of this machine does not need, for
# SATIN_DISABLED_TARGETS. Such builds run everywhere and compile in less time. The baseline stays, and AVX2,
# which instructions are counted with. Prints nothing for other processors.
other_targets() {
  local flags
  flags=$(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null) || return 0
  case " $flags " in
    *' avx512bw '*) echo HWY_SSSE3+HWY_SSE4 ;;
    *' avx2 '*) echo HWY_SSSE3+HWY_SSE4+HWY_AVX2-1 ;;
  esac
}

# build_targets BUILD TARGET...: builds. Shows progress on a terminal, and otherwise nothing unless it fails.
build_targets() {
  local build=$1
  shift
  if [ -t 1 ]; then
    NINJA_STATUS='  %f of %t, %e s  ' cmake --build "$build" --target "$@"
  else
    cmake --build "$build" --target "$@" >"$build.log" 2>&1 || { tail -40 "$build.log"; return 1; }
  fi
}

# find_nvcc: puts nvcc on the PATH if the toolkit is in its usual folder.
find_nvcc() {
  command -v nvcc >/dev/null && return 0
  [ -x /usr/local/cuda/bin/nvcc ] || return 1
  PATH="$PATH:/usr/local/cuda/bin"
  export PATH
}
