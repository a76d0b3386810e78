#!/usr/bin/env bash
# Prepares a machine: Debian packages and the developer's virtual environments.
#
#   tools/setup.sh base    the build tools and .venv (what `make build` needs)
#   tools/setup.sh hosts   base; TensorFlow, larq and larq-zoo in .venv; .venv-tflite-runtime (for
#                          the demo and the tests)
#   tools/setup.sh peers   base, and benchmarks/peers/.venv (what only `make bench` needs)
#
# A finished step leaves a stamp that holds a hash of what it depends on, so that a run with all in
# place takes milliseconds and a change of pyproject.toml runs the step again.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly VENV=.venv
readonly PYTHON=${PYTHON:-python3}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

say() { echo "setup: $*"; }
fail() {
  echo "setup: error: $*" >&2
  exit 1
}

# Runs a command whose output matters only if it fails.
quietly() {
  if ! "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    fail "'$*' failed; its last lines are above"
  fi
}

fingerprint() { cat "$@" tools/setup.sh | sha256sum | cut -d ' ' -f 1; }

# done_before STAMP INPUT...: has the step that writes STAMP run with these inputs?
done_before() {
  local stamp=$1
  shift
  [[ -e $stamp ]] && [[ $(<"$stamp") == "$(fingerprint "$@")" ]]
}

# ---- Debian packages -----------------------------------------------------------------------------

fuzzer_links() {
  echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang -x c++ -fsanitize=fuzzer,address,undefined - -lstdc++ -o /dev/null
}

# Prints the Debian package of each tool that is missing.
missing_packages() {
  command -v bazel >/dev/null || command -v bazelisk >/dev/null || echo bazel-bootstrap
  echo '#include <bit>' | g++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null || echo g++
  [[ -d /usr/src/googletest/googletest ]] || echo googletest
  [[ $(uname -m) != x86_64 ]] || command -v qemu-x86_64 >/dev/null || echo qemu-user
  "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  command -v llvm-symbolizer >/dev/null || echo llvm # names in the fuzzer's stack traces
  if ! command -v clang >/dev/null; then
    echo clang fuzzer-runtime
  elif ! fuzzer_links 2>/dev/null; then
    echo fuzzer-runtime
  fi
}

# The compiler's runtime libraries are a package of their own since LLVM 14; before (and in Ubuntu's
# LLVM 14) they belong to a package that clang depends on.
fuzzer_runtime_package() {
  apt-cache show --no-all-versions libclang-rt-dev >/dev/null 2>&1 && echo libclang-rt-dev || true
}

install_packages() {
  local -a missing packages=() as_root=()
  mapfile -t missing < <(missing_packages | tr ' ' '\n')
  if [[ ${#missing[@]} -eq 0 ]]; then return; fi

  if [[ $(id -u) -ne 0 ]]; then as_root=(sudo -n); fi
  if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
    fail "this machine lacks: ${missing[*]} (Debian's package names; fuzzer-runtime is" \
      "libclang-rt-dev), and this user may not install packages. On Debian or Ubuntu let an" \
      "administrator run 'apt-get install ${missing[*]/fuzzer-runtime/libclang-rt-dev}'; elsewhere" \
      "install Bazel 4.2 to 7 (or Bazelisk), a C++20 compiler, clang with libFuzzer and QEMU, and unpack" \
      "GoogleTest's sources to /usr/src/googletest. Then run this again."
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)

  say "updating the list of Debian packages"
  if ! "${as_root[@]}" apt-get update -q >"$log" 2>&1; then
    # One unreachable source of several must not stop the others.
    grep -E '^(E|W):' "$log" >&2 || true
    say "apt-get update reported the problems above; going on with what it has"
  fi
  for package in "${missing[@]}"; do
    if [[ $package == fuzzer-runtime ]]; then package=$(fuzzer_runtime_package); fi
    if [[ -n $package ]]; then packages+=("$package"); fi
  done
  say "installing Debian packages: ${packages[*]} (some minutes on a bare machine)"
  quietly "${as_root[@]}" apt-get install -q -y --no-install-recommends "${packages[@]}"

  mapfile -t missing < <(missing_packages | tr ' ' '\n')
  [[ ${#missing[@]} -eq 0 ]] || fail "still missing after the installation: ${missing[*]}"
}

# ---- Virtual environments ------------------------------------------------------------------------

pip_into() {
  local venv=$1
  shift
  "$VENV/bin/python" -m pip --python "$venv/bin/python" --disable-pip-version-check install \
    --quiet --progress-bar off "$@"
}

base() {
  if done_before "$VENV/.setup-base" pyproject.toml; then return; fi
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "Python 3.10 or newer is needed, got $("$PYTHON" --version); name another with PYTHON=..."
  install_packages
  say "$VENV: installing LiteRT, NumPy and the tools for tests, lint and plots"
  quietly "$PYTHON" -m venv "$VENV"
  quietly pip_into "$VENV" 'pip>=25.1' # the first that reads dependency groups
  quietly pip_into "$VENV" --group dev
  # The working tree itself is what this environment imports.
  pwd >"$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/larq_engine.pth"
  fingerprint pyproject.toml >"$VENV/.setup-base"
}

# has_no_wheel VENV: does the log of pip say that there is no wheel? pip says the same of an index
# that it cannot reach, so its log must not tell of retries and the index must answer now.
has_no_wheel() {
  grep -q 'No matching distribution found' "$log" &&
    ! grep -qiE 'Retrying|connection|timed out' "$log" &&
    pip_into "$1" --dry-run --ignore-installed --no-deps numpy >>"$log" 2>&1
}

# optional VENV GROUP [PIP-OPTION...]: what has no wheel for every Python. Its tests are skipped, and
# say so, where it is missing; any other failure to install it is an error.
optional() {
  local venv=$1 group=$2
  shift 2
  local stamp=$venv/.setup-$group no_wheel=$venv/.no-wheel-$group
  if done_before "$stamp" pyproject.toml; then return; fi
  if ! done_before "$no_wheel" pyproject.toml; then
    say "$venv: installing $group, for the demo and the tests"
    rm -f "$stamp" "$no_wheel"
    if [[ ! -e $venv ]]; then quietly "$PYTHON" -m venv --without-pip "$venv"; fi
    if pip_into "$venv" "$@" --group "$group" >"$log" 2>&1; then
      fingerprint pyproject.toml >"$stamp"
      return
    elif ! has_no_wheel "$venv"; then
      tail -n 30 "$log" >&2
      fail "installing $group into $venv failed; the last lines of pip are above"
    fi
    fingerprint pyproject.toml >"$no_wheel"
  fi
  say "$group: not installed, it has no wheel for $("$venv/bin/python" --version) on" \
    "$(uname -sm); its tests will be reported as skipped"
}

hosts() {
  base
  optional "$VENV" tensorflow
  optional "$VENV" tf-keras --no-deps
  # larq's numpy<2 has a source archive for every Python and would be built, in vain, from it.
  optional "$VENV" larq --only-binary numpy
  optional "$VENV" larq-zoo --no-deps
  optional .venv-tflite-runtime tflite-runtime
}

peers() {
  base
  local venv=benchmarks/peers/.venv requirements=benchmarks/peers/requirements.txt
  if done_before "$venv/.setup-peers" "$requirements" pyproject.toml; then return; fi
  say "$venv: installing the engines to compare with (1.4 GB)"
  quietly "$PYTHON" -m venv --without-pip "$venv"
  quietly pip_into "$venv" -r "$requirements" --group larq
  quietly pip_into "$venv" --no-deps --group larq-zoo
  fingerprint "$requirements" pyproject.toml >"$venv/.setup-peers"
}

case ${1:-} in
  base | hosts | peers) "$1" ;;
  *) fail "expected base, hosts or peers, got '${1:-}'" ;;
esac
