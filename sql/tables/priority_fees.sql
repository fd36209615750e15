-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: priority_fees
-- grain: one row an answer (request_key, seen_at): a time series of each question
-- holds: Priority fees, in micro-lamports a compute unit: a row an answer, rows never change.
-- shapes: priority_fee
-- key: request_key, seen_at
-- publish: append
-- slots: none
-- usable: json_type(record) = 'OBJECT'
-- unusable: 'is no estimate'
request_key varchar key = request_key -- Hash of the parameters: equal ones are one series.
seen_at timestamptz -- When the answer arrived.
request json = params -- The parameters.
account_keys varchar[] = from_json(params -> '$.accountKeys', '["VARCHAR"]') -- Accounts the question names; NULL when it gave a transaction.
estimate double <- priorityFeeEstimate -- The fee for the level asked for; NULL when all levels were.
level_min double <- priorityFeeLevels.min -- Lowest fee paid lately.
level_low double <- priorityFeeLevels.low -- The low level.
level_medium double <- priorityFeeLevels.medium -- The medium level.
level_high double <- priorityFeeLevels.high -- The high level.
level_very_high double <- priorityFeeLevels.veryHigh -- The very high level.
level_unsafe_max double <- priorityFeeLevels.unsafeMax -- Highest fee paid lately: it may be far too much.
extra json
run_id -- Run that received it.
