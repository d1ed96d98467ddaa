#!/bin/sh
# Installs a release of lynqctl, after it verified the checksum and, with cosign, the
# signature. It writes two files, and never uses sudo.
#
#   VERSION   the version, such as 0.3.0 (default: the newest release)
#   BINDIR    the directory for the binaries (default: ~/.local/bin)
#   RELEASES  where releases are (default: GitHub)
#
# The braces make a shell read all of this before it runs any of it.
{
set -eu
releases=${RELEASES:-https://github.com/lynqctl/lynqctl/releases}
bindir=${BINDIR:-$HOME/.local/bin}

fail() {
  echo "error: $1" >&2
  exit 1
}

fetch() {
  curl -fsSL --retry 3 -o "$dir/$1" "$releases/download/v$version/$1" || fail "can't download $1 of version $version from $releases"
}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "this script knows only Linux and macOS. For Windows, download the zip archive from $releases" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "releases are only for amd64 and arm64. Run: go install github.com/lynqctl/lynqctl/cmd/...@latest" ;;
esac
command -v curl >/dev/null || fail "install curl first"
if command -v sha256sum >/dev/null; then
  sum=sha256sum
else
  sum="shasum -a 256"
fi

version=${VERSION:-}
if [ -z "$version" ]; then
  newest=$(curl -fsSL -o /dev/null -w '%{url_effective}' "$releases/latest") || fail "can't find the newest release at $releases. Set VERSION"
  version=${newest##*/}
fi
version=${version#v}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
archive=lynqctl_${version}_${os}_$arch.tar.gz
fetch checksums.txt
fetch "$archive"

if command -v cosign >/dev/null; then
  fetch checksums.txt.sigstore.json
  cosign verify-blob "$dir/checksums.txt" --bundle "$dir/checksums.txt.sigstore.json" \
    --certificate-identity-regexp '^https://github.com/lynqctl/lynqctl/' \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com >&2 || fail "the signature of checksums.txt is wrong. Nothing was installed"
else
  echo "warning: without cosign, this script verifies only the checksum, and not the signature" >&2
fi
grep " $archive\$" "$dir/checksums.txt" >"$dir/expected" || fail "checksums.txt doesn't list $archive. Nothing was installed"
(cd "$dir" && $sum -c expected >/dev/null 2>&1) || fail "the checksum of $archive is wrong. Nothing was installed"

# Archives of earlier releases have no lynqctl-chart.
programs=lynqctl
if tar -tzf "$dir/$archive" | grep -qx lynqctl-chart; then
  programs="lynqctl-chart lynqctl"
fi
tar -xzf "$dir/$archive" -C "$dir" $programs
mkdir -p "$bindir"
for program in $programs; do
  mv "$dir/$program" "$bindir/$program.new"
  mv -f "$bindir/$program.new" "$bindir/$program"
done
echo "installed lynqctl $version: $bindir/lynqctl"
case :$PATH: in
*:"$bindir":*) ;;
*) echo "add $bindir to your PATH" ;;
esac
exit
}
