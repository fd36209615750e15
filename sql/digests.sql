-- The digests of a page's line, 16 bytes a record in base64 (src/landing/record-digests.ts), in order.
create or replace temp macro digest_list(digests) as
regexp_extract_all(hex(from_base64(digests)), '.{32}')::uuid[];
