-- view: asset_files
-- grain: one row an element of assets.files; position counts from 0, in the order given
create or replace view asset_files as
select
  id,
  generate_subscripts(files, 1) - 1 as position,
  unnest(files, recursive := true)
from assets;
