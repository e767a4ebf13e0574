#!/usr/bin/env bash
# Makes the archive of a release, and the root file system of an image.
#
#   bash deploy/dist.sh                      fetches crates, compiles, and writes dist/ingester-VERSION-TARGET.tar.gz and dist/SHA256SUMS
#     --target TRIPLE                        for another machine; the compiler and the linker for it must be there
#     --binary FILE                          packs this program instead of compiling one
#     --out DIR                              instead of dist/
#     --rootfs DIR                           also writes the root file system for deploy/Dockerfile.binary
#     --help                                 prints this
#
# Crates that are downloaded already are not fetched, so it works without a network then. The archive has the program with its completions,
# docs/, deploy/, the examples and samples, and deploy/archive.md as its README: the files that git knows, as they are in this folder.
#
# The same commit, compiler and linker give the same bytes: times are SOURCE_DATE_EPOCH (by default that of the commit), tar sorts its
# entries, gzip writes no name, and the compiler writes no path of this machine.

set -euo pipefail
umask 022
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="" binary="" out="dist" rootfs=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --target | --binary | --out | --rootfs)
      if [[ -z "${2:-}" ]]; then
        echo "$1 needs a value" >&2
        exit 2
      fi
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    --help)
      sed -n '2,/^$/s/^# \{0,1\}//p' deploy/dist.sh
      exit 0
      ;;
    *)
      echo "unknown argument \`$1\`; known: --target, --binary, --out, --rootfs, --help" >&2
      exit 2
      ;;
  esac
done

# Says what happens now.
step() {
  echo "dist.sh: $*" >&2
}

for tool in cargo rustc git jq strip tar gzip sha256sum; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool is missing; on Debian: apt-get install binutils coreutils git gzip jq tar, and rustup for cargo" >&2
    exit 2
  fi
done

host="$(rustc -vV | sed -n 's/^host: //p')"
target="${target:-$host}"
step "fetching the crates of Cargo.lock for $target that are not downloaded yet"
cargo fetch --locked --quiet --target "$target"
version="$(cargo pkgid --offline --package ingester | sed 's/.*[#@]//')"
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH

# Writes the program, and with it no path of this machine: neither rustc's nor the C compiler's.
compile() {
  local folder flags="" c_flags="" from
  folder="$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")"
  # Of several that match, the last one counts: the target folder may be within the others.
  for from in "${CARGO_HOME:-$HOME/.cargo}=/cargo" "$PWD=/src" "$folder=/target"; do
    flags+=" --remap-path-prefix=$from"
    c_flags+=" -ffile-prefix-map=$from"
  done
  step "compiling $folder/$target/dist/ingester, which takes 5 to 15 minutes on two cores"
  RUSTFLAGS="${RUSTFLAGS:-}$flags" CFLAGS="${CFLAGS:-}$c_flags" CARGO_INCREMENTAL=0 \
    cargo build --profile dist --locked --package ingester --target "$target"
  binary="$folder/$target/dist/ingester"
}

# The crates that the program is made of, as CycloneDX: those that it depends on, without those of builds and tests.
sbom() {
  cargo metadata --locked --offline --format-version 1 --filter-platform "$target" |
    jq --sort-keys --rawfile lock Cargo.lock --arg time "$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)" --arg target "$target" '
      . as $all
      # The checksum of each package that comes from a registry.
      | ($lock | [scan("name = \"([^\"]+)\"\nversion = \"([^\"]+)\"\n(?:source = \"[^\"]+\"\n)?checksum = \"([0-9a-f]+)\"")]
          | map({key: "pkg:cargo/\(.[0])@\(.[1])", value: .[2]}) | from_entries) as $checksums
      | ($all.packages | map({key: .id, value: .}) | from_entries) as $packages
      | ($all.resolve.nodes | map({key: .id, value: [.deps[] | select(any(.dep_kinds[]; .kind == null)) | .pkg]}) | from_entries) as $needs
      | def purl: $packages[.] | "pkg:cargo/\(.name)@\(.version)";
        def component: . as $id | $packages[$id] | {name, version, purl: ($id | purl), "bom-ref": ($id | purl)}
          + (if .license then {licenses: [{expression: (.license | gsub("/"; " OR "))}]} else {} end);
        def reached: . as $before | ([.[], (.[] | $needs[.][])] | unique) | if length == ($before | length) then . else reached end;
      ([$all.packages[] | select(.name == "ingester" and .source == null) | .id]) as $root
      | ($root | reached) as $in
      | {
          bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
          metadata: {
            timestamp: $time,
            component: ($root[0] | component + {type: "application"}),
            properties: [{name: "target", value: $target}]
          },
          components: [($in - $root)[] | component + {type: "library"}
            | if $checksums[.purl] then . + {hashes: [{alg: "SHA-256", content: $checksums[.purl]}]} else . end] | sort_by(.purl),
          dependencies: [$in[] | {ref: purl, dependsOn: ([$needs[.][] | purl] | unique)}] | sort_by(.ref)
        }'
}

# What the program needs at run time, and a user who is not root. glibc resolves names by nsswitch.conf; the certificates are those of
# public authorities, for a database or a server of tokens that has such a one.
root_file_system() {
  local to="$1" program="$2" library
  if [[ "$target" != "$host" ]]; then
    echo "--rootfs: the libraries of $target are not on this machine" >&2
    exit 2
  fi
  if [[ ! -r /etc/ssl/certs/ca-certificates.crt ]]; then
    echo "--rootfs: /etc/ssl/certs/ca-certificates.crt is missing; on Debian: apt-get install ca-certificates" >&2
    exit 2
  fi
  rm -rf "$to"
  install -D -m 755 "$program" "$to/usr/local/bin/ingester"
  while IFS= read -r library; do
    install -D -m 755 "$library" "$to$library"
  done < <(ldd "$program" | grep -o '/[^ ]*')
  install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$to/etc/ssl/certs/ca-certificates.crt"
  install -D -m 644 LICENSE "$to/usr/share/doc/ingester/LICENSE"
  # Where SQLite puts what does not fit into memory, such as the old rows of a table that a migration rebuilds.
  install -d -m 1777 "$to/tmp"
  echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$to/etc/passwd"
  echo 'nonroot:x:65532:' >"$to/etc/group"
  echo 'hosts: files dns' >"$to/etc/nsswitch.conf"
  find "$to" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

[[ -n "$binary" ]] || compile

name="ingester-$version-$target"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
folder="$work/$name"
mkdir -p "$folder/completions" "$out"
"${STRIP:-strip}" --strip-all -o "$folder/ingester" "$binary"
chmod 755 "$folder/ingester"
if [[ "$target" == "$host" ]]; then
  for shell in bash zsh fish; do
    "$folder/ingester" completions "$shell" >"$folder/completions/ingester.$shell"
  done
else
  rmdir "$folder/completions"
  echo "no completions: this machine cannot run a program for $target" >&2
fi
step "adding docs/, deploy/, examples/ and crd-specs/samples/"
# Without what needs the sources.
git ls-files -z LICENSE CHANGELOG.md SECURITY.md docs deploy crd-specs/samples examples ':!deploy/*.sh' ':!deploy/Dockerfile*' ':!deploy/archive.md' \
  ':!examples/*/Cargo.*' ':!examples/*/tests/*' ':!examples/*/generated-sql/*' |
  tar --create --null --files-from=- | tar --extract --directory "$folder"
cp deploy/archive.md "$folder/README.md"
step "listing the crates of the program"
sbom >"$folder/sbom.cdx.json"
(cd "$folder" && find . -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS)
step "packing"
tar --create --directory "$work" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --mode='u+rw,go=rX' "$name" | gzip -n >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >SHA256SUMS)
echo "wrote $out/$name.tar.gz"
if [[ -n "$rootfs" ]]; then
  root_file_system "$rootfs" "$folder/ingester"
  echo "wrote $rootfs"
fi
