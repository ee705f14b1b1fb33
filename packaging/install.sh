#!/bin/sh
# Installs Hearth @VERSION@ for this machine, after its signature and its sum have been verified.
# usage: sh install.sh [--from ADDRESS-OR-FOLDER] [--to FILE]
#   --from  where the files of the release are; the folder of this script when it has them
#   --to    the program to write, instead of /usr/local/bin/hearth
set -eu
version='@VERSION@'
signers='@SIGNERS@'
from=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
to=/usr/local/bin/hearth

fail() {
  echo "install.sh: $1 Nothing was installed." >&2
  exit 1
}
while [ $# -gt 0 ]; do
  case $1 in
    --from) from=${2-} && shift 2 || fail "--from needs a value." ;;
    --to) to=${2-} && shift 2 || fail "--to needs a value." ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

case $(uname -s)-$(uname -m) in
  Linux-x86_64) file=hearth-$version-linux-x64 ;;
  Linux-aarch64) file=hearth-$version-linux-arm64 ;;
  *) fail "There is no program for $(uname -s) on $(uname -m), only for Linux on x86_64 and aarch64." ;;
esac
[ -z "$(find /lib /lib64 -maxdepth 1 -name 'ld-musl-*' 2>/dev/null)" ] || [ -n "$(find /lib /lib64 -maxdepth 2 -name 'ld-linux-*' 2>/dev/null)" ] ||
  fail "This system has the C library musl, and the program needs glibc 2.28 or newer; use the container image."
for program in ssh-keygen sha256sum; do
  command -v "$program" >/dev/null || fail "The program $program is missing."
done

work=$(mktemp -d) || fail "There is no room for temporary files."
trap 'rm -rf "$work" "$to.unfinished-$$"' EXIT
trap 'exit 1' HUP INT TERM
for name in SHA256SUMS SHA256SUMS.sig "$file"; do
  case $from in
    http://* | https://*) curl -fsSL --retry 2 -o "$work/$name" "${from%/}/$name" || fail "$from has no $name." ;;
    *) { [ -r "$from/$name" ] || fail "$from has no $name."; } && cp -- "$from/$name" "$work/$name" ;;
  esac || fail "There is no room for $name in ${TMPDIR:-/tmp}."
done
printf '%s\n' "$signers" >"$work/signers"
ssh-keygen -Y verify -q -f "$work/signers" -I hearth-release -n hearth-release -s "$work/SHA256SUMS.sig" \
  <"$work/SHA256SUMS" >/dev/null 2>&1 || fail "The signature of SHA256SUMS is not valid."
sum=$(sed -n "s/^\([0-9a-f]\{64\}\)  $file\$/\1/p" "$work/SHA256SUMS")
[ "$(sha256sum <"$work/$file")" = "$sum  -" ] || fail "$file is not the file that was signed."
chmod 755 "$work/$file"
"$work/$file" --version >/dev/null || fail "$file does not start on this machine."
next='Start it in an empty folder: hearth serve'
[ ! -e "$to" ] || next='A server that runs keeps the program from before until it is started anew.'
mkdir -p -- "$(dirname -- "$to")" && cp -- "$work/$file" "$to.unfinished-$$" && mv -f -- "$to.unfinished-$$" "$to" || fail "$to cannot be written."
echo "$to is Hearth $version. $next"
