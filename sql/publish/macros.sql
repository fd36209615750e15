-- The id that the text of a refused record mentions; NULL when it mentions none.
create or replace temp macro mentioned_key(raw) as
nullif(regexp_extract(raw, '"(?:id|address|signature)" *: *"([^"]+)"', 1), '');
