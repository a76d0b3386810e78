#!/usr/bin/env bash
# Prepares a machine: Debian packages and the developer's virtual environments.
#
#   tools/setup.sh base       the build tools and .venv (what `make build` and `make test` need)
#   tools/setup.sh keras      base; TensorFlow and larq in .venv (what `make demo` needs)
#   tools/setup.sh hosts      keras; larq-zoo, scikit-learn, scikit-image in .venv; .venv-tflite-runtime (for the tests)
#   tools/setup.sh torch      base; PyTorch, litert-torch, Brevitas, JAX and Keras in .venv-torch (for the tests)
#   tools/setup.sh fuzzer     base; clang and libFuzzer
#   tools/setup.sh browser    base; Chromium, for the tests of the report's page
#   tools/setup.sh emscripten base; Debian's compiler for WebAssembly, and npm's packages in web/node_modules
#   tools/setup.sh web        browser, emscripten: what the tests of the package for browsers need
#   tools/setup.sh speech     base; espeak-ng, which speaks what an example learns, for its tests
#   tools/setup.sh micro      base; compilers for microcontrollers, the QEMU that emulates boards, and PlatformIO in .venv-platformio
#   tools/setup.sh verilog    base; Verilator, Icarus Verilog and Yosys, for the tests of what is exported for FPGAs
#   tools/setup.sh fpga       verilog; nextpnr for ECP5 chips in .venv-fpga (what only `python -m benchmarks.fpga` needs)
#   tools/setup.sh emulators  base; the QEMU that shows this machine as an older one
#   tools/setup.sh cuda       base; NVIDIA's compiler of kernels for GPUs, in .cuda
#   tools/setup.sh ray        base; Ray in .venv-ray, for the tests of larq_engine.batch in it
#   tools/setup.sh docs       the tools of `make docs` in .venv-docs, and nothing else
#   tools/setup.sh peers      base, and benchmarks/peers/.venv (what only `make bench` needs)
#   tools/setup.sh web-peers  web; benchmarks/web/peers/node_modules (likewise, for browsers)
#   tools/setup.sh cross      base; compilers for ARM, and the QEMU that runs what they make
#   tools/setup.sh zig        base; the compiler for macOS and Windows, in .zig
#   tools/setup.sh windows    zig; Wine, which runs what it makes for Windows
#   tools/setup.sh arm64      cross; Python and LiteRT for emulated 64-bit ARM
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

# Each of these prints the Debian packages of tools that are missing.
missing_build_tools() {
  command -v bazel >/dev/null || command -v bazelisk >/dev/null || echo bazel-bootstrap
  echo '#include <bit>' | g++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null || echo g++
  [[ -d /usr/src/googletest/googletest ]] || echo googletest
  missing_venv
}

missing_venv() {
  "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}

missing_fuzzer() {
  command -v llvm-symbolizer >/dev/null || echo llvm # names in the fuzzer's stack traces
  if ! command -v clang >/dev/null; then
    echo clang fuzzer-runtime
  elif ! fuzzer_links 2>/dev/null; then
    echo fuzzer-runtime
  fi
}

missing_browser() {
  command -v chromium >/dev/null || command -v google-chrome >/dev/null || echo chromium
}

missing_emscripten() {
  # Debian's: the modules are linked with libraries by their paths there.
  [[ -x /usr/bin/em++ && -d /usr/share/emscripten/cache/sysroot ]] || echo emscripten
  [[ -d /usr/share/nodejs/acorn ]] || echo node-acorn
}

missing_speech() {
  command -v espeak-ng >/dev/null || echo espeak-ng
}

missing_emulators() {
  [[ $(uname -m) != x86_64 ]] || command -v qemu-x86_64 >/dev/null || echo qemu-user
}

missing_micro() {
  local include='#include <string.h>'
  command -v arm-none-eabi-gcc >/dev/null || echo gcc-arm-none-eabi
  arm-none-eabi-gcc -fsyntax-only -x c - <<<"$include" 2>/dev/null || echo libnewlib-arm-none-eabi
  command -v qemu-system-arm >/dev/null || echo qemu-system-arm
  command -v riscv64-unknown-elf-gcc >/dev/null || echo gcc-riscv64-unknown-elf
  riscv64-unknown-elf-gcc --specs=picolibc.specs -fsyntax-only -x c - <<<"$include" 2>/dev/null ||
    echo picolibc-riscv64-unknown-elf
  command -v qemu-system-riscv32 >/dev/null || echo qemu-system-misc
}

missing_verilog() {
  command -v verilator >/dev/null || echo verilator
  command -v iverilog >/dev/null || echo iverilog
  command -v yosys >/dev/null || echo yosys
}

missing_cross_compilers() {
  [[ $(uname -m) == aarch64 ]] || command -v aarch64-linux-gnu-g++ >/dev/null ||
    echo g++-aarch64-linux-gnu
  command -v arm-linux-gnueabihf-g++ >/dev/null || echo g++-arm-linux-gnueabihf
}

missing_wine() {
  [[ $(uname -m) != x86_64 ]] || command -v wine64 >/dev/null || [[ -x /usr/lib/wine/wine64 ]] ||
    echo wine64 wine
}

# The compiler's runtime libraries are a package of their own since LLVM 14; before (and in Ubuntu's
# LLVM 14) they belong to a package that clang depends on.
fuzzer_runtime_package() {
  apt-cache show --no-all-versions libclang-rt-dev >/dev/null 2>&1 && echo libclang-rt-dev || true
}

# Only CI's machines are changed without being asked.
as_root=()
if [[ $(id -u) -ne 0 && -n ${CI:-} ]]; then as_root=(sudo -n); fi

update_package_lists() {
  say "updating the list of Debian packages"
  if ! "${as_root[@]}" apt-get update -q >"$log" 2>&1; then
    # One unreachable source of several must not stop the others.
    grep -vE '^(Hit|Get|Ign|Fetched|Reading)' "$log" >&2 || true
    say "apt-get update reported the problems above; going on with what it has"
  fi
}

# install_packages LIST: installs what the function LIST prints.
install_packages() {
  local list=$1
  local -a missing packages=()
  mapfile -t missing < <("$list" | tr ' ' '\n')
  if [[ ${#missing[@]} -eq 0 ]]; then return; fi

  if ! command -v apt-get >/dev/null || [[ $(id -u) -ne 0 && -z ${CI:-} ]]; then
    fail "this machine lacks: ${missing[*]} (Debian's package names; fuzzer-runtime is" \
      "libclang-rt-dev), and only root may install packages. On Debian or Ubuntu run" \
      "'sudo apt-get install ${missing[*]/fuzzer-runtime/libclang-rt-dev}'; elsewhere" \
      "install Bazel 4.2 to 7 (or Bazelisk), a C++20 compiler, clang with libFuzzer, Chromium, espeak-ng and QEMU, and unpack" \
      "GoogleTest's sources to /usr/src/googletest. Then run this again."
  fi

  update_package_lists
  for package in "${missing[@]}"; do
    if [[ $package == fuzzer-runtime ]]; then package=$(fuzzer_runtime_package); fi
    if [[ -n $package ]]; then packages+=("$package"); fi
  done
  say "installing Debian packages: ${packages[*]} (some minutes on a bare machine)"
  quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${packages[@]}"

  mapfile -t missing < <("$list" | tr ' ' '\n')
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
  install_packages missing_build_tools
  say "$VENV: installing LiteRT, NumPy and the tools for tests, lint and plots (500 MB)"
  quietly "$PYTHON" -m venv "$VENV"
  quietly pip_into "$VENV" 'pip>=25.1' # the first that reads dependency groups
  quietly pip_into "$VENV" --group dev
  # The working tree itself is what this environment imports.
  pwd >"$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/larq_engine.pth"
  fingerprint pyproject.toml >"$VENV/.setup-base"
}

fuzzer() {
  base
  install_packages missing_fuzzer
}

browser() {
  base
  install_packages missing_browser
}

emscripten() {
  base
  install_packages missing_emscripten
  local inputs=(web/package.json web/package-lock.json)
  if done_before web/node_modules/.setup-web "${inputs[@]}"; then return; fi
  # Debian 12's own is 18, and has no npm.
  { node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' && npm --version; } \
    >/dev/null 2>&1 ||
    fail "Node 20 or newer and npm are needed, got $(node --version 2>&1 || true); install them"
  say "web/node_modules: installing what bundles and tests the package's scripts (90 MB)"
  quietly npm --prefix web ci
  fingerprint "${inputs[@]}" >web/node_modules/.setup-web
}

web() {
  browser
  emscripten
}

speech() {
  base
  install_packages missing_speech
}

micro() {
  base
  install_packages missing_micro
  optional .venv-platformio platformio "33 MB"
}

verilog() {
  base
  install_packages missing_verilog
}

fpga() {
  verilog
  optional .venv-fpga fpga "300 MB"
}

emulators() {
  base
  install_packages missing_emulators
}

# has_no_wheel VENV: does the log of pip say that there is no wheel? pip says the same of an index
# that it cannot reach, so its log must not tell of retries and the index must answer now.
has_no_wheel() {
  grep -q 'No matching distribution found' "$log" &&
    ! grep -qiE 'Retrying|connection|timed out' "$log" &&
    pip_into "$1" --dry-run --ignore-installed --no-deps numpy >>"$log" 2>&1
}

# optional VENV GROUP SIZE [PIP-OPTION...]: installs a group that has no wheel for every Python. Its
# tests are skipped, and say so, where it is missing, unless LARQ_ENGINE_REQUIRE_ALL is set and LARQ_ENGINE_MAY_LACK does not
# name it; any other failure to install it is an error.
optional() {
  local venv=$1 group=$2 size=$3
  shift 3
  local stamp=$venv/.setup-$group no_wheel=$venv/.no-wheel-$group
  if done_before "$stamp" pyproject.toml; then return; fi
  if ! done_before "$no_wheel" pyproject.toml; then
    say "$venv: installing $group ($size)"
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
  if [[ -n ${LARQ_ENGINE_REQUIRE_ALL:-} && ,${LARQ_ENGINE_MAY_LACK:-}, != *,"$group",* ]]; then
    fail "$group is required here, and has no wheel for $("$venv/bin/python" --version) on $(uname -sm)"
  fi
  say "$group: not installed, it has no wheel for $("$venv/bin/python" --version) on" \
    "$(uname -sm); its tests will be reported as skipped"
}

keras() {
  base
  optional "$VENV" tensorflow "1.4 GB"
  optional "$VENV" tf-keras "20 MB" --no-deps
  # larq's numpy<2 has a source archive for every Python and would be built, in vain, from it.
  optional "$VENV" larq "80 MB" --only-binary numpy
}

hosts() {
  keras
  optional "$VENV" larq-zoo "40 MB" --no-deps
  optional "$VENV" pictures "240 MB" --only-binary :all:
  optional .venv-tflite-runtime tflite-runtime "190 MB"
}

torch() {
  base
  optional .venv-torch torch-cpu "900 MB; 6 GB where pip finds PyTorch's build for CUDA only"
  optional .venv-torch torch "1.3 GB more"
  optional .venv-torch keras-backends "60 MB more"
}

ray() {
  base
  optional .venv-ray ray "820 MB"
}

# Without base: the site is made of the sources, with NumPy and its own tools.
docs() {
  local venv=.venv-docs
  if done_before "$venv/.setup-docs" pyproject.toml; then return; fi
  install_packages missing_venv
  say "$venv: installing the tools for the site (270 MB)"
  quietly "$PYTHON" -m venv "$venv"
  local -a pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet --progress-bar off)
  quietly "${pip[@]}" 'pip>=25.1'
  quietly "${pip[@]}" --group docs
  fingerprint pyproject.toml >"$venv/.setup-docs"
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

web-peers() {
  web
  local folder=benchmarks/web/peers
  local inputs=("$folder/package.json" "$folder/package-lock.json")
  if done_before "$folder/node_modules/.setup-web-peers" "${inputs[@]}"; then return; fi
  say "$folder/node_modules: installing the engines for browsers to compare with (180 MB)"
  quietly npm --prefix "$folder" ci
  fingerprint "${inputs[@]}" >"$folder/node_modules/.setup-web-peers"
}

# unpacked COMPILER WHAT: packages that hold programs and not Python, in a folder of their own.
unpacked() {
  local folder=.$1 pins=tools/release/$1.txt
  if done_before "$folder/.setup-$1" "$pins"; then return; fi
  say "$folder: installing $2"
  rm -rf "$folder"
  quietly "$VENV/bin/python" -m pip --disable-pip-version-check install --quiet \
    --progress-bar off --no-deps --target "$folder" --require-hashes -r "$pins"
  fingerprint "$pins" >"$folder/.setup-$1"
}

cuda() {
  base
  unpacked cuda "NVIDIA's compiler (280 MB)"
}

zig() {
  base
  unpacked zig "zig, a compiler for macOS and Windows (400 MB)"
}

windows() {
  zig
  install_packages missing_wine
}

# ---- Emulated 64-bit ARM -------------------------------------------------------------------------

readonly EMULATION=.emulation

# Prints the address of this machine's source of Debian packages. It prints nothing on other systems,
# and nothing until apt has lists of packages, which images of containers come without.
debian_mirror() {
  apt-get indextargets --format '$(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' \
    2>/dev/null | sed -n 's/^Debian main //p' | head -n 1
}

# unpack SUITE ARCHITECTURE FOLDER PACKAGE...: Debian packages that this system cannot install, as
# they are of another release or for another machine. It learns nothing of them. If it fails,
# `no_packages` says why.
unpack() {
  local suite=$1 architecture=$2 folder=$3 mirror apt
  shift 3
  mirror=$(debian_mirror)
  if [[ -z $mirror ]] && command -v apt-get >/dev/null; then
    update_package_lists
    mirror=$(debian_mirror)
  fi
  if [[ -z $mirror ]]; then
    no_packages="this system's apt names no source of Debian's packages"
    # apt-get succeeds if sources do not answer.
    if grep -qE '^(Err:|E: |W: Failed)' "$log"; then
      no_packages="the sources of packages that this system's apt names do not answer"
    fi
    return 1
  fi
  apt=$(mktemp -d)
  mkdir -p "$apt"/{lists,cache,packages}
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
    >"$apt/sources.list"
  cat >"$apt/apt.conf" <<EOF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Dir::Cache "$apt/cache";
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$apt/lists";
Dir::State::Status "/dev/null";
EOF
  mkdir -p "$folder"
  if (
    export APT_CONFIG=$apt/apt.conf
    cd "$apt/packages"
    apt-get update -q && apt-get download -q "$@"
  ) >"$log" 2>&1; then
    for package in "$apt"/packages/*.deb; do quietly dpkg-deb -x "$package" "$folder"; done
    rm -r "$apt"
  else
    rm -r "$apt"
    no_packages="$mirror does not answer, or does not have all of: $* ($suite, $architecture)"
    return 1
  fi
}

# unavailable WHAT INSTEAD: after `unpack`; goes on without, except where it is required.
unavailable() {
  if [[ -n ${LARQ_ENGINE_REQUIRE_ALL:-} ]]; then
    tail -n 30 "$log" >&2
    fail "$1 is required here and not installed: $no_packages"
  fi
  say "$1: not installed, $no_packages; $2"
  exit
}

# Prints "7.2"; nothing if the program does not run.
qemu_version() {
  { "$1" --version 2>/dev/null || true; } |
    sed -n 's/^qemu-aarch64 version \([0-9]*\.[0-9]*\).*/\1/p'
}

# 10.1 is the first that knows SME2. Debian 12's own is 7.2, and LiteRT crashes in it, too.
new_enough() { [[ -n $1 ]] && printf '10.1\n%s\n' "$1" | sort -C -V; }

qemu() {
  local stamp=$EMULATION/.setup-qemu own
  if [[ $(uname -m) == aarch64 ]] || done_before "$stamp"; then return; fi
  own=$(qemu_version qemu-aarch64)
  if new_enough "$own"; then
    rm -rf "$EMULATION/qemu"
  else
    unpack_qemu
  fi
  mkdir -p "$EMULATION"
  fingerprint >"$stamp"
}

# Replaces what an earlier run unpacked only by one that runs.
unpack_qemu() {
  local new=$EMULATION/qemu.new version
  rm -rf "$new"
  say "$EMULATION/qemu: unpacking QEMU of Debian's development release (sid)"
  if ! unpack sid "$(dpkg --print-architecture)" "$new/all" qemu-user; then
    rm -rf "$new"
    version=$(qemu_version "$EMULATION/qemu/qemu-aarch64")
    unavailable "QEMU 10.1 or newer" "emulated programs run in version ${version:-${own:-none}}"
  fi
  mv "$new"/all/usr/bin/qemu-{aarch64,arm} "$new"
  rm -r "$new/all"
  version=$(qemu_version "$new/qemu-aarch64")
  new_enough "$version" || fail "$new/qemu-aarch64, from Debian's sid: expected QEMU 10.1 or newer," \
    "got ${version:-a program that does not run here}; install such a QEMU yourself"
  rm -rf "$EMULATION/qemu"
  mv "$new" "$EMULATION/qemu"
}

# Python as in Debian 12, which LiteRT and this project's numpy have wheels for, and what it needs.
readonly ARM64_PYTHON=(
  libbz2-1.0 libc6 libexpat1 libffi8 libgcc-s1 liblzma5 libpython3.11-minimal libpython3.11-stdlib
  libssl3 libstdc++6 libuuid1 python3.11-minimal zlib1g
)

cross() {
  base
  install_packages missing_cross_compilers
  qemu
}

arm64() {
  cross
  local root=$EMULATION/arm64
  local new=$root.new instead="its tests are skipped"
  if done_before "$root/.setup-arm64" pyproject.toml; then return; fi
  rm -rf "$new"
  say "$root: unpacking Python for 64-bit ARM, and LiteRT"
  if ! unpack bookworm arm64 "$new" "${ARM64_PYTHON[@]}"; then
    rm -rf "$new"
    if [[ -e $root/.setup-arm64 ]]; then instead="its tests run in the one of an earlier set-up"; fi
    unavailable "Python for 64-bit ARM" "$instead"
  fi
  quietly "$VENV/bin/python" -m pip --disable-pip-version-check install --quiet --progress-bar off \
    --target "$new/packages" --only-binary :all: --implementation cp --python-version 3.11 \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
    --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 --group arm64
  fingerprint pyproject.toml >"$new/.setup-arm64"
  rm -rf "$root"
  mv "$new" "$root"
}

case ${1:-} in
  base | keras | hosts | torch | fuzzer | browser | emscripten | web | speech | micro | verilog | fpga | emulators | cuda | ray | docs | peers | web-peers | cross | zig | windows | arm64) "$1" ;;
  *) fail "expected base, keras, hosts, torch, fuzzer, browser, emscripten, web, speech, micro, verilog, fpga, emulators, cuda, ray, docs, peers, web-peers, cross, zig, windows or arm64, got '${1:-}'" ;;
esac
