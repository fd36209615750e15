#!/usr/bin/env bash
# Two nights of ledgerlake against its sample API: crawl, change, crawl again, SQL, Parquet. `make demo` builds first.
# DEMO_ASSETS and DEMO_OWNERS set the size of the sample ledger.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

data=demo-data
config=scripts/demo.yaml
scratch="$(mktemp -d)"
sandbox_pid=

clean_up() {
  if [ -n "$sandbox_pid" ]; then kill "$sandbox_pid" 2>/dev/null && wait "$sandbox_pid" 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi

say() { printf '\n%s== %s%s\n' "$bold" "$1" "$plain"; }
note() { printf '%s%s%s\n' "$dim" "$1" "$plain"; }

# Shows a command as one would type it, and runs it.
ledgerlake() {
  local shown='' word
  set -- "$1" --config "$config" --data-dir "$data" "${@:2}"
  for word in "$@"; do
    case "$word" in *[!A-Za-z0-9_./=-]*) shown+=" \"$word\"" ;; *) shown+=" $word" ;; esac
  done
  printf '\n%s$ ledgerlake%s%s\n' "$bold" "$shown" "$plain"
  node dist/cli.js "$@" --log-level warn
}

sql() { ledgerlake sql --format table "$1"; }

start_sandbox() {
  : >"$scratch/sandbox.json"
  node dist/cli.js sandbox --port 0 --json --assets "${DEMO_ASSETS:-1200}" --owners "${DEMO_OWNERS:-100}" \
    >"$scratch/sandbox.json" 2>"$scratch/sandbox.err" </dev/null &
  sandbox_pid=$!
  local tries=0
  until grep -q '}' "$scratch/sandbox.json"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ] || ! kill -0 "$sandbox_pid" 2>/dev/null; then
      echo "demo: the sample API did not start:" >&2
      cat "$scratch/sandbox.err" >&2
      exit 1
    fi
    sleep 0.1
  done
  url="$(sed -n 's/.*"url": "\(.*\)".*/\1/p' "$scratch/sandbox.json")"
}

# A ledger's day: assets change hands, some are minted, some are burnt.
let_a_day_pass() {
  node -e 'fetch(process.argv[1] + "/_sandbox/tick", { method: "POST", body: JSON.stringify({ n: 1 }) })
    .then((answer) => { if (!answer.ok) throw new Error("tick: HTTP " + answer.status); })' "$url"
}

# The Parquet files of the tables that have rows, from their manifests.
list_parquet() {
  node -e '
    const { readFileSync } = require("node:fs");
    const [lake, ...manifests] = process.argv.slice(1);
    for (const path of manifests) {
      const { files, rows } = JSON.parse(readFileSync(path, "utf8"));
      if (rows === 0) continue;
      for (const file of files)
        console.log(`${file.rows.toLocaleString("en")} rows`.padStart(12), `${file.bytes.toLocaleString("en")} bytes`.padStart(16), " " + lake + file.path);
    }' "$data/lake/" "$data"/lake/_manifests/*.json
}

rm -rf "$data"
# Nothing of this machine's own set-up takes part.
unset "${!LEDGERLAKE_@}"

say 'A sample API: a generated ledger on this machine'
start_sandbox
export LEDGERLAKE_RPC_URL="$url" LEDGERLAKE_API_KEY=sandbox
note "LEDGERLAKE_RPC_URL=$LEDGERLAKE_RPC_URL"

say 'What to crawl: the files in jobs/'
for job in jobs/*.yaml; do printf '%-34s %s\n' "$job" "$(sed -n 's/^describe: //p' "$job")"; done

say 'The first night: everything is new'
ledgerlake run

say 'A day passes on the ledger, then the second night'
let_a_day_pass
ledgerlake run

say 'What the second night changed'
sql "select r.run_id, count(a.id) as assets_new_or_changed, count(a.id) filter (a.first_seen_slot = a.changed_slot) as new from meta.runs r left join assets a using (run_id) group by all order by r.run_id"
sql "select left(id, 12) || '…' as id, name, left(owner, 12) || '…' as owner, changed_slot from assets where run_id = (select max(run_id) from meta.runs) and first_seen_slot < changed_slot order by changed_slot desc, id limit 5"

say 'Ask the snapshot anything'
sql "select collection, count(*) as assets, count(distinct owner) as owners, count(*) filter (compressed) as compressed from assets group by all order by assets desc"
sql "select trait_type, value, count(*) as assets from asset_attributes group by all order by assets desc, value limit 5"
sql "select max(amount) as largest_balance, max(amount) > 9007199254740992 as beyond_double from token_accounts"

say 'How far every job is, and what it cost'
ledgerlake status

say "Parquet for others: $data/lake/<table>"
list_parquet
note ''
note "$data/lake/_manifests/assets.json begins:"
head -n 14 "$data/lake/_manifests/assets.json"

say 'Yours now'
echo "npx ledgerlake sql --data-dir $data \"select count(*) from assets\""
echo 'README.md says how to point it at a real provider.'
