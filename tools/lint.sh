#!/usr/bin/env bash
# Checks style, types and layering. `tools/lint.sh check` reports every problem and fails if there
# is one; `tools/lint.sh fix` corrects what a formatter can correct. Both look at files that git
# knows or would add. `tools/lint.sh staged` looks at the files, as they are in the tree, that the
# next commit changes, at format, style and mistakes in C++: the hook in tools/hooks runs it. Of the
# whole tree clang-tidy takes minutes, so it is a stage of its own (tools/run_tests.py clang-tidy).
set -euo pipefail
cd "$(dirname "$0")/.."
readonly BIN=.venv/bin
if [[ ! -x $BIN/clang-format ]]; then
  echo "lint: no $BIN/clang-format; run \`make lint\` once, which installs it" >&2
  exit 1
fi

# Files that are tracked, or new and not ignored. A file that is deleted and not yet committed is
# still listed. arm64/*.inc are for the assembler.
mapfile -t cpp < <(git ls-files -co --exclude-standard '*.cc' '*.cu' '*.h' '*.hpp' '*.inc' ':!*/arm64/*.inc' |
  xargs -r ls -d 2>/dev/null)
if ((${#cpp[@]} == 0)); then
  echo "lint: git lists no C++ file; is this a git checkout that this user may read?" >&2
  exit 1
fi

# Only names the files, as `make format` corrects them.
cpp_is_formatted() {
  local file result=0
  for file in "${cpp[@]}"; do
    if ! "$BIN/clang-format" --dry-run -Werror "$file" 2>/dev/null; then
      echo "would reformat $file"
      result=1
    fi
  done
  return "$result"
}

case ${1:-} in
  fix)
    "$BIN/clang-format" -i "${cpp[@]}"
    left=0  # An error that ruff cannot correct must not stop the formatting.
    "$BIN/ruff" check --fix . || left=1
    "$BIN/ruff" format .
    exit "$left"
    ;;
  check)
    failed=()
    step() {
      local name=$1
      shift
      echo "== $name"
      "$@" || failed+=("$name")
    }
    step "clang-format, ${#cpp[@]} files" cpp_is_formatted
    step "ruff" "$BIN/ruff" check .
    step "ruff format" "$BIN/ruff" format --check .
    step "mypy" "$BIN/mypy"
    step "layering and lines of documents" "$BIN/pytest" -q tests/layering tests/docs/test_lines.py
    if ((${#failed[@]})); then
      echo "lint: failed: ${failed[*]}; \`make format\` corrects formatting" >&2
      exit 1
    fi
    echo "lint: clean"
    ;;
  staged)
    mapfile -t changed < <(git diff --cached --name-only --diff-filter=d)
    mapfile -t python < <(printf '%s\n' "${changed[@]}" | grep '\.pyi\?$' || true)
    mapfile -t cpp < <(printf '%s\n' "${changed[@]}" | grep -E '\.(cc|cu|h|inc)$' |
      grep -v '/arm64/.*\.inc$' || true)
    failed=0
    cpp_is_formatted || failed=1
    if ((${#python[@]})); then
      "$BIN/ruff" check "${python[@]}" || failed=1
      "$BIN/ruff" format --check "${python[@]}" || failed=1
    fi
    if ((${#cpp[@]})); then tools/tidy.sh "${cpp[@]}" || failed=1; fi
    exit "$failed"
    ;;
  *)
    echo "usage: tools/lint.sh check|fix|staged" >&2
    exit 2
    ;;
esac
