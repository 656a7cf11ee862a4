#!/usr/bin/env bash
# Builds everything and runs every test: unit tests, lit, and the format and lint checks. Installs the packages that are
# missing (root or sudo). Names each part that it skips, and closes with one line: N passed, N failed, N skipped.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"
[[ $ROOT != *[[:space:]]* ]] || fail "lit cannot run in a folder whose path has a space: $ROOT"

passed=0 failed=0 skipped=0

finish() {
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((failed == 0)) || exit 1
  exit 0
}

# Adds the results in the JSON file $1.
add_results() {
  local p f s
  read -r p f s < <("$python" scripts/tally.py "$1")
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

skip() {
  printf 'skipped: %s (%s)\n' "$1" "$2"
  skipped=$((skipped + 1))
}

# check NAME COMMAND...: one check, by its exit status.
check() {
  local name=$1
  shift
  say "$name"
  if "$@"; then
    passed=$((passed + 1))
  else
    printf 'failed: %s\n' "$name"
    failed=$((failed + 1))
  fi
}

# ruff from PATH, or from a virtual environment in build/ if one can be made.
find_ruff() {
  if command -v ruff >/dev/null; then
    command -v ruff
  elif [[ -x build/venv/bin/ruff ]] ||
    { "$python" -m venv build/venv && build/venv/bin/pip install -q ruff; } >build/venv.log 2>&1; then
    printf 'build/venv/bin/ruff\n'
  fi
}

# Names the C++ files that clang-format would change.
check_format() {
  local file changed=0
  while IFS= read -r -d '' file; do
    if ! clang-format-22 --dry-run --Werror "$file" 2>/dev/null; then
      printf 'clang-format-22 would change %s\n' "$file"
      changed=1
    fi
  done < <(find benchmarks include lib tools unittests \( -name '*.h' -o -name '*.cpp' \) -print0 | sort -z)
  return "$changed"
}

say "packages"
install_packages "${BUILD_PACKAGES[@]}" libgtest-dev clang-format-22 valgrind
python=$(test_python)

say "build"
configure -DFUSE_BUILD_UNITTESTS=ON -DPython3_EXECUTABLE="$python"
if ! run cmake --build build; then
  printf 'failed: build\n'
  failed=1
  finish
fi

say "unit tests"
rm -f build/unittests.json build/lit.json
if ! build/bin/FuseUnitTests --gtest_brief=1 --gtest_output=json:build/unittests.json; then
  say "unit tests failed"
fi
add_results build/unittests.json

say "lit"
if ! "$python" "$LLVM_BIN/lit" -sv --show-unsupported --output build/lit.json build/test; then
  say "lit failed"
fi
add_results build/lit.json

check "clang-format" check_format
ruff=$(find_ruff)
if [[ -n $ruff ]]; then
  check "ruff" "$ruff" check .
else
  skip "ruff" "not on PATH, and not to be had through pip: build/venv.log says why"
fi
finish
