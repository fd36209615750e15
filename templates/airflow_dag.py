"""ledgerlake every night. Copy it into the dags folder of Airflow 2.4 or newer, on the machine that has the project."""

import datetime

try:  # Airflow 3
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.sdk import DAG
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.operators.bash import BashOperator

PROGRAM = {{shell:program}}
FOLDER = {{json:folder}}

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
        bash_command=PROGRAM + " run --until 5h --no-progress || test $? -eq 75",
        cwd=FOLDER,
    )
    check = BashOperator(
        task_id="check",
        bash_command=PROGRAM + " check --max-age 26h",
        cwd=FOLDER,
    )
    run >> check
