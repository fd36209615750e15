-- view: asset_authorities
-- grain: one row an element of assets.authorities; position counts from 0, in the order given
create or replace view asset_authorities as
select
  id,
  generate_subscripts(authorities, 1) - 1 as position,
  unnest(authorities, recursive := true)
from assets;
