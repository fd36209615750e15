-- view: current_assets
-- grain: one row an asset that a target which a job has now should show
-- Rows that nothing looks at any more stay in `assets` as they were last seen.
create or replace view current_assets as
select *
from assets
where followed is not false;
comment on view current_assets is 'Assets that something still looks at: lists that were dropped, and collections that nobody follows, leave theirs as they were last seen. The columns are those of assets.';
