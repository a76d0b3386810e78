#!/usr/bin/env bash
# Looks into what was built: no archive holds instructions of an ISA above its own, and an ISA's
# archive shows nothing but its rows. Sources cannot tell: an inline function of a header that both
# kinds of files include is compiled twice, and the linker keeps either.
#
#   isa_objects_test.sh ARCHITECTURE ARCHIVE...    libisa_<isa>.a is for that ISA (family.bzl)
set -euo pipefail

readonly ARCHITECTURE=$1
shift
# The ISAs from the lowest to the highest, and a pattern that shows each in a disassembly. AVX2 is
# every VEX form, and AVX-512 its registers, masks and broadcasts. UDOT's flags allow all of
# Armv8.2, of which a compiler would take the atomics. SME2 is the registers of SVE and SME, and the
# words that an assembler knows no name for. Every CPU has the first one, whose pattern is not used.
case $ARCHITECTURE in
  x86_64)
    readonly ISAS=(
      baseline=
      popcnt='\bpopcnt\b'
      avx2='^\s*v[a-z0-9]+\s'
      avx512bw='%zmm|%[xy]mm(1[6-9]|2[0-9]|3[01])|%k[0-7]|\{1to'
      avx512vnni='\bvpdp[bw][us][us]ds?\b'
      avx512vpopcntdq='\bvpopcnt[dq]\b'
      amxint8='\b(tile(load|store|zero|release)|ldtilecfg|tdpb)'
    )
    ;;
  aarch64)
    readonly ISAS=(
      neon=
      dotprod='^\s*([us]dot|(cas|swp|ld(add|clr|eor|set))[abhlp]*)\s'
      sme2='^\s*(\.inst|smst(art|op))\b|\bz[0-9]+\.|\bp[0-9]+[/.]|\bza[0-9hv.\[]'
    )
    ;;
esac
readonly LEVELS=("${ISAS[@]%%=*}")
tools=
if [[ $(uname -m) != "$ARCHITECTURE" ]]; then tools=$ARCHITECTURE-linux-gnu-; fi

# Prints only the instructions: no addresses, bytes, headings or names of functions.
instructions() {
  "${tools}objdump" -d --no-show-raw-insn "$1" | sed -n 's/[<#].*//; s/^ *[0-9a-f]*:\t//p'
}

# Prints the first instructions above the ISA that an archive holds.
above() {
  local isa=$1 archive=$2 entry level is_above=
  if [[ $isa == baseline ]]; then isa=${LEVELS[0]}; fi
  for entry in "${ISAS[@]}"; do
    level=${entry%%=*}
    if [[ -n $is_above ]]; then
      instructions "$archive" | grep -P -m3 "${entry#*=}" | sed "s/^/  $level: /" || true
    fi
    if [[ $level == "$isa" ]]; then is_above=yes; fi
  done
}

# Prints the symbols that an archive defines for other files and that are neither a row nor a row's
# loop in assembler. The linker merges weak symbols ('W', 'V', 'u').
not_rows() {
  "${tools}nm" -C --defined-only --extern-only "$1" |
    grep -P '^[0-9a-f]+ ' |
    grep -vP ' T larq_engine::BgemmI32_\w+\(larq_engine::BgemmArgs const&\)$' |
    grep -vP ' T larq_engine::(BytesI32_\w+\(larq_engine::Byte|Expand\w+\(larq_engine::Expand)Args const&\)$' |
    grep -vP ' T larq_engine::Float\w+\(larq_engine::FloatArgs const&\)$' |
    grep -vP ' T larq_engine_bgemm_\w+_\d+x\d+x\d+$' |
    grep -vP ' [RD] larq_engine::k(PixelOps|SignedSums)\w+$' || true
}

failed=0
fail() {
  echo "FAILED: $1" >&2
  failed=1
}

declare -A seen=()
for archive in "$@"; do
  isa=baseline
  if [[ ${archive##*/} =~ ^libisa_([a-z0-9]+)\. ]]; then isa=${BASH_REMATCH[1]}; fi
  seen[$isa]=yes
  [[ -s $archive ]] || fail "expected an archive for $isa, got '$archive'"
  found=$(above "$isa" "$archive")
  [[ -z $found ]] || fail "$archive is for $isa, and holds"$'\n'"$found"
  [[ $isa == baseline ]] && continue
  found=$(not_rows "$archive")
  [[ -z $found ]] || fail "$archive defines what another file's copy could be merged with:"$'\n'"$found"
  # This shows that the check can fail: seen from the level below, this ISA's own instructions are a
  # breach.
  for ((i = 1; i < ${#LEVELS[@]}; ++i)); do
    if [[ ${LEVELS[i]} == "$isa" && -z $(above "${LEVELS[i - 1]}" "$archive") ]]; then
      fail "$archive: no instruction of $isa was seen in it"
    fi
  done
done
for level in "${LEVELS[@]}"; do
  [[ -n ${seen[$level]:-} ]] || fail "expected an archive for $level, got: $*"
done
exit "$failed"
