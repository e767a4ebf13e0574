# shellcheck shell=bash
# Builds the modern API server, and the informer, a client in Go. Part of tests/install.sh, whose functions it uses; its text and the
# sources beside it are the key of what is cached.

# Builds both programs into FOLDER/out, and puts unstable's etcd beside them, which is newer than Debian 12's. Installs nothing.
build_modern_apiserver() {
  local part="$1" source
  mkdir -p "$part/apt" "$part/debs" "$part/root" "$part/tmp" "$part/out"

  do_now "finding the Debian mirror"
  source="$(mirror)"

  do_now "reading the package lists of Debian unstable"
  echo "deb ${source} unstable main" >"$part/apt/sources.list"
  private_apt "$part/apt" apt-get update

  do_now "choosing the packages of the modern API server"
  local library=golang-k8s-apiextensions-apiserver-dev libraries go
  libraries="$(needs "$part" "$library" | grep -E '^golang-.*-dev$')"
  go="$(needs "$part" golang-any | grep -E '^golang-[0-9.]+-(go|src)$')"
  # Four fifths of the bytes are in packages that these programs do not import. Should they ever, they are fetched after all.
  local large='aws|circl|compress|lz4|google-(cloud-dev|api)|gonum|mongo|nats|tail|image|sha1cd|pprof|envoy|bubbletea|x-tools|toml'

  do_now "downloading Go and the sources of the modern API server"
  # shellcheck disable=SC2046,SC2086 # one word a package
  unpack_packages "$part" $go etcd-server $(grep -vE "$large" <<<"$libraries")
  GOROOT="$(echo "$part"/root/usr/lib/go-[0-9]*)"
  export GOROOT GOPATH="$part/root/usr/share/gocode" GOCACHE="$part/gocache" GOTMPDIR="$part/tmp" HOME="$part/tmp" GO111MODULE=off \
    CGO_ENABLED=0 GOENV=off GOFLAGS="" GOWORK=off GOTOOLCHAIN=local GOPROXY=off GOTELEMETRY=off
  if ! "$GOROOT/bin/go" list -deps "$here/modern-apiserver/main.go" >/dev/null ||
    ! "$GOROOT/bin/go" list -deps "$here/modern-apiserver/informer/main.go" >/dev/null; then
    # shellcheck disable=SC2046 # one word a package
    unpack_packages "$part" $(grep -E "$large" <<<"$libraries")
  fi

  do_now "building the modern API server"
  local version major minor at=k8s.io/component-base/version
  # Debian's version 0.36.4-1 of the library is that of Kubernetes 1.36.4.
  version="1.$(dpkg-deb --field "$part/debs/$library"_*.deb Version | sed -E 's/^0\.([0-9]+\.[0-9]+).*$/\1/')"
  IFS=. read -r major minor _ <<<"$version"
  nice "$GOROOT/bin/go" build -trimpath -o "$part/out/apiserver" \
    -ldflags "-s -w -X $at.gitVersion=v$version -X $at.gitMajor=$major -X $at.gitMinor=$minor" "$here/modern-apiserver/main.go"

  do_now "building the informer"
  nice "$GOROOT/bin/go" build -trimpath -o "$part/out/informer" -ldflags "-s -w" "$here/modern-apiserver/informer/main.go"

  do_now "starting the programs of the modern API server"
  install "$part/root/usr/bin/etcd" "$part/out/etcd"
  "$part/out/apiserver" --version
  "$part/out/etcd" --version
}

# The packages that some packages need, with those that could be taken instead: unstable is often not installable as a whole.
needs() {
  local part="$1"
  shift
  private_apt "$part/apt" apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "$@" | grep -E '^[a-z0-9]' | sort --unique
}

# Downloads packages and unpacks them into FOLDER/root, without tests and documentation.
unpack_packages() {
  local part="$1" package
  shift
  (cd "$part/debs" && private_apt "$part/apt" apt-get download "$@")
  for package in "$@"; do
    dpkg-deb --fsys-tarfile "$part/debs/$package"_*.deb | tar --extract --directory "$part/root" \
      --exclude='*_test.go' --exclude=testdata --exclude=./usr/share/doc --exclude=./usr/lib/systemd
  done
}
