import { reply, startServer } from '../support/local-server.ts';
import { openCannedPlace, type Workplace } from './night.ts';

/** What a wallet endpoint answers. @param endpoint `balances`, `history`, … @param query its parameters */
export type WalletAnswer = (endpoint: string, query: URLSearchParams) => unknown;

/** A workplace whose wallet interface answers as the test says; both are gone when the test ends. */
export async function openWalletPlace(
  answer: WalletAnswer,
  files: Record<string, string>,
): Promise<Workplace> {
  const api = await startServer(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    reply(response, 200, answer(pathname.split('/').at(-1) ?? '', searchParams));
  });
  const config = `api: {wallet_url: '${api.url}', limits: {wallet: {rps: 5000, burst: 200}}}\nlake: {tables: [webhooks]}\n`;
  return openCannedPlace(() => 'null', { 'ledgerlake.yaml': config, ...files });
}
