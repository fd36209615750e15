import type { Followed, ProjectOptions } from './project.ts';

/** `ledgerlake.yaml` of a new project: everything commented out, because the defaults are good. Pure. */
export function configText({ followed: { wallets }, isSample }: ProjectOptions): string {
  const sample = isSample
    ? '# The sample API inside the program answers until a URL is set.\nsample: true\n\n'
    : '';
  const wallet = wallets.length > 0 ? '' : '# ';
  return `# yaml-language-server: $schema=./config.schema.json
# Configuration of ledgerlake. Every key is optional; \`ledgerlake doctor\` shows what applies.
# Never write the API key here: set LEDGERLAKE_API_KEY in the environment, or in .env (see .env.example).

${sample}api:
  # Where the API answers. LEDGERLAKE_RPC_URL and LEDGERLAKE_WALLET_URL win.
  # rpc_url: https://rpc.example.com
  # wallet_url: https://wallet.example.com

  # Where the provider wants the key: query, query:<name>, header:<name>, bearer or path.
  # auth: { rpc: query, wallet: "header:x-api-key" }

  # Requests a second that your plan allows. Without a setting, a run finds the limit, which takes a while.
  limits:
    # das: { rps: 10 }
    # compression: { rps: 10 }
    ${wallet}wallet: { rps: 2 }

  # A run stops before the month costs more than this; a later run continues.
  # monthly_credits: 500000
  # billing_day: 1

warehouse:
  # Memory of DuckDB. Raise it for tables of tens of millions of rows.
  # memory_limit: 1GB
  # Days that raw answers are kept; a corrected mapping is applied to them without a request.
  # keep_raw_days: 30

lake:
  # Where the Parquet goes (default: lake/ in the data folder), and which tables (default: all).
  # uri: /srv/lake
  # tables: [assets, token_accounts]
  # partition_by: { assets: [collection] }

# Several environments: the differences of each. Choose one with --env or LEDGERLAKE_ENV.
# environments:
#   prod: { api: { rpc_url: https://rpc.example.com, limits: { das: { rps: 50 } } } }
#   dev: { api: { rpc_url: https://devnet.example.com } }
`;
}

/** `.env.example`, to be copied. Pure. */
export function envExampleText({ wallets }: Followed): string {
  const wallet = wallets.length > 0 ? '' : '# ';
  return `# cp -n .env.example .env && chmod 600 .env, then fill it in. The environment wins over .env.
LEDGERLAKE_RPC_URL=https://rpc.example.com
${wallet}LEDGERLAKE_WALLET_URL=https://wallet.example.com
# One of the two:
LEDGERLAKE_API_KEY=
# LEDGERLAKE_API_KEY_FILE=/run/secrets/ledgerlake-key
# Where the wallet interface has a key of its own:
# LEDGERLAKE_WALLET_API_KEY=
`;
}

/** Files of a project that git must not have. */
export const gitignoreText = `data/
*.log
.env
.env.*
!.env.example
`;
