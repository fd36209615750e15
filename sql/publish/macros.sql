-- Every id in the text of a refused record: its own, and those of what it contains; one NULL if there is none.
create or replace temp macro mentioned_keys(raw) as
coalesce(
  nullif(regexp_extract_all(raw, '"(?:id|address|signature)" *: *"([^"]+)"', 1), []),
  [null]
);

-- The first id in the text of a refused record; NULL if there is none.
create or replace temp macro mentioned_key(raw) as mentioned_keys(raw)[1];

-- The least time between two answers that count as two.
create or replace temp macro apart() as interval 2 hours;

-- Whether the second of two answers without a record confirms the first: it comes hours later, and at a later slot if the source has
-- slots. One outage, or one wrong replica, gives many such answers within minutes or at one slot.
create or replace temp macro bears_out(first_at, first_slot, second_at, second_slot) as
second_at >= first_at + apart() and coalesce(second_slot > first_slot, true);

-- How long closed rows count together with those that would be closed now: small budgets cut a night into several.
create or replace temp macro window_of_closed() as interval 3 days;
