-- shape: compressed_token_account, table: compressed_accounts (the `account` of each record)
-- after: record
-- rows: usable
-- The others are told by compressed_token_accounts.
account as (
  select * replace (record -> '$.account' as record)
  from record
),
