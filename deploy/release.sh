#!/usr/bin/env bash
# A dry run of a release: makes the crates, the archive, the image and the chart of a commit, and checks each by using it. It tags and
# publishes nothing, and writes nothing outside of --out and of cargo's folders of downloads and of build output.
#
#   bash deploy/release.sh --repository https://github.com/OWNER/ingester
#     --out DIR        instead of dist/release, which must not exist yet
#     --binary FILE    packs this program instead of compiling one
#     --resolve        resolves the crates of the packages instead of compiling them, which takes 5 to 15 minutes more
#     --help           prints this
#
# The address of the repository replaces the one of Cargo.toml in a clone of the commit that is checked out; what it changes there is
# DIR/address.patch, for you to commit before the first release. DIR then has the packages, the archive with its checksum, the image, the chart
# and the manifest of the plugin. What no tool on this machine can check is named at the end.

set -euo pipefail
umask 022
export LC_ALL=C
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

repository="" out="$root/dist/release" binary="" resolve=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --repository | --out | --binary)
      if [[ -z "${2:-}" ]]; then
        echo "$1 needs a value" >&2
        exit 2
      fi
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    --resolve)
      resolve=1
      shift
      ;;
    --help)
      sed -n '2,/^$/s/^# \{0,1\}//p' "$root/deploy/release.sh"
      exit 0
      ;;
    *)
      echo "unknown argument \`$1\`; known: --repository, --out, --binary, --resolve, --help" >&2
      exit 2
      ;;
  esac
done
if [[ ! "$repository" =~ ^https://[^[:space:]\"\']+[^/[:space:]\"\']$ ]]; then
  echo "--repository takes the public address of the sources, such as https://github.com/OWNER/ingester" >&2
  exit 2
fi
out="$(realpath --canonicalize-missing "$out")"
if [[ -e "$out" ]]; then
  echo "$out exists: remove it, or name another folder with --out" >&2
  exit 2
fi
[[ -z "$binary" ]] || binary="$(realpath "$binary")"
for tool in cargo rustc git jq tar gzip sha256sum; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool is missing; on Debian: apt-get install git gzip jq tar, and rustup for cargo" >&2
    exit 2
  fi
done

skipped=()
step() {
  echo >&2
  echo "release.sh: $*" >&2
}
failed() {
  echo "release.sh: $*" >&2
  exit 1
}

# The programs that are tried here must not find a database or the kinds of this shell, which may be those of production.
unset DATABASE_URL DATABASE_PASSWORD_FILE INGESTER_KINDS "${!MYSQL_@}" "${!PG@}"

work="$(mktemp -d)"
# Each part is tried, and none changes the exit status.
clean() {
  chmod -R u+w "$work" || true
  rm -rf "$work" || true
}
trap clean EXIT
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"

step "cloning the commit, and writing the address into the clone"
[[ -z "$(git -C "$root" status --porcelain)" ]] || failed "there are changes that are not committed: a release is made of a commit"
mkdir -p "$out"
git clone --quiet "file://$root" "$work/sources"
git -C "$work/sources" checkout --quiet --detach "$(git -C "$root" rev-parse HEAD)"
cd "$work/sources"
metadata() {
  cargo metadata --no-deps --offline --format-version 1 "$@"
}
placeholder="$(metadata | jq -r 'first(.packages[].repository | values)')"
version="$(metadata | jq -r 'first(.packages[] | select(.name == "ingester")).version')"
if [[ "$placeholder" != "$repository" ]]; then
  git grep --name-only --fixed-strings -e "$placeholder" | xargs sed --in-place "s#$placeholder#$repository#g"
  git diff >"$out/address.patch"
  # In the clone alone: what is packed is a commit, and so is what a crate outside fetches. With the same time, which the archive has.
  GIT_COMMITTER_DATE="$(git log -1 --format=%cI)" git -c user.name=release -c user.email=release@localhost commit --quiet --all --message "address of the repository"
fi

step "fetching what is not downloaded yet"
for lock in Cargo.toml examples/dataset-operator/Cargo.toml; do
  cargo fetch --locked --quiet --target "$(rustc -vV | sed -n 's/^host: //p')" --manifest-path "$lock"
done

step "packing the crates"
mapfile -t crates < <(metadata | jq -r '.packages[] | select(.publish == null) | .name')
verify=()
[[ -z "$resolve" ]] || verify=(--no-verify)
# A library does not choose the version of Kubernetes; here, where each is compiled alone, it is the one of the program.
kubernetes="$(cargo metadata --locked --offline --format-version 1 | jq -r '.packages[] | select(.name == "k8s-openapi").features.latest[0]')"
# In the order in which `cargo publish --workspace` publishes them.
K8S_OPENAPI_ENABLED_VERSION="${kubernetes/#v1_/1.}" CARGO_TARGET_DIR="$work/packages" cargo package --locked --offline --quiet "${verify[@]}" "${crates[@]/#/--package=}"
mkdir -p "$out/crates" "$work/unpacked"
cp "$work"/packages/package/*.crate "$out/crates/"
for crate in "${crates[@]}"; do
  tar --extract --gzip --file "$out/crates/$crate-$version.crate" --directory "$work/unpacked"
done

# A crate of a user, in a folder of its own: `outside NAME`, with the manifest of the tutorial on standard input.
outside() {
  local to="$work/$1"
  mkdir -p "$to/.cargo"
  cp -r examples/dataset-operator/{src,Cargo.lock,objects.yaml} "$to/"
  cat >"$to/Cargo.toml"
  cd "$to"
  if [[ -n "$resolve" ]]; then
    cargo metadata --format-version 1 >/dev/null
  else
    cargo run --quiet -- schema generate
    local database="sqlite://$to/ingester.db"
    cargo run --quiet -- import objects.yaml --database-url "$database"
    cargo run --quiet -- get datasets --database-url "$database" | grep --quiet customers || failed "the crate outside does not print its objects"
  fi
  cd "$work/sources"
}
manifest="$(sed -n '/^```toml$/,/^```$/{/^```/d;p}' docs/tutorial.md)"

step "using the crates from a crate outside of the repository, as packages"
{
  echo '[patch.crates-io]'
  for crate in "${crates[@]}"; do
    echo "$crate = { path = \"$work/unpacked/$crate-$version\" }"
  done
} >"$work/patch.toml"
mkdir -p "$work/by-package/.cargo"
cp "$work/patch.toml" "$work/by-package/.cargo/config.toml"
grep --invert-match --fixed-strings "$repository" <<<"$manifest" | sed 's/^# ingester/ingester/' |
  CARGO_NET_OFFLINE=true outside by-package

step "using the crates from a crate outside of the repository, by git"
# With a folder of its own for the clone.
home="${CARGO_HOME:-$HOME/.cargo}"
mkdir "$work/cargo"
for part in registry config.toml; do
  [[ ! -e "$home/$part" ]] || ln -s "$home/$part" "$work/cargo/$part"
done
sed "s#$repository#file://$work/sources#" <<<"$manifest" | CARGO_HOME="$work/cargo" outside by-git

step "making the archive and the root file system of the image"
arguments=(--out "$out" --rootfs "$work/rootfs")
[[ -z "$binary" ]] || arguments+=(--binary "$binary")
bash deploy/dist.sh "${arguments[@]}"
archive="$(basename "$out"/ingester-"$version"-*.tar.gz)"

step "using the archive"
(cd "$out" && sha256sum --check --quiet SHA256SUMS)
tar --extract --gzip --file "$out/$archive" --directory "$work"
cd "$work/${archive%.tar.gz}"
sha256sum --check --quiet SHA256SUMS
[[ "$(./ingester --version)" == "ingester $version"* ]] || failed "the program is $(./ingester --version), not $version"
database="sqlite://$work/samples.db"
./ingester import crd-specs/samples --database-url "$database"
./ingester get models --database-url "$database" | grep --quiet ingester-test-model || failed "the program does not print its objects"
cd "$work/sources"

step "making the image, and using it"
image="$work/image.tar"
revision="$(git -C "$root" rev-parse HEAD)"
recipe=(-f deploy/Dockerfile.binary --build-arg "VERSION=$version" --build-arg "REVISION=$revision" -t "ingester:$version" "$work/rootfs")
if command -v buildah >/dev/null; then
  images=(--storage-driver vfs --root "$work/images" --runroot "$work/containers")
  buildah "${images[@]}" build --quiet --isolation chroot "${recipe[@]}"
  container="$(buildah "${images[@]}" from "ingester:$version")"
  said="$(buildah "${images[@]}" run --isolation chroot "$container" -- /usr/local/bin/ingester --version)"
  buildah "${images[@]}" push --quiet "ingester:$version" "docker-archive:$image:ingester:$version"
elif docker info >/dev/null 2>&1; then
  before="$(docker image inspect --format '{{.Id}}' "ingester:$version" 2>/dev/null || true)"
  docker build --quiet "${recipe[@]}"
  said="$(docker run --rm "ingester:$version" --version)" || said=""
  docker save --output "$image" "ingester:$version"
  # This machine keeps the tag that it had, or has none.
  if [[ -n "$before" ]]; then
    docker tag "$before" "ingester:$version"
  else
    docker image rm "ingester:$version" >/dev/null
  fi
else
  said="" image=""
  skipped+=("the image: neither buildah nor a running docker")
fi
if [[ -n "$image" ]]; then
  [[ "$said" == "ingester $version"* ]] || failed "the image has the program $said, not $version"
  gzip -n <"$image" >"$out/ingester-$version-image.tar.gz"
fi

step "making the chart, and rendering it"
chart="$out/ingester-chart-$version.tgz"
# As `helm package`: links become what they lead to.
tar --create --dereference --directory deploy --transform 's#^helm#ingester#' --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@$(git log -1 --format=%ct)" helm | gzip -n >"$chart"
mkdir "$work/chart"
tar --extract --gzip --file "$chart" --directory "$work/chart"
renderer="$HOME/.cache/ingester-testbed/helm-render/helm-render"
if command -v helm >/dev/null; then
  rendered="$(helm template ingester "$chart")"
elif [[ -x "$renderer" ]]; then
  echo '{}' >"$work/values.yaml"
  rendered="$("$renderer" "$work/chart/ingester" "$work/values.yaml")"
else
  rendered=""
  skipped+=("the rendering of the chart: neither helm nor the renderer of tests/install.sh")
fi
if [[ -n "$rendered" ]]; then
  grep --quiet "ingester:$version" <<<"$rendered" || failed "the chart does not name the image ingester:$version"
fi

step "writing the manifest of the plugin"
sum="$(cut -d ' ' -f 1 "$out/SHA256SUMS")"
sed "s/\"0\{64\}\"/\"$sum\"/" deploy/krew/ingester.yaml >"$out/krew-ingester.yaml"
grep --quiet --fixed-strings "$repository/releases/download/v$version/$archive" "$out/krew-ingester.yaml" || skipped+=("the plugin: it is for another target than $archive")

step "done: release $version of $repository"
(cd "$out" && find . -type f -printf '%10s %P\n' | sort -k 2)
[[ -z "$resolve" ]] || skipped+=("compiling the crates: --resolve")
[[ -z "$binary" ]] || skipped+=("compiling the program of the archive: --binary")
for part in ${skipped[@]+"${skipped[@]}"}; do
  echo "skipped: $part"
done
echo "not done: the tag, the publication of crates, and the uploads; docs/releasing.md has their commands"
