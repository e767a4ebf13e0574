#!/usr/bin/env bash
# Checks each feature of each crate alone, and a program that names another version of Kubernetes than the latest. The tests have all features.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

check() {
  echo "cargo check $*"
  cargo check --locked --quiet "$@"
}

# A library names no version of Kubernetes, so one is named for it here.
latest=k8s-openapi/latest
check --package ingester-core --features $latest
check --package ingester-core --features $latest,protobuf
check --package ingester-server --features $latest --no-default-features
for database in mysql postgres sqlite; do
  check --package ingester --no-default-features --features k8s-latest,$database
done
check --package ingester --no-default-features --features k8s-latest,sqlite,otlp
check --package ingester --no-default-features --features k8s-openapi/v1_33,sqlite
