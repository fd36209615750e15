-- Deletes the counts of rows that earlier crawls closed: of lists, once a later one of the target is in; of look-ups, after some days,
-- or once somebody has accepted them.
-- Table `accepted_finding`: src/publish/guards.ts
delete from meta.closed
where (not by_look_up and exists (
    from ready as r
    where r.mode = 'full' and r.job = meta.closed.job and r.target = meta.closed.target and r.range_name = meta.closed.range
  ))
  or (by_look_up and job in (select for_job from accepted_finding where guard = 'vanished'))
  or closed_at < (select max(finished_at) from ready) - window_of_closed();
