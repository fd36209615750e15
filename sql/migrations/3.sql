-- Version 3: which mapping made the rows. Of those that are there it is not known: taken for the one that is here now.
select 1;
