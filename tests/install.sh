#!/usr/bin/env bash
# Installs the servers that the tests run against: MariaDB, MySQL, PostgreSQL, Galera, etcd, kube-apiserver, and a modern API
# server; and the programs kubectl, promtool and mariadb-dump, one that renders the Helm chart, a browser, and buildah.
#
#   tests/install.sh [packages] [mysql] [templates] [postgresql] [galera] [apiserver] [modern-apiserver] [kubectl] [tools] [helm-render] [browser] [image]
#   without arguments: all of them
#
# For Debian 12. Everything that is not a Debian package goes to ~/.cache/ingester-testbed/, where a second run finds it
# and returns at once; deleting that folder undoes it. It downloads only Debian packages, from the mirror that the machine's
# apt already uses.
#
#   packages   missing Debian packages: the MariaDB server, etcd, a C compiler, Python's protobuf and
#              Kubernetes client, valgrind.
#   mysql      MySQL from Debian unstable, unpacked into the cache, never installed. It may be missing: then the tests
#              that need it print "skipped: no MySQL".
#   templates  the data of a new MariaDB server and of a new MySQL server, in the cache. Each server of the tests starts on a copy,
#              which takes a tenth of a second; making them takes MySQL three seconds.
#   postgresql PostgreSQL 15 with its client programs, and PgBouncer, from this Debian (22 MB), unpacked into the cache, never
#              installed, with the data of a new server. They may be missing: then the tests that need them print "skipped: no
#              PostgreSQL".
#   galera     Galera's library for this Debian's MariaDB (1 MB), unpacked into the cache, with the data of a new cluster. It may
#              be missing: then the tests that need it print "skipped: no Galera".
#   apiserver  kube-apiserver 1.20.2, built from Debian's own source package (some minutes, once).
#   modern-apiserver
#              Kubernetes' server of custom resources as Debian unstable has it, built by tests/modern-apiserver/ from
#              unstable's packages of Go sources, with unstable's etcd, and a client with an informer of client-go (three
#              minutes, 3 GB of disk meanwhile; once, and again when that folder changes). They may be missing: then the tests
#              that need them print "skipped: no modern API server".
#   kubectl    kubectl from Debian unstable, unpacked into the cache. It may be missing: then the tests that need it print
#              "skipped: no kubectl".
#   tools      promtool and mariadb-dump from this Debian (20 MB), unpacked into the cache. They may be missing: then the tests
#              that need them print "skipped: no promtool" or "skipped: no mariadb-dump".
#   helm-render
#              The program of tests/helm-render/, which renders the chart in deploy/helm: built by this Debian's Go (installed, if
#              it is missing) from this Debian's packages of Go sources (sprig, gojsonschema, sigs.k8s.io/yaml; 8 MB, unpacked
#              meanwhile, never installed). Once, and again when that folder changes. It may be missing: then the tests that need it
#              print "skipped: no Go, no Helm renderer".
#   browser    chromium and chromedriver, packages of this Debian (100 MB, because of their libraries), installed. They may be missing:
#              then the tests that need them print "skipped: no chromium".
#   image      buildah, a package of this Debian (20 MB), installed. It may be missing: then the test that needs it prints
#              "skipped: no buildah".
#
# If KUBEBUILDER_ASSETS is set, its etcd and kube-apiserver are used instead of kube-apiserver 1.20.2 and Debian's etcd, and
# neither is installed. Likewise, a database that INGESTER_TEST_MARIADB_URL, INGESTER_TEST_MYSQL_URL or INGESTER_TEST_POSTGRES_URL
# names is not installed.

set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${HOME:?}/.cache/ingester-testbed"
log="$cache/install.log"

mkdir -p "$cache"
# One installation at a time, because test runs on one machine share the cache. A second one waits, then finds everything done.
exec 9>"$cache/lock"
flock 9

# Messages for people go to descriptor 3, everything else to the log.
exec 3>&1 </dev/null >"$log" 2>&1

# Records the current work, for the message if it fails. It uses a file, because a subshell's variables are lost.
do_now() {
  echo "$1" >"$cache/doing"
  echo "--- $1"
}
do_now "starting"

say() { echo "testbed: $*" >&3; }

# Cleans up, however this script ends.
made_policy=""
finish() {
  local code=$?
  if [[ $code -ne 0 ]]; then
    {
      echo "testbed: failed at: $(cat "$cache/doing"). The last lines of $log:"
      tail -n 20 "$log"
    } >&3
  fi
  if [[ -n $made_policy ]]; then as_root rm -f "$made_policy"; fi
  rm -rf "$cache"/*.part "$cache/doing"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

as_root() {
  if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo --non-interactive "$@"; fi
}

has() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null; }

# ---------------------------------------------------------------------------------------------------------------------
# apt

# Prints "[options] address" of the mirror that this machine's apt uses for its own release.
mirror() {
  local codename files=() file found
  # shellcheck source=/dev/null
  codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [[ -f $file ]]; then files+=("$file"); fi
  done
  # The format of a line: deb [options] address suite components
  found="$(awk -v codename="$codename" '
    $1 == "deb" {
      options = ""; at = 2
      if ($2 ~ /^\[/) {
        for (; at <= NF; at++) { options = options $at " "; if ($at ~ /\]$/) { at++; break } }
      }
      if ($(at + 1) == codename) { print options $at; exit }
    }' /dev/null "${files[@]}")"
  if [[ -z $found ]]; then
    files=()
    for file in /etc/apt/sources.list.d/*.sources; do
      if [[ -f $file ]]; then files+=("$file"); fi
    done
    # One stanza per entry. An inline key (Signed-By over several lines) is ignored in favour of the keys that apt has.
    found="$(awk -v codename="$codename" -v RS= -F'\n' '
      {
        split("", field)
        for (i = 1; i <= NF; i++) {
          if ($i ~ /^[#[:space:]]/) continue
          colon = index($i, ":")
          value = substr($i, colon + 1); sub(/^[[:space:]]+/, "", value)
          field[tolower(substr($i, 1, colon - 1))] = value
        }
        if (tolower(field["enabled"]) == "no") next
        if ((" " field["types"] " ") !~ / deb / || (" " field["suites"] " ") !~ (" " codename " ")) next
        split(field["uris"], address, /[[:space:]]+/)
        options = ""
        if (field["signed-by"] ~ /^\//) options = options " signed-by=" field["signed-by"]
        if (tolower(field["trusted"]) == "yes") options = options " trusted=yes"
        print (options == "" ? "" : "[" substr(options, 2) "] ") address[1]
        exit
      }' /dev/null "${files[@]}")"
  fi
  if [[ -z $found ]]; then
    echo "no entry for the release \"$codename\" in apt's sources" >&2
    return 1
  fi
  echo "$found"
}

# Runs apt-get or apt-cache with its own lists, cache and state in a folder: `private_apt FOLDER PROGRAM ARGUMENTS...`. It is
# independent of the system's apt, and considers no package installed. An outdated mirror is good enough: the signatures of the
# lists are checked, their age is not.
private_apt() {
  local folder="$1" program="$2"
  shift 2
  mkdir -p "$folder/lists/partial" "$folder/archives/partial"
  touch "$folder/status"
  DEBIAN_FRONTEND=noninteractive "$program" --quiet -o "APT::Get::Assume-Yes=true" \
    -o "Dir::State=$folder" -o "Dir::State::lists=$folder/lists" -o "Dir::State::status=$folder/status" \
    -o "Dir::State::extended_states=$folder/extended_states" \
    -o "Dir::Cache=$folder" -o "Dir::Cache::archives=$folder/archives" \
    -o "Dir::Etc::sourcelist=$folder/sources.list" -o "Dir::Etc::sourceparts=/dev/null" \
    -o "Dir::Etc::preferences=/dev/null" -o "Dir::Etc::preferencesparts=/dev/null" \
    -o "APT::Sandbox::User=$(id -un)" -o "APT::Install-Recommends=false" \
    -o "Acquire::Languages=none" -o "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false" \
    -o "Acquire::Check-Valid-Until=false" -o "Acquire::Retries=2" -o "Acquire::http::Timeout=30" -o "Acquire::https::Timeout=30" \
    "$@"
}

# Installs the named packages on the system.
install_packages() {
  say "installing $*"
  # Debian starts a server as soon as it is installed, unless this file forbids it. The tests start their own servers.
  local policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    made_policy="$policy"
  fi
  as_root apt-get --quiet -o Acquire::Retries=2 update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get --quiet --assume-yes --no-install-recommends install "$@"
  if [[ -n $made_policy ]]; then
    as_root rm -f "$made_policy"
    made_policy=""
  fi
}

# ---------------------------------------------------------------------------------------------------------------------
# The steps

packages() {
  do_now "installing Debian packages"
  local started=$SECONDS missing=()
  if [[ -z ${INGESTER_TEST_MARIADB_URL:-} ]]; then
    # Server and client programs without the system service; mariadb-install-db needs both.
    has mariadbd && has mariadb-install-db || missing+=(mariadb-server-core)
    has my_print_defaults || missing+=(mariadb-client-core)
  fi
  if [[ -z ${KUBEBUILDER_ASSETS:-} ]]; then
    has etcd || missing+=(etcd-server)
    has openssl || missing+=(openssl)
  fi
  # SQLite and ring contain C, which their crates compile.
  has cc && [[ -e /usr/include/stdio.h ]] || missing+=(gcc libc6-dev)
  # An independent protobuf runtime, for the tests of our encoder.
  /usr/bin/python3 -c 'import google.protobuf' || missing+=(python3-protobuf)
  # A Kubernetes client that is neither Go's nor ours.
  /usr/bin/python3 -c 'import kubernetes' || missing+=(python3-kubernetes)
  # Counts instructions.
  has valgrind || missing+=(valgrind)
  [[ -e /etc/ssl/certs/ca-certificates.crt ]] || missing+=(ca-certificates)
  if [[ ${#missing[@]} -gt 0 ]]; then
    install_packages "${missing[@]}"
  fi
  say "packages: ready ($((SECONDS - started)) s)"
}

# Runs a step that may fail, in a subshell with its own errexit. Its exit code is then in `tried`. Not for use in a condition,
# where bash ignores errexit.
tried=0
try() {
  set +e
  (
    trap - EXIT
    set -e
    "$@"
  )
  tried=$?
  set -e
}

mysql() {
  local started=$SECONDS
  if [[ -n ${INGESTER_TEST_MYSQL_URL:-} ]]; then
    say "mysql: INGESTER_TEST_MYSQL_URL is used"
    return
  fi
  if [[ -x $cache/mysql/mysqld ]]; then
    say "mysql: ready (cached)"
    return
  fi
  try unpack_mysql "$cache/mysql.part"
  rm -rf "$cache/mysql.part"
  if [[ $tried -ne 0 ]]; then
    say "skipped: no MySQL ($(cat "$cache/doing") failed, see $log)"
    return
  fi
  say "mysql: ready ($((SECONDS - started)) s)"
}

unpack_mysql() {
  local part="$1" package
  rm -rf "$part"
  mkdir -p "$part/apt" "$part/root"

  do_now "finding the Debian mirror"
  local source
  source="$(mirror)"

  do_now "reading the package lists of Debian unstable"
  echo "deb ${source} unstable main" >"$part/apt/sources.list"
  private_apt "$part/apt" apt-get update

  do_now "downloading mysql-server-core and its libraries"
  # Perl is a third of the download, and only for scripts around the server that the tests do not run.
  local names
  names="$(private_apt "$part/apt" apt-get install --print-uris mysql-server-core |
    sed -nE "s/^'[^']*' ([^_]+)_.*/\1/p" | grep -vE '^(perl|libperl|libgdbm)')"
  mkdir "$part/debs"
  # shellcheck disable=SC2086 # one word a package
  (cd "$part/debs" && private_apt "$part/apt" apt-get download $names)

  do_now "unpacking MySQL"
  for package in "$part"/debs/*.deb; do
    dpkg -x "$package" "$part/root"
  done
  rm -rf "$part/apt" "$part/debs" "$part/root"/usr/share/{doc,man,locale}

  do_now "starting MySQL's program"
  local loader libraries
  loader="$(cd "$part/root" && find usr -name 'ld-linux*.so.*' -print -quit)"
  libraries="$(cd "$part/root" && dirname "$(find usr/lib -name libc.so.6 -print -quit)")"
  [[ -n $loader && -n $libraries ]]
  # Debian 12's C library is too old for this server, so it gets its own loader and libraries.
  cat >"$part/mysqld" <<WRAPPER
#!/bin/sh
# Runs MySQL with the libraries beside it. Made by tests/install.sh.
root="\$(dirname "\$(readlink -f "\$0")")/root"
exec "\$root/$loader" --library-path "\$root/$libraries:\$root/usr/lib/mysql/private" "\$root/usr/sbin/mysqld" --no-defaults \\
  --lc-messages-dir="\$root/usr/share/mysql" --plugin-dir="\$root/usr/lib/mysql/plugin" --mysqlx=OFF "\$@"
WRAPPER
  chmod 755 "$part/mysqld"
  "$part/mysqld" --version
  rm -rf "$cache/mysql"
  mv "$part" "$cache/mysql"
}

templates() {
  if [[ -z ${INGESTER_TEST_MARIADB_URL:-} ]]; then template mariadb "$(PATH="$PATH:/usr/sbin" command -v mariadbd)"; fi
  if [[ -z ${INGESTER_TEST_MYSQL_URL:-} && -x $cache/mysql/mysqld ]]; then template mysql "$cache/mysql/mysqld"; fi
}

# Makes the data of a new server, if this version of its program has none yet: `template NAME PROGRAM`.
template() {
  local name="$1" program="$2" started=$SECONDS key part="$cache/template.part"
  key="$("$program" --version; sed -n "/^template() {/,/^}/p; /^template_of_$name() {/,/^}/p" "${BASH_SOURCE[0]}" | sha256sum)"
  if [[ "$(cat "$cache/templates/$name.key" || true)" == "$key" ]]; then
    say "data of a new $name: ready (cached)"
    return
  fi
  do_now "making the data of a new $name"
  mkdir -p "$part" "$cache/templates"
  "template_of_$name" "$program" "$part"
  rm -rf "$cache/templates/$name" "$cache/templates/$name.key"
  # The logs of a new server are zeros. As holes they take neither disk nor memory.
  cp -a --sparse=always "$part/data" "$cache/templates/$name"
  rm -rf "$part"
  echo "$key" >"$cache/templates/$name.key"
  say "data of a new $name: ready ($((SECONDS - started)) s)"
}

template_of_mariadb() {
  # Root logs in over TCP without a password, as on MySQL after --initialize-insecure. Without `--force` it refuses to run if the
  # machine's own name cannot be resolved, which a server on 127.0.0.1 does not need.
  PATH="$PATH:/usr/sbin" mariadb-install-db --no-defaults --datadir="$2/data" --auth-root-authentication-method=normal --skip-test-db \
    --force --user="$(id -un)"
}

template_of_mysql() {
  # MySQL creates only root@localhost. If 127.0.0.1 does not resolve to that name, root could not log in over TCP.
  cat >"$2/root.sql" <<'SQL'
CREATE USER 'root'@'127.0.0.1';
GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;
SQL
  "$1" --initialize-insecure --innodb-doublewrite=OFF --innodb-flush-log-at-trx-commit=2 --init-file="$2/root.sql" \
    --datadir="$2/data" --user="$(id -un)"
  # The identity of a server: each gets its own at its first start, because a replica refuses a primary that has the same.
  rm "$2/data/auto.cnf"
}

postgresql() {
  local started=$SECONDS key
  if [[ -n ${INGESTER_TEST_POSTGRES_URL:-} ]]; then
    say "postgresql: INGESTER_TEST_POSTGRES_URL is used"
    return
  fi
  key="$(sed -n '/^unpack_postgresql/,/^}/p' "${BASH_SOURCE[0]}" | sha256sum)"
  if [[ "$(cat "$cache/postgresql/key" || true)" == "$key" ]]; then
    say "postgresql: ready (cached)"
    return
  fi
  rm -rf "$cache/postgresql"
  try unpack_postgresql "$cache/postgresql.part"
  if [[ $tried -eq 0 ]]; then
    echo "$key" >"$cache/postgresql.part/key"
    mv "$cache/postgresql.part" "$cache/postgresql"
  fi
  rm -rf "$cache/postgresql.part"
  if [[ $tried -ne 0 ]]; then
    say "skipped: no PostgreSQL ($(cat "$cache/doing") failed, see $log)"
    return
  fi
  say "postgresql: ready ($((SECONDS - started)) s)"
}

unpack_postgresql() {
  local part="$1" source codename names package
  rm -rf "$part"
  mkdir -p "$part/apt" "$part/debs" "$part/root"

  do_now "finding the Debian mirror"
  source="$(mirror)"
  # shellcheck source=/dev/null
  codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"

  do_now "reading the package lists of Debian $codename"
  echo "deb ${source} ${codename} main" >"$part/apt/sources.list"
  private_apt "$part/apt" apt-get update

  do_now "downloading PostgreSQL, PgBouncer and their libraries"
  # Without the compiler of queries, which is most of the download and loaded on demand, and without Perl. The C library is there.
  names="$(private_apt "$part/apt" apt-get install --print-uris postgresql-15 pgbouncer |
    sed -nE "s/^'[^']*' ([^_]+)_.*/\1/p" | grep -E '^(postgresql-15|postgresql-client-15|pgbouncer|lib.*)$' |
    grep -vE '^lib(c6|c-bin|c-l10n|llvm.*|z3.*|perl.*|gdbm.*|.*-perl)$')"
  # shellcheck disable=SC2086 # one word a package
  (cd "$part/debs" && private_apt "$part/apt" apt-get download $names)

  do_now "unpacking PostgreSQL"
  for package in "$part"/debs/*.deb; do
    dpkg -x "$package" "$part/root"
  done
  rm -rf "$part/apt" "$part/debs" "$part/root"/usr/share/{doc,man,locale} "$part/root"/usr/lib/postgresql/15/lib/bitcode
  cat >"$part/run" <<'WRAPPER'
#!/bin/sh
# Runs a program of PostgreSQL, or PgBouncer, with the libraries beside it: run PROGRAM ARGUMENTS... Made by tests/install.sh.
root="$(dirname "$(readlink -f "$0")")/root"
program="$root/usr/lib/postgresql/15/bin/$1"
[ -x "$program" ] || program="$root/usr/sbin/$1"
shift
for libraries in "$root"/usr/lib/*-linux-gnu; do export LD_LIBRARY_PATH="$libraries"; done
[ "$(id -u)" -eq 0 ] || exec "$program" "$@"
# They refuse to run as root. Nobody may look into root's folders, where the programs are.
exec setpriv --reuid=65534 --regid=65534 --clear-groups --securebits=+no_setuid_fixup --inh-caps=+dac_read_search \
  --ambient-caps=+dac_read_search "$program" "$@"
WRAPPER
  chmod 755 "$part/run"

  do_now "starting the programs of PostgreSQL"
  for package in postgres psql pg_dump pg_basebackup pgbouncer; do
    "$part/run" "$package" --version
  done

  do_now "making the data of a new PostgreSQL server"
  mkdir -m 700 "$part/template"
  [[ $(id -u) -ne 0 ]] || chown 65534:65534 "$part/template"
  # As most databases, it does not order texts by their bytes.
  "$part/run" initdb --pgdata="$part/template" --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 \
    --locale-provider=icu --icu-locale=en-US --no-sync
}

galera() {
  local started=$SECONDS key part="$cache/galera.part"
  if ! has mariadbd || ! has mariadb-install-db; then
    say "skipped: no Galera (MariaDB is not installed here)"
    return
  fi
  # The data are those of one version of the server.
  key="$(PATH="$PATH:/usr/sbin" mariadbd --version; sed -n '/^unpack_galera/,/^}/p' "${BASH_SOURCE[0]}" | sha256sum)"
  if [[ "$(cat "$cache/galera/key" || true)" == "$key" ]]; then
    say "galera: ready (cached)"
    return
  fi
  rm -rf "$cache/galera"
  try unpack_galera "$part"
  if [[ $tried -eq 0 ]]; then
    echo "$key" >"$part/out/key"
    mv "$part/out" "$cache/galera"
  fi
  rm -rf "$part"
  if [[ $tried -ne 0 ]]; then
    say "skipped: no Galera ($(cat "$cache/doing") failed, see $log)"
    return
  fi
  say "galera: ready ($((SECONDS - started)) s)"
}

unpack_galera() {
  local part="$1" source codename server at
  rm -rf "$part"
  mkdir -p "$part/apt" "$part/root" "$part/out"
  export PATH="$PATH:/usr/sbin"

  do_now "finding the Debian mirror"
  source="$(mirror)"
  # shellcheck source=/dev/null
  codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"

  do_now "reading the package lists of Debian $codename"
  echo "deb ${source} ${codename} main" >"$part/apt/sources.list"
  private_apt "$part/apt" apt-get update

  do_now "downloading galera-4"
  (cd "$part" && private_apt "$part/apt" apt-get download galera-4)

  do_now "unpacking Galera"
  dpkg -x "$part"/galera-4_*.deb "$part/root"
  cp --dereference "$part/root/usr/lib/galera/libgalera_smm.so" "$part/out/"

  do_now "making the data of a new cluster"
  mariadb-install-db --no-defaults --datadir="$part/out/template" --auth-root-authentication-method=normal --skip-test-db \
    --force --innodb-log-file-size=16M --user="$(id -un)"
  # A cluster of one node that is stopped at once: its data say where they are in the history of the cluster.
  mariadbd --no-defaults --datadir="$part/out/template" --socket="$part/s" --pid-file="$part/pid" --skip-networking \
    --user="$(id -un)" --innodb-log-file-size=16M --innodb-autoinc-lock-mode=2 --binlog-format=ROW \
    --wsrep-on=ON --wsrep-provider="$part/out/libgalera_smm.so" --wsrep-cluster-address=gcomm:// --wsrep-sst-method=skip \
    --wsrep-provider-options="gmcast.listen_addr=tcp://127.0.0.1:0;gcache.size=1M" >"$part/server.log" 2>&1 9>&- &
  server=$!
  for at in {1..600}; do
    if grep -q 'ready for connections' "$part/server.log" && grep -q 'synced with group' "$part/server.log"; then break; fi
    kill -0 "$server" || break
    sleep 0.1
  done
  kill "$server" || true
  wait "$server" || true
  cat "$part/server.log"
  grep -q '^seqno: *[0-9]' "$part/out/template/grastate.dat"
  sed -i 's/^safe_to_bootstrap: 0/safe_to_bootstrap: 1/' "$part/out/template/grastate.dat"
  rm -f "$part/out/template/galera.cache"
}

apiserver() {
  local started=$SECONDS
  if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
    local program
    for program in etcd kube-apiserver; do
      do_now "looking for $program in KUBEBUILDER_ASSETS ($KUBEBUILDER_ASSETS)"
      [[ -x $KUBEBUILDER_ASSETS/$program ]]
    done
    say "kube-apiserver: KUBEBUILDER_ASSETS is used"
    return
  fi
  if [[ -x $cache/kube-apiserver/kube-apiserver ]]; then
    say "kube-apiserver: ready (cached)"
    return
  fi
  do_now "checking that this is Debian 12 (elsewhere set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver)"
  # shellcheck source=/dev/null
  [[ $(. /etc/os-release && echo "${VERSION_CODENAME:-}") == bookworm ]]

  local go=/usr/lib/go-1.19/bin/go reflect2=/usr/share/gocode/src/github.com/modern-go/reflect2 missing=()
  [[ -x $go ]] || missing+=(golang-1.19-go)
  [[ -d $reflect2 ]] || missing+=(golang-github-modern-go-reflect2-dev)
  has tar || missing+=(tar)
  if [[ ${#missing[@]} -gt 0 ]]; then
    do_now "installing Go"
    install_packages "${missing[@]}"
  fi

  local part="$cache/kube-apiserver.part"
  rm -rf "$part"
  mkdir -p "$part/apt" "$part/tree" "$part/out"

  do_now "downloading the source of kubernetes"
  local source
  source="$(mirror)"
  echo "deb-src ${source} bookworm main" >"$part/apt/sources.list"
  private_apt "$part/apt" apt-get update
  (cd "$part" && private_apt "$part/apt" apt-get source --download-only kubernetes)
  tar --extract --file "$(find "$part" -maxdepth 1 -name 'kubernetes_*.orig.tar.*')" --strip-components=1 --directory "$part/tree"

  say "building kube-apiserver (some minutes, once)"
  (cd "$part/tree" && build_apiserver "$part" "$go" "$reflect2")

  do_now "starting kube-apiserver's program"
  "$part/out/kube-apiserver" --version
  rm -rf "$cache/kube-apiserver"
  mv "$part/out" "$cache/kube-apiserver"
  rm -rf "$part"
  say "kube-apiserver: ready ($((SECONDS - started)) s)"
}

# Builds ./cmd/kube-apiserver in the current folder, the root of the source tree, into FOLDER/out.
build_apiserver() {
  local part="$1" go="$2" reflect2="$3" file

  do_now "mending the source for Go 1.19"
  # The vendored reflect2 expects the runtime's structures from before Go 1.18: the server would crash.
  rm -rf vendor/github.com/modern-go/reflect2
  cp --recursive --dereference "$reflect2" vendor/github.com/modern-go/reflect2
  # Since Go 1.18 reflect.DeepEqual compares two reflect.Value by content: every empty string would count as null.
  for file in vendor/github.com/go-openapi/validate/type.go vendor/k8s.io/kube-openapi/pkg/validation/validate/type.go; do
    sed -i 's/if data == nil || reflect\.DeepEqual(reflect\.Zero(.*) {$/if data == nil {/' "$file"
    grep -q 'if data == nil {$' "$file"
  done

  mkdir -p "$part/gopath/src/k8s.io" "$part/tmp"
  ln -s "$part/tree" "$part/gopath/src/k8s.io/kubernetes"
  export GOPATH="$part/gopath" GOCACHE="$part/gocache" GOTMPDIR="$part/tmp" GO111MODULE=off CGO_ENABLED=0 GOFLAGS="" GOTOOLCHAIN=local
  # GOPATH mode identifies a package by the path of the current folder, which must be the one under GOPATH.
  cd "$part/gopath/src/k8s.io/kubernetes"

  do_now "generating the OpenAPI definitions of kube-apiserver"
  # This generated file is missing in the source package.
  nice "$go" build -o "$part/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  local folders
  folders="$(
    grep --recursive --files-with-matches --include='*.go' '^[[:space:]]*// *+k8s:openapi-gen=' \
      vendor/k8s.io/kube-openapi staging/src/k8s.io pkg | xargs --max-args=1 dirname | sort --unique |
      grep -vE '/kube-openapi/(test|examples|cmd|pkg/generators|pkg/builder)|/testdata(/|$)|/code-generator/|/sample-|/legacy-cloud' |
      sed -E 's#^staging/src/#vendor/#; s#^#k8s.io/kubernetes/#' | paste --serial --delimiters=, -
  )"
  [[ -n $folders ]]
  nice "$part/openapi-gen" -O zz_generated.openapi -h hack/boilerplate/boilerplate.generatego.txt \
    -p k8s.io/kubernetes/pkg/generated/openapi -i "$folders" -r "$part/openapi-report"
  [[ -s pkg/generated/openapi/zz_generated.openapi.go ]]

  do_now "building kube-apiserver"
  local package flags="-s -w"
  for package in k8s.io/kubernetes/vendor/k8s.io/component-base/version k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=v1.20.2 -X $package.gitMajor=1 -X $package.gitMinor=20"
  done
  nice "$go" build -ldflags "$flags" -o "$part/out/kube-apiserver" ./cmd/kube-apiserver
}

modern_apiserver() {
  local started=$SECONDS key part="$cache/modern-apiserver.part"
  # It is built again when its recipe changes, not when unstable does.
  key="$(cat "$here/modern-apiserver/build.sh" "$here/modern-apiserver/main.go" "$here/modern-apiserver/informer/main.go" | sha256sum)"
  if [[ "$(cat "$cache/modern-apiserver/key" || true)" == "$key" ]]; then
    say "modern API server: ready (cached)"
    return
  fi
  rm -rf "$part"
  # shellcheck source=tests/modern-apiserver/build.sh
  source "$here/modern-apiserver/build.sh"
  say "building the modern API server (three minutes, once)"
  try build_modern_apiserver "$part"
  # Not before: tests that run meanwhile use the former one.
  rm -rf "$cache/modern-apiserver"
  if [[ $tried -eq 0 ]]; then
    echo "$key" >"$part/out/key"
    mv "$part/out" "$cache/modern-apiserver"
  fi
  rm -rf "$part"
  if [[ $tried -ne 0 ]]; then
    say "skipped: no modern API server ($(cat "$cache/doing") failed, see $log)"
    return
  fi
  say "modern API server: ready ($("$cache/modern-apiserver/apiserver" --version), $((SECONDS - started)) s)"
}

kubectl() {
  local started=$SECONDS
  if [[ -x $cache/kubectl/kubectl ]]; then
    say "kubectl: ready (cached)"
    return
  fi
  try unpack_kubectl "$cache/kubectl.part"
  rm -rf "$cache/kubectl.part"
  if [[ $tried -ne 0 ]]; then
    say "skipped: no kubectl ($(cat "$cache/doing") failed, see $log)"
    return
  fi
  say "kubectl: ready ($((SECONDS - started)) s)"
}

unpack_kubectl() {
  local part="$1" source
  rm -rf "$part"
  mkdir -p "$part/apt" "$part/root"

  do_now "finding the Debian mirror"
  source="$(mirror)"

  do_now "reading the package lists of Debian unstable"
  echo "deb ${source} unstable main" >"$part/apt/sources.list"
  private_apt "$part/apt" apt-get update

  do_now "downloading kubectl"
  (cd "$part" && private_apt "$part/apt" apt-get download kubectl)

  do_now "unpacking kubectl"
  dpkg -x "$part"/kubectl_*.deb "$part/root"

  do_now "starting kubectl"
  "$part/root/usr/bin/kubectl" version --client
  rm -rf "$cache/kubectl"
  mkdir "$cache/kubectl"
  mv "$part/root/usr/bin/kubectl" "$cache/kubectl/"
}

tools() {
  local started=$SECONDS
  if [[ -x $cache/tools/promtool && -x $cache/tools/mariadb-dump ]]; then
    say "promtool, mariadb-dump: ready (cached)"
    return
  fi
  try unpack_tools "$cache/tools.part"
  rm -rf "$cache/tools.part"
  if [[ $tried -ne 0 ]]; then
    say "skipped: no promtool and mariadb-dump ($(cat "$cache/doing") failed, see $log)"
    return
  fi
  say "promtool, mariadb-dump: ready ($((SECONDS - started)) s)"
}

unpack_tools() {
  local part="$1" source package codename
  rm -rf "$part"
  mkdir -p "$part/apt" "$part/root" "$part/out"

  do_now "finding the Debian mirror"
  source="$(mirror)"
  # shellcheck source=/dev/null
  codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"

  do_now "reading the package lists of Debian $codename"
  echo "deb ${source} ${codename} main" >"$part/apt/sources.list"
  private_apt "$part/apt" apt-get update

  do_now "downloading prometheus and mariadb-client"
  (cd "$part" && private_apt "$part/apt" apt-get download prometheus mariadb-client)

  do_now "unpacking promtool and mariadb-dump"
  for package in "$part"/*.deb; do
    dpkg -x "$package" "$part/root"
  done
  mv "$part/root/usr/bin/promtool" "$part/root/usr/bin/mariadb-dump" "$part/out/"

  do_now "starting promtool and mariadb-dump"
  "$part/out/promtool" --version
  "$part/out/mariadb-dump" --version
  rm -rf "$cache/tools"
  mv "$part/out" "$cache/tools"
}

helm_render() {
  local started=$SECONDS key go=/usr/lib/go-1.19/bin/go part="$cache/helm-render.part"
  key="$({ cat "$here/helm-render/main.go"; sed -n '/^build_helm_render/,/^}/p' "${BASH_SOURCE[0]}"; } | sha256sum)"
  if [[ "$(cat "$cache/helm-render/key" || true)" == "$key" ]]; then
    say "Helm renderer: ready (cached)"
    return
  fi
  if [[ ! -x $go ]]; then
    do_now "installing Go"
    try install_packages golang-1.19-go
  fi
  try build_helm_render "$part" "$go"
  rm -rf "$cache/helm-render"
  if [[ $tried -eq 0 ]]; then
    echo "$key" >"$part/out/key"
    mv "$part/out" "$cache/helm-render"
  fi
  rm -rf "$part"
  if [[ $tried -ne 0 ]]; then
    say "skipped: no Go, no Helm renderer ($(cat "$cache/doing") failed, see $log)"
    return
  fi
  say "Helm renderer: ready ($((SECONDS - started)) s)"
}

build_helm_render() {
  local part="$1" go="$2" source codename names package
  rm -rf "$part"
  mkdir -p "$part/apt" "$part/debs" "$part/root" "$part/tmp" "$part/out"

  do_now "finding the Debian mirror"
  source="$(mirror)"
  # shellcheck source=/dev/null
  codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"

  do_now "reading the package lists of Debian $codename"
  echo "deb ${source} ${codename} main" >"$part/apt/sources.list"
  private_apt "$part/apt" apt-get update

  do_now "downloading the Go sources of the Helm renderer"
  names="$(private_apt "$part/apt" apt-get install --print-uris golang-github-masterminds-sprig-dev \
    golang-github-xeipuuv-gojsonschema-dev golang-k8s-sigs-yaml-dev | sed -nE "s/^'[^']*' (golang-[^_]+-dev)_.*/\1/p")"
  # shellcheck disable=SC2086 # one word a package
  (cd "$part/debs" && private_apt "$part/apt" apt-get download $names)
  for package in "$part"/debs/*.deb; do
    dpkg -x "$package" "$part/root"
  done

  do_now "building the Helm renderer"
  export GOPATH="$part/root/usr/share/gocode" GOCACHE="$part/gocache" GOTMPDIR="$part/tmp" GO111MODULE=off CGO_ENABLED=0 \
    GOENV=off GOFLAGS="" GOTOOLCHAIN=local
  nice "$go" build -trimpath -ldflags "-s -w" -o "$part/out/helm-render" "$here/helm-render/main.go"
}

# Installs packages of this Debian that the tests can do without: `optional_packages NAME PROGRAMS PACKAGES`, with names separated by blanks.
optional_packages() {
  local started=$SECONDS name="$1" program packages missing=""
  for program in $2; do
    has "$program" || missing+=" $program"
  done
  if [[ -z $missing ]]; then
    say "$name: ready"
    return
  fi
  read -ra packages <<<"$3"
  do_now "installing $name"
  try install_packages "${packages[@]}"
  if [[ $tried -ne 0 ]]; then
    say "skipped: no $name ($(cat "$cache/doing") failed, see $log)"
    return
  fi
  say "$name: ready ($((SECONDS - started)) s)"
}

browser() {
  optional_packages chromium "chromium chromedriver" "chromium chromium-driver"
}

image() {
  optional_packages buildah buildah buildah
}

# ---------------------------------------------------------------------------------------------------------------------

steps=("$@")
[[ ${#steps[@]} -gt 0 ]] || steps=(packages mysql templates postgresql galera apiserver modern-apiserver kubectl tools helm-render browser image)
for step in "${steps[@]}"; do
  case "$step" in
    packages | mysql | templates | postgresql | galera | apiserver | modern-apiserver | kubectl | tools | helm-render | browser | image) ;;
    *)
      do_now "reading the arguments: unknown step \"$step\"; known: packages, mysql, templates, postgresql, galera, apiserver, modern-apiserver, kubectl, tools, helm-render, browser, image"
      exit 2
      ;;
  esac
done

# Leftovers of a killed run.
rm -rf "$cache"/*.part

for step in "${steps[@]}"; do
  "${step//-/_}"
done
say "log: $log"
