-- view: asset_attributes
-- grain: one row an element of assets.attributes; position counts from 0, in the order given
create or replace view asset_attributes as
select
  id,
  generate_subscripts(attributes, 1) - 1 as position,
  unnest(attributes, recursive := true)
from assets;
