-- Segments that have left the archive: neither a rebuild nor a reload looks for them.
-- $there: segments that the archive or the landing log has, as texts; $last: the newest segment that ever left the archive
delete from meta.segments
where settled
  and segment <= $last
  and segment::varchar not in (select unnest($there::varchar[]))
