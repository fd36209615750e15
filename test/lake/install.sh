#!/usr/bin/env bash
# Installs what `make test-lake` needs into .lake-tests/: engines in a virtual environment, DuckDB's extensions (PyPI has
# the signed files), and Iceberg's reference catalog from Maven Central. Ends with 3, and says why, where it cannot.
set -uo pipefail
cd "$(dirname "$0")/../.."
home=.lake-tests
lacks() { echo "test-lake: SKIPPED: $1" >&2; exit 3; }
command -v python3 >/dev/null || lacks 'needs Python 3 (apt-get install python3-venv)'
command -v java >/dev/null || lacks 'needs Java 17 (apt-get install openjdk-17-jre-headless)'
command -v mvn >/dev/null || lacks 'needs Maven (apt-get install maven)'
mkdir -p "$home/extensions"
if ! cmp -s test/lake/requirements.txt "$home/requirements.txt"; then
  python3 -m venv "$home/python" || lacks 'cannot make a virtual environment (apt-get install python3-venv)'
  "$home/python/bin/pip" install --quiet --requirement test/lake/requirements.txt || lacks 'cannot install from PyPI'
  find "$home/python" -name '*.duckdb_extension' -exec cp {} "$home/extensions/" \;
  cp test/lake/requirements.txt "$home/requirements.txt"
fi
# The catalog, and what Spark needs to read it.
for artifact in iceberg-open-api:1.10.0 iceberg-spark-runtime-4.1_2.13:1.12.0 iceberg-aws-bundle:1.12.0; do
  [ -s "$home/${artifact/:/-}.jar" ] || mvn --quiet org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    "-Dartifact=org.apache.iceberg:$artifact" -DoutputDirectory="$home" || lacks 'cannot fetch jars from Maven Central'
done
