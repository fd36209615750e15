import { createDraw, type Draw } from '../../support/random.ts';
import { JsonText, RawReply, startScriptedApi } from '../../support/scripted-api.ts';
import type { Ledger } from './ledger.ts';
import { answer, type Manner, type Params } from './ledger-answers.ts';

/** What an API does to its callers for a while. Shares of requests. */
export interface Weather {
  /** The ledger changes before the answer. */
  moves: number;
  /** The answer comes from a replica that is behind. */
  lags: number;
  /** 503 instead of an answer. */
  fails: number;
}

export const calm: Weather = { moves: 0, lags: 0, fails: 0 };

export function isCalm({ moves, lags, fails }: Weather): boolean {
  return moves + lags + fails === 0;
}

/** One answer with records. */
export interface Answered {
  method: string;
  params: Params;
  /** Whether it came from a replica that is behind. */
  behind: boolean;
}

/** The API of one ledger, on loopback. */
export interface LedgerServer {
  url: string;
  /** Oldest first. */
  readonly answered: readonly Answered[];
  /** Requests so far, also those that failed. */
  requests(): number;
  /** A command begins: until it ends, this is the weather. */
  beginNight(weather: Weather): void;
  close(): Promise<void>;
}

export async function startLedgerServer(ledger: Ledger, manner: Manner, seed: number): Promise<LedgerServer> {
  const draw = createDraw(seed);
  const answered: Answered[] = [];
  let weather = calm;
  let requests = 0;
  let night = 0;
  const api = await startScriptedApi({ sendsDate: false });
  api.setScript(({ operation, params }) => {
    requests += 1;
    if (draw.chance(weather.fails)) return new RawReply('busy', 503, 'text/plain');
    if (draw.chance(weather.moves)) ledger.change(draw, draw.between(1, 2));
    const state = drawState(draw, ledger, weather);
    const result = answer(operation, params, { state, manner, night });
    answered.push({ method: operation, params, behind: state.slot < ledger.now().slot });
    return new JsonText(result);
  });
  return {
    url: api.url,
    answered,
    requests: () => requests,
    beginNight(now) {
      weather = now;
      night += 1;
    },
    close: api.close,
  };
}

/** The newest state, or that of a replica that is some slots behind. */
function drawState(draw: Draw, ledger: Ledger, { lags }: Weather) {
  const newest = ledger.now();
  if (!draw.chance(lags)) return newest;
  return ledger.at(newest.slot - draw.pick([1, 3, 40]));
}
