#!/usr/bin/env bash
# oracle.sh PYTHON TOOLS MODULE SCRATCH ENTRY...: fuse-run against run_mlir.py.
set -euo pipefail
python=$1 tools=$2 module=$3 scratch=$4
shift 4
for entry in "$@"; do
  printf '%s\n' "$entry"
  "$python" "$tools/wrap_main.py" "$module" -o "$scratch/$entry.mlir" --entry="$entry"
  "$python" "$tools/run_mlir.py" "$scratch/$entry.mlir" --save-dir="$scratch/$entry.ref"
  fuse-run "$module" --entry="$entry" --repeat=0 --save-outputs="$scratch/$entry.out"
  "$python" "$tools/compare.py" "$scratch/$entry.ref" "$scratch/$entry.out"
done
