import { ApiError, BrokenAnswer, TooBigAnswer } from '../api/api-errors.ts';
import { OPEN_OBJECT } from '../landing/json-scanner.ts';
import { maxEnvelopeBytes, maxPageRecords } from '../landing/page-line.ts';
import { type SplitPage, splitPage } from '../landing/split.ts';
import type { Operation } from '../operations/operation.ts';
import { type CrawlDeps, SlotAhead, type TaskStart } from './crawl-task.ts';
import { isNull, noData, type PageAnswer, type ReceivedPage, receivePage } from './page.ts';

/** A page to request, and what lands it. */
export interface PageRequest<T> {
  /** The parameters that choose the page, as sent, and the most records they request. Called for each attempt. */
  choose(): { where: Record<string, unknown>; count: number };
  /** A page of `count` records timed out. */
  onTimeout?(count: number): void;
  /**
   * Lands the page while its request still holds its slot in the pool; what it throws ends the request.
   * @param settle to be called with the doubt in the page before anything of it lands
   */
  land(page: ReceivedPage, settle: SettleDoubt): Promise<T>;
}

/**
 * Why an answer may be wrong.
 * - `behind`: it comes from a replica that is behind, where that matters
 * - `disorder`: a feed's slots do not descend
 * - `empty`: it has no record, where records are likely
 * - `early`: a feed ends above what is covered
 * - `no_cursor`: the list most likely continues, and the answer does not say where
 * - `unchanged`: it equals the last complete crawl's first page, but no other answer of the run confirms the slot, or one is newer
 */
export type Doubt = 'behind' | 'disorder' | 'empty' | 'early' | 'no_cursor' | 'unchanged';

/**
 * Requests in a row, all raising the same doubt, after which a page is believed. Lagging replicas catch up in time. For the
 * end of a list a second look that agrees is enough, because every list that does end there pays for each look.
 */
const requestsInDoubt: Readonly<Record<Doubt, number>> = {
  behind: 3,
  disorder: 3,
  empty: 2,
  early: 2,
  no_cursor: 2,
  unchanged: 2,
};

/** @throws DoubtfulPage where the page is to be requested again */
export type SettleDoubt = (doubt: Doubt | null) => void;

/** The page may be wrong: it is requested again, and nothing of it lands. */
class DoubtfulPage extends Error {
  readonly doubt: Doubt;

  constructor(doubt: Doubt) {
    super(`the page is in doubt: ${doubt}`);
    this.doubt = doubt;
  }
}

/** Attempts at one size that time out before less is requested: a gateway's 504 may pass once. */
const attemptsAtOneSize = 2;

/** Most requests for one page in doubt, whatever the doubts; and most in a row for a page whose slot is too far ahead. */
export const maxRequestsOfPage = 3;

/** Base of the wait before a page is requested again: an index lags two or three seconds, replicas less. */
const requestAgainMs = 600;

/**
 * Requests one page until it lands, and returns what `land` returns. The client retries requests without an answer; this
 * function repeats those whose answer is in doubt.
 * @throws SlotAhead when the page's slot cannot be right, however often it is requested
 */
export async function requestPage<T>(start: TaskStart, deps: CrawlDeps, request: PageRequest<T>): Promise<T> {
  const { sleep, random } = deps.timing;
  const doubts: Doubt[] = [];
  let ahead = 0;
  const settle = (doubt: Doubt | null) => {
    if (doubt !== null && isRequestedAgain(doubt, doubts)) throw new DoubtfulPage(doubt);
  };
  for (;;) {
    try {
      return await requestOnce(start, deps, request, settle);
    } catch (error) {
      if (error instanceof DoubtfulPage) {
        doubts.push(error.doubt);
        ahead = 0;
      } else if (error instanceof SlotAhead && ahead + 1 < maxRequestsOfPage) ahead += 1;
      else throw error;
      await sleep(requestAgainMs * (ahead || doubts.length) * (0.5 + random() / 2));
    }
  }
}

/** @param before the doubts in the answers before, in order */
function isRequestedAgain(doubt: Doubt, before: readonly Doubt[]): boolean {
  const sameInRow = before.length - 1 - before.findLastIndex((one) => one !== doubt);
  return before.length + 1 < maxRequestsOfPage && sameInRow + 1 < requestsInDoubt[doubt];
}

/** Sends one request of the client, asks for less after timeouts, and lands the answer. */
async function requestOnce<T>(
  { task }: TaskStart,
  deps: CrawlDeps,
  { choose, onTimeout, land }: PageRequest<T>,
  settle: SettleDoubt,
): Promise<T> {
  const { operation } = task;
  const size = { count: 0, attempts: 0 };
  const params = () => {
    const { where, count } = choose();
    size.attempts = count === size.count ? size.attempts + 1 : 1;
    size.count = count;
    return { ...task.params, ...where };
  };
  // A probe gives up after one attempt, because all others wait for it.
  const givesUp = (isProbe: boolean) => {
    if (size.count <= 1 || !(isProbe || size.attempts >= attemptsAtOneSize)) return false;
    onTimeout?.(size.count);
    return true;
  };
  const landAnswer = (answer: PageAnswer, receivedAt: Date) => {
    const page = { ...answer, receivedAt, slotCeiling: deps.slots.at(receivedAt.getTime()) };
    believeSlot(page, deps.slots, operation.transport);
    return land(page, settle);
  };
  let landed: T | undefined;
  try {
    await deps.client.send(operation, params, (body) => splitAnswer(body, operation), {
      requester: task.job,
      givesUp,
      store: async (page, receivedAt) => {
        landed = await landAnswer(receivePage(operation, page), receivedAt);
      },
    });
  } catch (error) {
    // "Nothing under this id" is an answer: it lands as an empty page, so it is not requested again in this round.
    if (!isNoData(error)) throw error;
    // Of many ids it may be true of one only, so they are requested in parts.
    if (operation.transport === 'rpc' && operation.paging === 'batch' && size.count > 1) throw error;
    landed = await landAnswer(noData, new Date(deps.client.clock.correct(Date.now())));
  }
  return landed as T;
}

/** Records the page's slot as seen. @throws SlotAhead for a slot that cannot be right */
function believeSlot(
  { slot, slotCeiling, receivedAt }: ReceivedPage,
  slots: CrawlDeps['slots'],
  from: Operation['transport'],
): void {
  if (slot === null) return;
  if (slot > slotCeiling) throw new SlotAhead(slot, slotCeiling);
  slots.saw(slot, receivedAt.getTime(), from);
}

/** Whether the API answered that there is nothing under the requested ids. */
export function isNoData(error: unknown): boolean {
  return error instanceof ApiError && error.kind === 'no_data';
}

/** @throws MalformedPage for what has to be requested again; TooBigAnswer for what no page line can hold */
function splitAnswer(body: Buffer, operation: Operation): SplitPage {
  const page = splitPage(body, operation.records);
  refuseOtherForm(page, operation);
  if (page.records.length > maxPageRecords)
    throw new TooBigAnswer(
      `the answer has ${page.records.length} records, at most ${maxPageRecords} are taken`,
    );
  const envelopeBytes = Buffer.byteLength(JSON.stringify(page.envelopeText));
  if (envelopeBytes > maxEnvelopeBytes)
    throw new TooBigAnswer(
      `the answer has ${inMegabytes(envelopeBytes)} MB beside its records, at most ${inMegabytes(maxEnvelopeBytes)} MB are taken`,
    );
  return page;
}

/** @throws BrokenAnswer where the one record is something else than an object */
function refuseOtherForm(
  { records: [record] }: SplitPage,
  { records: { form }, mayBeUnknown }: Operation,
): void {
  if (form !== 'single' || record === undefined || (mayBeUnknown && isNull(record))) return;
  if (record.bytes[0] !== OPEN_OBJECT) throw new BrokenAnswer('the answer has no record where it belongs');
}

function inMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
