-- Macros for whoever queries the snapshot.

-- The difference of two amounts, exactly and signed: subtracting UBIGINTs raises when the result is negative.
create or replace macro delta(a, b) as a::hugeint - b::hugeint;
