-- What a token account's keys say. They live only in the loader's connection.

create or replace temp macro token_account_members() as
  '{"address": null, "mint": null, "owner": null, "amount": null, "delegated_amount": null, "frozen": null,
    "burnt": null, "delegate": null, "close_authority": null, "extensions": null, "last_indexed_slot": null}';

-- `record` is a token account, or one of the same form. False when it has members that no column takes.
create or replace temp macro is_known_token_account(record) as
  list_has_all(json_keys(token_account_members()), json_keys(record));
