-- view: asset_groupings
-- grain: one row an element of assets.grouping; position counts from 0, in the order given
create or replace view asset_groupings as
select
  id,
  generate_subscripts(grouping, 1) - 1 as position,
  unnest(grouping, recursive := true)
from assets;
