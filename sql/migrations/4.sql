-- Version 4: look-ups ask with the display options of the list that missed the row.

-- Which options those were is not known of rows that wait: the next crawl of their list queues them again.
drop table if exists meta.absent;
