-- All that the text of a refused record calls an id: its own, and those of what it has in it; one NULL when there is none.
create or replace temp macro mentioned_keys(raw) as
coalesce(
  nullif(regexp_extract_all(raw, '"(?:id|address|signature)" *: *"([^"]+)"', 1), []),
  [null]
);

-- The id that the text of a refused record mentions; NULL when it mentions none.
create or replace temp macro mentioned_key(raw) as mentioned_keys(raw)[1];

-- How far apart two answers have to be before they count as two.
create or replace temp macro apart() as interval 2 hours;

-- Whether the second of two answers that there is nothing bears the first one out: hours later, and at a later slot where the
-- source has slots. One outage, or one replica that is wrong, gives many such answers within minutes, or at one slot.
create or replace temp macro bears_out(first_at, first_slot, second_at, second_slot) as
second_at >= first_at + apart() and coalesce(second_slot > first_slot, true);

-- For how long what was closed counts beside what would be closed now: nights that small budgets cut, and their repetition.
create or replace temp macro window_of_closed() as interval 3 days;
