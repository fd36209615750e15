-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: wallet_balances
-- grain: one row a wallet and mint (wallet, mint)
-- holds: What wallets hold of each token, as last seen. Amounts and values are floats; exact amounts are in token_accounts.
-- shapes: wallet_balance
-- key: wallet, mint
-- publish: merge
-- history: yes
-- slots: none
-- usable: is_address(wallet) and is_address(r.mint)
-- unusable: 'no usable mint'
wallet varchar key = params ->> '$.wallet' -- Address of the wallet, base58.
mint varchar key <- mint -- Mint of the token; the ledger's own token has one too.
symbol varchar <- symbol -- Symbol of the token.
name varchar <- name -- Name of the token.
balance double steady required <- balance -- Amount in whole tokens, a float: not exact. Several entries of the mint in one answer are summed; extra.summed has them as given.
decimals integer steady <- decimals -- Decimal places of the smallest unit.
price_per_token double volatile <- pricePerToken -- Price in US dollars, up to 600 s old; only the top 10,000 tokens by 24-hour volume have one. Changes in place.
usd_value double volatile <- usdValue -- balance at that price: up to 600 s old, top 10,000 tokens only. Changes in place.
logo_uri varchar nonempty <- logoUri -- URI of the token's logo.
token_program varchar nonempty <- tokenProgram -- Program that owns the token accounts.
extra json -- Fields of the answer that have no column, and `summed`; changes in place without history.
record_hash -- Hash of the row without prices and extra; moves only when the row changes.
