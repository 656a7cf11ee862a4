#!/usr/bin/env bash
# From a fresh Debian 12 to the verdicts on ResNet-18: installs the packages that are missing (root or sudo), builds
# fuse-opt, fuse-run and the plugin in build/, and runs them on benchmarks/models/resnet18.linalg.mlir. Needs no GPU.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

say "1/3 packages of LLVM and MLIR 22"
install_packages "${BUILD_PACKAGES[@]}"

say "2/3 building fuse-opt, fuse-run and FusePlugin in $ROOT/build"
configure -DFUSE_BUILD_UNITTESTS=OFF
run cmake --build build --target fuse-opt fuse-run FusePlugin

say "3/3 verdicts on ResNet-18, run in $ROOT"
run build/bin/fuse-opt --fuse-mark-params=args=1- --fuse-boundary --fuse-conv-bn --fuse-explain \
  benchmarks/models/resnet18.linalg.mlir -o build/resnet18.fused.mlir

say "done in $SECONDS s; the program with its verdicts is build/resnet18.fused.mlir, docs/QuickStart.md reads the table"
