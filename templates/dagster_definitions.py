"""ledgerlake as a Dagster asset: dagster dev -f schedule/dagster_definitions.py"""

import json
import subprocess

import dagster

PROGRAM = {{json:program}}
FOLDER = {{json:folder}}


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
