-- view: current_token_accounts
-- grain: one row a token account that a target which a job has now should show
-- Rows that nothing looks at any more, as those of former owners, stay in `token_accounts` as they were last seen.
create or replace view current_token_accounts as
select *
from token_accounts
where followed is not false;
comment on view current_token_accounts is 'Token accounts that something still looks at: owners and mints that were dropped leave theirs as they were last seen. The columns are those of token_accounts.';
