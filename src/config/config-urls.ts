import { isLoopback } from '../api/http.ts';

/** Base URLs of the interfaces: the variable and the field of the config file. */
export const urls = {
  rpcUrl: { variable: 'LEDGERLAKE_RPC_URL', field: 'rpc_url' },
  walletUrl: { variable: 'LEDGERLAKE_WALLET_URL', field: 'wallet_url' },
  webhookUrl: { variable: 'LEDGERLAKE_WEBHOOK_URL', field: 'webhook_url' },
} as const;

export type UrlName = keyof typeof urls;

/** What is wrong with an endpoint; null when nothing is, or when it is empty. The URL is not repeated: it may hold a key. */
export function urlFault(text: string): { what: string; remedy: string } | null {
  if (text === '') return null;
  if (!URL.canParse(text))
    return { what: 'is not a URL', remedy: 'write something like https://api.example.com' };
  const url = new URL(text);
  if (url.username || url.password || url.search || url.hash) {
    return {
      what: 'carries a query or credentials',
      remedy: 'keep only scheme, host and path; the key belongs in LEDGERLAKE_API_KEY',
    };
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.origin))) return null;
  return { what: 'is not https', remedy: 'use https://, plain http is for this machine only' };
}
