# Sourced by the scripts of this folder: packages, Python, and what they print.
# shellcheck shell=bash
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LLVM_BIN=/usr/lib/llvm-22/bin
# What a build needs; Debian 12 has LLVM 22 in its security suite.
BUILD_PACKAGES=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22 libomp-22-dev
  libboost-context-dev cmake ninja-build ccache python3)
# The precompiled header is the same for every file, whenever it was made.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Prints a command as it could be typed, then runs it.
run() {
  printf '$ %s\n' "$*"
  "$@"
}

# Configures build/ with "$@" added to the default preset; what CMake says goes to build/configure.log.
configure() {
  mkdir -p build
  printf '$ cmake --preset default%s\n' "${*:+ $*}"
  if ! cmake --preset default "$@" >build/configure.log 2>&1; then
    tail -n 30 build/configure.log >&2
    fail "cmake could not configure; all of its output is in build/configure.log"
  fi
}

# The packages of "$@" that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || printf '%s\n' "$package"
  done
}

# Runs apt-get as root; its output goes to build/apt.log.
apt_get() {
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "neither root nor sudo; run as root: apt-get install $*"
    as_root=(sudo)
  fi
  mkdir -p "$ROOT/build"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >>"$ROOT/build/apt.log" 2>&1 </dev/null
}

# Installs what is missing of "$@"; touches nothing if all is there.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  command -v apt-get >/dev/null || fail "no apt-get on this machine; install by hand: ${missing[*]}"
  say "installing ${missing[*]}"
  apt_get update || say "apt-get update failed (build/apt.log); trying with the package lists at hand"
  if ! apt_get install --no-install-recommends "${missing[@]}"; then
    tail -n 15 "$ROOT/build/apt.log" >&2
    fail "apt-get could not install ${missing[*]}; LLVM 22 comes from Debian 12's security suite (bookworm-security)"
  fi
}

# The interpreter of the tests: the first of the default one and Debian's that has numpy, which is installed if none has it.
test_python() {
  local candidate
  for candidate in "$(command -v python3)" /usr/bin/python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  install_packages python3-numpy >&2
  /usr/bin/python3 -c 'import numpy' 2>/dev/null ||
    fail "python3-numpy is installed, but neither python3 nor /usr/bin/python3 can import numpy"
  printf '/usr/bin/python3\n'
}
