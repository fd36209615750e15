import { quoteForShell } from '../shell-words.ts';
import type { ProjectFile, ProjectOptions, Schedule } from './project.ts';

type ScheduleOptions = Pick<ProjectOptions, 'folder' | 'program' | 'version'>;

/** Files that start a run every night at 02:30 and stop it after five hours; the next run continues. Pure. */
export function scheduleFiles(schedule: Schedule, options: ScheduleOptions): ProjectFile[] {
  return writers[schedule](options);
}

/** For cron, which takes a bare `%` for the end of the line. */
function cronWords(words: readonly string[]): string {
  return words.map(quoteForShell).join(' ').replaceAll('%', '\\%');
}

/** For systemd: `%` begins a specifier, `$` a variable. */
function systemdWord(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./-]+$/.test(word) ? escaped : JSON.stringify(escaped);
}

/** For a shell. */
function shellLine(words: readonly string[]): string {
  return words.map(quoteForShell).join(' ');
}

const writers: Record<Schedule, (options: ScheduleOptions) => ProjectFile[]> = {
  cron: ({ folder, program }) => [
    {
      path: 'schedule/crontab',
      text: `# Add these lines to your crontab: crontab -e. Exit 75 means: stopped as asked; the next night continues.
30 2 * * * cd ${cronWords([folder])} && { ${cronWords(program)} run --until 5h || test $? -eq 75; } >> ledgerlake.log 2>&1
# Exits with 5 when something is stale or refused; cron mails the output.
0 9 * * * cd ${cronWords([folder])} && ${cronWords(program)} check --max-age 26h
`,
    },
  ],
  systemd: ({ folder, program }) => [
    {
      path: 'schedule/ledgerlake.service',
      text: `# sudo cp schedule/ledgerlake.* /etc/systemd/system/ && sudo systemctl enable --now ledgerlake.timer
[Unit]
Description=ledgerlake: crawl, load, publish, export
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
# The user that owns the folder.
User=ledgerlake
WorkingDirectory=${folder.replaceAll('%', '%%')}
ExecStart=${program.map(systemdWord).join(' ')} run --until 5h --no-progress
# Stopped as asked: the next night continues.
SuccessExitStatus=75
`,
    },
    {
      path: 'schedule/ledgerlake.timer',
      text: `[Unit]
Description=ledgerlake every night

[Timer]
OnCalendar=*-*-* 02:30:00
Persistent=true

[Install]
WantedBy=timers.target
`,
    },
  ],
  github: ({ version }) => [
    {
      path: '.github/workflows/ledgerlake.yml',
      text: `# The cache keeps the data folder between runs. A large one needs a machine of its own.
name: ledgerlake
on:
  schedule:
    - cron: "30 2 * * *"
  workflow_dispatch:
concurrency: ledgerlake
jobs:
  run:
    runs-on: ubuntu-latest
    timeout-minutes: 330
    env:
      LEDGERLAKE_RPC_URL: \${{ vars.LEDGERLAKE_RPC_URL }}
      LEDGERLAKE_WALLET_URL: \${{ vars.LEDGERLAKE_WALLET_URL }}
      LEDGERLAKE_API_KEY: \${{ secrets.LEDGERLAKE_API_KEY }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: "20" }
      - uses: actions/cache@v4
        with:
          path: data
          key: ledgerlake-\${{ github.run_id }}
          restore-keys: ledgerlake-
      - run: npm install --global ledgerlake@${version}
      # 75: stopped as asked; the next night continues.
      - run: ledgerlake run --until 5h || test $? -eq 75
      - run: ledgerlake check --max-age 26h
`,
    },
  ],
  kubernetes: ({ version }) => [
    {
      path: 'schedule/kubernetes.yaml',
      text: `# kubectl create secret generic ledgerlake --from-literal=key=…
# kubectl create configmap ledgerlake-config --from-file=ledgerlake.yaml
# kubectl create configmap ledgerlake-jobs --from-file=jobs/
# kubectl create configmap ledgerlake-targets --from-file=jobs/targets/
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ledgerlake-data }
spec:
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 50Gi } }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: ledgerlake }
spec:
  schedule: "30 2 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 }
          containers:
            - name: ledgerlake
              # Your image with ledgerlake ${version} on its PATH.
              image: registry.example.com/ledgerlake:${version}
              workingDir: /ledgerlake
              # 75: stopped as asked; the next night continues.
              command: ["sh", "-c", "ledgerlake run --until 5h || test $? -eq 75"]
              env:
                - { name: LEDGERLAKE_RPC_URL, value: "https://rpc.example.com" }
                - { name: LEDGERLAKE_API_KEY_FILE, value: /secret/key }
              volumeMounts:
                - { name: data, mountPath: /ledgerlake/data }
                - { name: config, mountPath: /ledgerlake/ledgerlake.yaml, subPath: ledgerlake.yaml }
                - { name: jobs, mountPath: /ledgerlake/jobs }
                - { name: targets, mountPath: /ledgerlake/jobs/targets }
                - { name: key, mountPath: /secret, readOnly: true }
          volumes:
            - { name: data, persistentVolumeClaim: { claimName: ledgerlake-data } }
            - { name: config, configMap: { name: ledgerlake-config } }
            - { name: jobs, configMap: { name: ledgerlake-jobs } }
            - { name: targets, configMap: { name: ledgerlake-targets } }
            - { name: key, secret: { secretName: ledgerlake } }
`,
    },
  ],
  airflow: ({ folder, program }) => [
    {
      path: 'schedule/airflow_dag.py',
      text: `"""ledgerlake every night. Copy it into the dags folder of Airflow 2.4 or newer, on the machine that has the project."""

import datetime

from airflow import DAG
from airflow.operators.bash import BashOperator

with DAG(
    dag_id="ledgerlake",
    schedule="30 2 * * *",
    start_date=datetime.datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
) as dag:
    run = BashOperator(
        task_id="run",
        # 75: stopped as asked; the next night continues.
        bash_command=${JSON.stringify(`${shellLine(program)} run --until 5h --no-progress || test $? -eq 75`)},
        cwd=${JSON.stringify(folder)},
    )
    check = BashOperator(
        task_id="check",
        bash_command=${JSON.stringify(`${shellLine(program)} check --max-age 26h`)},
        cwd=${JSON.stringify(folder)},
    )
    run >> check
`,
    },
  ],
  dagster: ({ folder, program }) => [
    {
      path: 'schedule/dagster_definitions.py',
      text: `"""ledgerlake as a Dagster asset: dagster dev -f schedule/dagster_definitions.py"""

import json
import subprocess

import dagster

PROGRAM = ${JSON.stringify(program)}
FOLDER = ${JSON.stringify(folder)}


@dagster.asset
def ledgerlake_snapshot(context: dagster.AssetExecutionContext) -> dagster.MaterializeResult:
    done = subprocess.run(
        [*PROGRAM, "run", "--until", "5h", "--json"], cwd=FOLDER, stdout=subprocess.PIPE, text=True
    )
    # 75: stopped as asked; the next night continues.
    if done.returncode not in (0, 75):
        raise dagster.Failure(f"ledgerlake ended with {done.returncode}")
    report = json.loads(done.stdout)
    return dagster.MaterializeResult(
        metadata={"requests": report["requests"], "credits": report["credits"]}
    )


night = dagster.ScheduleDefinition(
    job=dagster.define_asset_job("ledgerlake_night", [ledgerlake_snapshot]), cron_schedule="30 2 * * *"
)
definitions = dagster.Definitions(assets=[ledgerlake_snapshot], schedules=[night])
`,
    },
  ],
};
