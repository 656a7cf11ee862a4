#!/usr/bin/env bash
# Builds the tools with AddressSanitizer and UBSan in build-asan/ and runs the unit tests and the lit tests with them; arguments
# go to lit (--filter=Plan). Libraries that stock tools load have no sanitizers: they come from build/, which is built too.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

say "packages"
install_packages "${BUILD_PACKAGES[@]}" libgtest-dev libclang-rt-22-dev
python=$(test_python)

say "build"
configure -DFUSE_BUILD_UNITTESTS=ON -DPython3_EXECUTABLE="$python"
run cmake --build build
mkdir -p build-asan
cmake --preset asan -DPython3_EXECUTABLE="$python" >build-asan/configure.log
run cmake --build build-asan

say "unit tests"
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0
failed=0
build-asan/bin/FuseUnitTests --gtest_brief=1 || failed=1
say "lit"
"$python" "$LLVM_BIN/lit" -sv --show-unsupported "$@" build-asan/test || failed=1
exit "$failed"
