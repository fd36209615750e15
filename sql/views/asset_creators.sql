-- view: asset_creators
-- grain: one row an element of assets.creators; position counts from 0, in the order given
create or replace view asset_creators as
select
  id,
  generate_subscripts(creators, 1) - 1 as position,
  unnest(creators, recursive := true)
from assets;
