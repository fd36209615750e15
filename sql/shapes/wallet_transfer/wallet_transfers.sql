-- shape: wallet_transfer, table: wallet_transfers
-- after: typed
-- guarantees: position is exact also where a page ends in the middle of a signature: the page says how many came before it
-- A transfer that cannot be read has its place too: once it can be, the others stay where they are.
named as (
  select *, nullif(coalesce(r.signature, regexp_extract(raw, '"signature" *: *"([^"]+)"', 1)), '') as of_signature
  from typed
),
placed as (
  select
    *,
    (
      row_number() over (partition by task, crawl, page, of_signature order by n) - 1
      + if(
        of_signature = first_value(of_signature ignore nulls) over (
          partition by task, crawl, page order by n rows between unbounded preceding and unbounded following
        ),
        group_before,
        0
      )
    )::integer as position
  from named
),
