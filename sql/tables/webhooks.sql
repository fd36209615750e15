-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: webhooks
-- grain: one row a webhook (webhook_id)
-- holds: Webhooks that were enabled or disabled with ledgerlake, as last answered. The value of their authHeader is never kept.
-- shapes: webhook
-- key: webhook_id
-- publish: merge
-- slots: none
-- usable: r.webhookID <> ''
-- unusable: 'no usable webhookID'
webhook_id varchar key = lower(r.webhookID) -- Id of the webhook, a UUIDv4 in lower case.
wallet varchar nonempty <- wallet -- Address of the key owner that made it.
webhook_url varchar nonempty steady <- webhookURL -- URL the deliveries are posted to.
transaction_types varchar[] any unordered <- transactionTypes -- Types that trigger a delivery (enhanced webhooks only); ANY is all of them.
account_addresses varchar[] any unordered <- accountAddresses -- Addresses that are watched.
webhook_type varchar steady <- webhookType -- enhanced, raw, discord, or one of those for the devnet.
has_auth_header boolean = coalesce(as_boolean(r.has_auth_header), false) -- Whether deliveries carry an authorization value; the value itself is a secret and dropped.
active boolean <- active -- Whether deliveries are sent.
extra json
