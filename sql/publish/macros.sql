-- All that the text of a refused record calls an id: its own, and those of what it has in it; one NULL when there is none.
create or replace temp macro mentioned_keys(raw) as
coalesce(
  nullif(regexp_extract_all(raw, '"(?:id|address|signature)" *: *"([^"]+)"', 1), []),
  [null]
);

-- The id that the text of a refused record mentions; NULL when it mentions none.
create or replace temp macro mentioned_key(raw) as mentioned_keys(raw)[1];
